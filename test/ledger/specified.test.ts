import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Data, testGateway } from '../setup/gateway.ts';

// Tests that the database implements the lists in the documentation. The expected lists are read from the documents.

const decisions = readFileSync('docs/decisions.md', 'utf8');
const specification = readFileSync('docs/interface-specification.md', 'utf8');

const t = await testGateway({ ROLE: 'serve', SANDBOX_PACE_MS: 600_000 });

async function rows(text: string, values: unknown[] = []): Promise<Data[]> {
  return (await t.owner.query(text, values)).rows;
}

function partOf(paper: string, heading: string): string {
  const [, after = ''] = paper.split(`\n${heading}\n`);
  const [part = ''] = after.split(/\n#{2,3} /);
  expect(part, heading).not.toBe('');
  return part;
}

/** Returns the cells of the table rows, without the header. */
function tableIn(part: string): string[][] {
  const lines = part.split('\n').filter((line) => line.startsWith('|'));
  return lines
    .slice(2)
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()));
}

describe('the table of status changes matches the documents', () => {
  const moves = async (noun: string) =>
    (await rows(`select unnest(status_moves('${noun}')) as move`)).map(({ move }) => move).sort();
  const movesIn = (part: string, to: number) =>
    tableIn(part)
      .filter(([from = '']) => /^[A-Z_]+$/.test(from))
      .map((cells) => `${cells[0]} > ${cells[to]}`);
  const unique = (list: readonly string[]) => [...new Set(list)].sort();

  test("a quote's status changes are exactly those that decision 50 lists", async () => {
    const decided = movesIn(partOf(decisions, '### Decision 50'), 2);
    expect(decided.length).toBeGreaterThan(5);
    expect(await moves('quote')).toEqual(unique(decided));
    expect(unique(decided)).toEqual(expect.arrayContaining(movesIn(partOf(specification, '### 3.1 Quote status'), 3)));
  });

  test("a transaction's status changes are exactly those that decision 57 lists", async () => {
    const decided = movesIn(partOf(decisions, '### Decision 57'), 2);
    expect(decided).toHaveLength(17);
    expect(await moves('transaction')).toEqual(unique(decided));
    const specified = movesIn(partOf(specification, '### 3.2 Transaction status'), 3);
    expect(specified).toHaveLength(2);
    expect(decided).toEqual(expect.arrayContaining(specified));
  });

  test("an external account's status changes are exactly those that decision 42 lists", async () => {
    const sentences = partOf(decisions, '### Decision 42').matchAll(
      /\b([A-Z_]+) becomes ([A-Z_]+(?:(?:, | or )[A-Z_]+)*)/g,
    );
    const decided = [...sentences].flatMap(([, from, to = '']) => to.split(/, | or /).map((one) => `${from} > ${one}`));
    expect(decided).toHaveLength(8);
    expect(await moves('external_account')).toEqual(unique(decided));
  });
});

describe('the outcome stored under an idempotency key', () => {
  /** The codes with which the database functions refuse plans. */
  const codes = new Set(
    globSync('prisma/functions/*/*.sql')
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/'code', '([A-Z_]+)'/g)])
      .map(([, code = '']) => code),
  );
  const statuses = new Map(
    tableIn(partOf(decisions, '### Decision 46')).flatMap(([status = '', names = '']) =>
      [...names.matchAll(/[A-Z_]{5,}/g)].map(([code]) => [code, status] as const),
    ),
  );

  test('follows decision 6 for every refusal by the database', async () => {
    const [, unstored = ''] =
      /Invalid input, ([\dx, ]+ and 5xx) are not\./.exec(partOf(decisions, '### Decision 6')) ?? [];
    expect(unstored).toBe('401, 403, 404 and 5xx');
    expect(codes.size).toBeGreaterThan(9);
    for (const code of codes) {
      // Callers get ACCOUNT_EXISTS and OTHER_VERSION as CONFLICT (decision 37). A call that needs approval is planned
      // again, so callers never get APPROVAL_REQUIRED (decision 109).
      const presented =
        { ACCOUNT_EXISTS: 'CONFLICT', OTHER_VERSION: 'CONFLICT', APPROVAL_REQUIRED: 'FORBIDDEN' }[code] ?? code;
      const status = statuses.get(presented) ?? '';
      expect([code, status]).toEqual([code, expect.stringMatching(/^4\d\d$/)]);
      const claim = { operation: 'test', key: code, hash: 'aa' };
      const plan = { claim, result: { type: 'Quote', id: randomUUID() } };
      await rows('select conclude_plan($1, $2, $3)', [t.platform.platformId, plan, { code }]);
      const text = 'select refusal from idempotency_record where platform_id = $1 and key = $2';
      const stored = await rows(text, [t.platform.platformId, code]);
      expect([code, stored]).toEqual([code, unstored.includes(status) ? [] : [{ refusal: { code } }]]);
    }
  });
});
