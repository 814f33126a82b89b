import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { reconcileDueDays } from '../../src/domain/reconciliation/reconciliation.ts';
import { moving } from '../setup/acts.ts';
import type { Data } from '../setup/gateway.ts';
import { runOps, typeIn } from '../setup/ops.ts';
import { credentialsIn, testTwoGateways } from './two-gateways.ts';

// Compares a platform's ledger with its provider's, on demand and once a day. The provider is a second instance.

const two = await testTwoGateways({ pollMs: 10 });
const { upstream, gateway, spoil } = two;
const { account, platform: books } = await two.connected('books', 0n);
const printed: string[] = [];
await connectWith(credentialsIn(account.authorization));
const scene = await books.makeScene(0n);

async function ops(...args: string[]) {
  const result = await runOps(gateway.databaseUrl, ['--json', ...args], two.environment);
  printed.push(result.out, result.err);
  return result;
}
async function answer(...args: string[]): Promise<Data> {
  const { code, out, err } = await ops(...args);
  expect({ args, code, err }).toEqual({ args, code: 0, err: '' });
  return JSON.parse(out);
}
const by = ['--by', 'Ada', '--reason', 'the bank statement says so'];

async function connectWith(credentials: object): Promise<void> {
  typeIn(JSON.stringify({ baseUrl: `${upstream.url}/2025-10-13`, ...credentials }));
  await answer('rails', 'connect', 'books');
}

const hourMs = 3_600_000;
const from = new Date(Date.now() - hourMs).toISOString();
const to = new Date(Date.now() + hourMs).toISOString();
async function compare(): Promise<Data[]> {
  const { code, out } = await ops('rails', 'reconcile', 'books', '--from', from, '--to', to, ...by);
  const { differences } = JSON.parse(out);
  expect(code).toBe(differences.length > 0 ? 1 : 0);
  return differences;
}
const open = (): Promise<Data[]> => answer('reconcile', 'list');
const faults = (differences: readonly Data[]) => differences.map(({ fault }) => fault);
/** Runs today's comparison as if the day were over. */
const compareToday = () => reconcileDueDays(gateway.gateway.payments, -24);

test('a difference in balances shows both sides, and is reported until it is closed', async () => {
  await account.fund(await account.ownAccount('USD'), 10_000_000n);
  await books.bringIn(scene, 50_000n);
  await books.payOut(scene, 300n);
  const sides = { fault: 'OTHER_BALANCE', here: '497.00 USD in the books', there: '100497.00 USD held' };
  expect(await compare()).toMatchObject([sides]);
  expect(await compare()).toMatchObject([sides]);
  const [found, ...more] = await open();
  expect(more).toEqual([]);
  expect(found).toMatchObject({ ...sides, platform: 'books', times: 2 });

  expect(await answer('reconcile', 'close', found.difference, ...by)).toEqual({ closed: found.difference });
  expect((await ops('reconcile', 'close', found.difference, ...by)).out).toContain('is no longer open');
  expect(await answer('acts', '--subject', found.difference)).toMatchObject([
    { act: 'reconcile close', by: 'Ada', before: { fault: 'OTHER_BALANCE', there: sides.there } },
  ]);
  expect(await compare()).toEqual([]);
  await books.payOut(scene, 200n);
  expect(await compare()).toEqual([]);
  expect(await open()).toEqual([]);

  // This amount must exceed what was moved within the last minute, because recent movements may count on one side only.
  await account.fund(await account.ownAccount('USD'), 10_000_000n);
  const again = { fault: 'OTHER_BALANCE', there: '200495.00 USD held' };
  expect(await compare()).toMatchObject([again]);
  const [other] = await open();
  expect(await answer('reconcile', 'close', other.difference, ...by)).toEqual({ closed: other.difference });
});

test('money moved at the provider outside the gateway is found daily until the difference is gone or closed', async () => {
  const there = await two.accountThere(account, scene.outsideUsd);
  const taken = await account.actOn('transferOut', moving(await account.ownAccount('USD'), there, 900_000n));
  expect(await account.ended(taken.transaction.id)).toMatchObject({ status: 'COMPLETED' });
  const before = await books.balanceOf(scene.usd);
  expect(await compareToday()).toBe(1);
  expect(await compareToday()).toBe(0);
  const found = await open();
  expect(found).toMatchObject([
    { fault: 'MISSING_HERE', here: null, there: 'SETTLED 9000.00 USD', reference: taken.transaction.id, times: 1 },
    { fault: 'OTHER_BALANCE', there: '191495.00 USD held', times: 1 },
  ]);
  expect(await books.balanceOf(scene.usd)).toBe(before);

  await pastDay();
  // Only one of several instances runs the comparison.
  expect((await Promise.all([compareToday(), compareToday(), compareToday()])).sort()).toEqual([0, 0, 1]);
  expect((await open()).map(({ times }) => times)).toEqual([2, 2]);

  const always = ['--from', '2020-01-01T00:00:00Z', '--to', '2100-01-01T00:00:00Z'];
  const days = await answer('reconcile', 'days', 'books', ...always);
  const day = days.find((one: Data) => one.from.endsWith('T00:00:00.000Z') && one.currency === 'USD');
  expect(day).toMatchObject({
    ...{ currency: 'USD', receivedHere: '500.00 USD', receivedThere: '500.00 USD', failure: null },
    ...{ paidHere: '5.00 USD', paidThere: '9005.00 USD', booked: '495.00 USD', held: '191495.00 USD' },
  });
  // The money is returned. The balances match again, and a difference that is gone cannot be closed.
  await account.fund(await account.ownAccount('USD'), 900_000n);
  expect(faults(await compare())).toEqual(['MISSING_HERE']);
  expect(faults(await open())).toEqual(['MISSING_HERE']);
  const [missing, balance] = found;
  expect((await ops('reconcile', 'close', balance.difference, ...by)).out).toContain('is no longer open');
  await answer('reconcile', 'close', missing.difference, ...by);
  await pastDay();
  expect(await compareToday()).toBe(0);
  expect(await compare()).toMatchObject([{ fault: 'MISSING_HERE' }]);
  expect(await open()).toEqual([]);
});

/** Moves all comparisons back by a day, as if a day had passed. */
async function pastDay(): Promise<void> {
  await gateway.owner.query(
    "update reconciliation set started_at = started_at - interval '1 day', finished_at = finished_at - interval '1 day'",
  );
}

test('a difference that a later comparison no longer finds counts as gone, and is open again if it recurs', async () => {
  const text = 'update transaction set description = $1 where platform_id = $2 and sent_amount = 300';
  const write = (memo: string | null) => spoil(text, memo, account.platformId);
  const read = 'select description from transaction where platform_id = $1 and sent_amount = 300';
  const { rows } = await upstream.owner.query(read, [account.platformId]);
  await write(null);
  expect(faults(await compare()).sort()).toEqual(['MISSING_HERE', 'MISSING_HERE', 'MISSING_THERE']);
  expect(faults(await open()).sort()).toEqual(['MISSING_HERE', 'MISSING_THERE']);
  await write(rows[0].description);
  await compare();
  expect(await open()).toEqual([]);
  const all = await answer('reconcile', 'list', '--all');
  expect(all.filter(({ fault, goneAt }: Data) => fault !== 'OTHER_BALANCE' && goneAt !== null)).toHaveLength(2);
  await write(null);
  await compare();
  expect(faults(await open()).sort()).toEqual(['MISSING_HERE', 'MISSING_THERE']);
  await write(rows[0].description);
  await compare();
});

test("the gateway's own transfers upstream are not differences; unknown payments that leave the account are", async () => {
  const own = await account.ownAccount('USD');
  await account.fund(own, 10_000n);
  const before = new Set((await compare()).map(({ reference }) => reference));
  const customers = await account.internalAccount(await two.customerThere(scene.customerId), 'USD');
  const failing = await books.makeScene(0n, '003');
  const there = await two.accountThere(account, scene.outsideUsd);
  const refusing = await two.accountThere(account, failing.outsideUsd);
  const leave = async (to: string, description: string, amount: bigint): Promise<string> => {
    const { transaction } = await account.actOn('transferOut', moving(own, to, amount, { description }));
    return (await account.ended(transaction.id)).id;
  };
  const within = async (from: string, to: string, what: string) =>
    account.actOn('transferInternal', moving(from, to, 60n, { description: `${what} ${randomUUID()}` }));
  await within(own, customers, 'funding of');
  await within(customers, own, 'unused of');
  await within(own, customers, 'funding of');
  await within(customers, own, 'deposit');
  await leave(refusing, `order ${randomUUID()}`, 61n);
  const left = await leave(there, `funding of ${randomUUID()}`, 62n);
  const unknown = await leave(there, `order ${randomUUID()}`, 63n);

  const found = (await compare()).filter(({ reference }) => !before.has(reference));
  expect(found.filter(({ fault }) => fault !== 'OTHER_BALANCE')).toMatchObject([
    { fault: 'MISSING_HERE', reference: left, there: 'SETTLED 0.62 USD' },
    { fault: 'MISSING_HERE', reference: unknown, there: 'SETTLED 0.63 USD' },
  ]);
});

test('if the provider cannot be reached, earlier findings are kept, and the reason is recorded', async () => {
  await connectWith({ clientId: 'nobody', secret: 'wrong' });
  const { code, out } = await ops('rails', 'reconcile', 'books', '--from', from, '--to', to, ...by);
  expect({ code, error: JSON.parse(out).error }).toMatchObject({
    code: 1,
    error: expect.stringContaining('upstream answered 401'),
  });
  const days = await answer('reconcile', 'days', 'books', '--from', from, '--to', to);
  expect(days.at(-1)).toMatchObject({
    failure: expect.stringContaining('upstream answered 401'),
    comparedAt: expect.any(String),
  });
  await gateway.owner.query("update reconciliation set finished_at = null, started_at = started_at - interval '1 day'");
  expect(await compareToday()).toBe(0);
  await connectWith(credentialsIn(account.authorization));
  // A failed comparison is repeated only after 15 minutes.
  expect(await compareToday()).toBe(0);
  await pastDay();
  expect(await compareToday()).toBe(1);
  const wrong = await ops('rails', 'reconcile', 'books', '--from', to, '--to', from, ...by);
  expect(wrong.err).toContain('The period must not end before it begins.');
});

test("no command shows a connection's credentials, not even after a failure", async () => {
  const { secret } = credentialsIn(account.authorization);
  expect(secret.length).toBeGreaterThan(20);
  await answer('rails', 'check', 'books');
  await answer('acts');
  await answer('config', 'print');
  const said = printed.join('');
  expect(said).toContain('rails connect');
  expect(said).toContain('upstream answered 401');
  expect(said).not.toContain(secret);
  expect(said).not.toContain(Buffer.from(`nobody:wrong`).toString('base64'));
});
