import { globSync, readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { maxAmount, maxBalance } from '../../src/core/checks.ts';
import { terminalQuoteStatuses, terminalTransactionStatuses } from '../../src/domain/settlement/finality.ts';
import { openDatabase } from '../../src/infra/database/database.ts';
import { QuoteStatus, TransactionStatus } from '../../src/infra/database/generated/client/client.ts';
import { testDatabase } from '../setup/database.ts';

/** Tests that constants defined in both TypeScript and SQL agree. */

const { url } = await testDatabase();
const database = openDatabase({ url, role: 'gateway_work' });
afterAll(() => database.close());

async function bodyOf(name: string): Promise<string> {
  return (await database.pool.query('select prosrc from pg_proc where proname = $1', [name])).rows[0].prosrc;
}

test('TypeScript and is_terminal agree on the terminal statuses of a payment', async () => {
  const { rows } = await database.pool.query(
    'select s::text as status from unnest(enum_range(null::transaction_status)) s where is_terminal(s)',
  );
  expect(new Set(rows.map(({ status }) => status))).toEqual(terminalTransactionStatuses);
  expect(Object.values(TransactionStatus).length).toBeGreaterThan(rows.length);
});

test("a quote's terminal statuses are those without a transition to another status, and announce_quote lists the same", async () => {
  const { rows } = await database.pool.query("select split_part(unnest(status_moves('quote')), ' ', 1) as status");
  const moving = new Set(rows.map(({ status }) => status));
  expect(new Set(Object.values(QuoteStatus).filter((status) => !moving.has(status)))).toEqual(terminalQuoteStatuses);
  const lists = [...(await bodyOf('announce_quote')).matchAll(/status in \(([^)]*)\)/g)].map(([, list = '']) => list);
  expect(lists.length).toBeGreaterThan(0);
  for (const list of lists) expect(new Set(list.replaceAll("'", '').split(', '))).toEqual(terminalQuoteStatuses);
});

const bounds = (text: string) =>
  text.match(/\b9[\d_,]{13,}/g)?.map((digits) => BigInt(digits.replaceAll(/[_,]/g, ''))) ?? [];

test('SQL and TypeScript have the same bounds for amounts', async () => {
  const { rows } = await database.pool.query<{ name: string; body: string }>(
    `select proname as name, prosrc as body from pg_proc where pronamespace = 'public'::regnamespace`,
  );
  const stated = rows.flatMap(({ name, body }) => bounds(body).map((bound) => ({ name, bound })));
  // If a balance would exceed a tenth of the bound, check_capacity also counts payments in flight.
  const known = [maxAmount, maxBalance, maxAmount / 10n];
  expect(stated.filter(({ bound }) => !known.includes(bound))).toEqual([]);
  const names = new Set(stated.map(({ name }) => name));
  for (const name of ['is_sound_quote', 'is_sound_transaction', 'check_balances', 'check_capacity'])
    expect(names).toContain(name);
});

test('the bounds for amounts are the same in the schema and the docs, and TypeScript states them once', () => {
  const papers = ['README.md', 'schema.graphql', ...globSync('docs/*.md')];
  const told = papers.flatMap((file) => bounds(readFileSync(file, 'utf8')));
  expect(told.length).toBeGreaterThan(5);
  expect(told.filter((bound) => ![maxAmount, maxBalance].includes(bound))).toEqual([]);
  const sources = globSync('src/**/*.ts', { exclude: (path) => path.includes('generated') });
  const stating = sources.filter((file) =>
    bounds(readFileSync(file, 'utf8')).some((bound) => bound === maxAmount || bound === maxBalance),
  );
  expect(stating).toEqual(['src/core/checks.ts']);
});
