import { expect, test } from 'vitest';
import type { Operation } from '../../src/domain/access/operations.ts';
import { between, fundedIn, moving, sender, usdToEur } from '../setup/acts.ts';
import { type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { chargeFees } from '../setup/scene.ts';

// Dry runs execute a mutation and roll it back. The response shows the result that the mutation would have had.

// Nothing settles while a test compares all rows.
const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const { platform } = t;
const scene = await platform.makeScene(100_000n);
await chargeFees(t, platform);

const validated = `... on ValidatedPayment {
  sentAmount { amount currency { code } } receivedAmount { amount currency { code } } feesIncluded { amount } exchangeRate
  limits { period usedAmount { amount } leftAmount { amount } leftPayments } }`;

/** Runs a mutation as a dry run, and returns its result. */
const dry = (by: TestPlatform, name: Operation, input: object): Promise<Data> =>
  by.act(name, { ...input, validateOnly: true }, '', validated);

/** Returns the row counts and content hashes of the ledger and of the other tables to which a payment writes. */
async function everything(): Promise<unknown> {
  const rows = `count(*)::text, md5(string_agg(r::text, ' ' order by r::text))`;
  const tables = ['transaction', 'quote', 'account', 'journal', 'posting', 'rail_order', 'idempotency_record'];
  const texts = [...tables, 'policy', 'policy_use'].map(
    (table) => `select '${table}' as name, ${rows} from ${table} r`,
  );
  return (await t.owner.query(texts.join(' union all '))).rows;
}

const usd = (amount: string) => ({ amount, currency: { code: 'USD' } });

test('a dry run of any payment returns the price, and changes nothing', async () => {
  const stored = await platform.quote(usdToEur(scene));
  const uma = '$success.usd@sandbox.uma.money';
  const lookupId = (await platform.lookUp(uma)).id;
  const before = await everything();
  const amounts = { sentAmount: usd('500'), receivedAmount: usd('500'), feesIncluded: { amount: '0' } };
  const free = { __typename: 'ValidatedPayment', ...amounts, exchangeRate: null, limits: [] };
  const transfers = {
    transferOut: moving(scene.usd, scene.outsideUsd, 500),
    transferIn: moving(scene.outsideUsd, scene.usd, 500),
    transferInternal: moving(scene.usd, await platform.ownAccount('USD'), 500),
  };
  for (const name of ['transferOut', 'transferIn', 'transferInternal'] as const)
    expect(await dry(platform, name, { ...transfers[name], idempotencyKey: 'dry' })).toEqual(free);
  const price = { __typename: 'ValidatedPayment', sentAmount: usd('1000'), exchangeRate: expect.any(String) };
  for (const answer of [
    await dry(platform, 'createQuote', usdToEur(scene)),
    await dry(platform, 'createQuote', usdToEur(scene, { immediatelyExecute: true })),
    await dry(platform, 'createQuote', fundedIn('USD', scene, 1_000)),
    await dry(platform, 'executeQuote', { quoteId: stored.id }),
  ]) {
    expect(answer).toMatchObject({ ...price, receivedAmount: { currency: { code: 'EUR' } } });
    expect(Number(answer.feesIncluded.amount)).toBeGreaterThanOrEqual(25);
  }
  const destination = { uma: { umaAddress: uma, currency: 'USD' } };
  const rest = { destination, lookupId, senderCustomerInfo: sender, immediatelyExecute: true };
  const toUma = between(scene.usd, '', 10_000, rest);
  expect(await dry(platform, 'createQuote', toUma)).toMatchObject({ sentAmount: usd('10000') });
  expect(await everything()).toEqual(before);
  expect(await platform.balanceOf(scene.usd)).toBe(100_000n);
  // The dry run has not used up its key.
  const used = { ...transfers.transferOut, idempotencyKey: 'dry' };
  await platform.succeed('transferOut', used);
  // Once the key has been used, a dry run returns the same result as repeating the payment.
  expect(await dry(platform, 'transferOut', used)).toMatchObject({ __typename: 'TransferOutSuccess' });
  const other = { ...used, amount: { units: 501 } };
  expect(await dry(platform, 'transferOut', other)).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
});

test('a dry run gets the same refusal as the payment would', async () => {
  const { id: quoteId } = await platform.quote(usdToEur(scene));
  const before = await everything();
  const nobody = 'ExternalAccount:019a0000-0000-7000-8000-000000000000';
  for (const [input, code, ...path] of [
    [moving(scene.usd, scene.outsideUsd, 1_000_000), 'INSUFFICIENT_BALANCE', 'sourceAccountId'],
    [moving(scene.usd, nobody, 1), 'ACCOUNT_NOT_FOUND', 'destinationAccountId'],
    [moving(scene.usd, scene.outsideUsd, 0), 'INVALID_AMOUNT', 'amount', 'units'],
  ] as const)
    expect(await dry(platform, 'transferOut', input)).toMatchObject({ code, path: ['input', ...path] });
  const stale = await dry(platform, 'executeQuote', { quoteId, expectedVersion: 9 });
  expect(stale).toMatchObject({ code: 'CONFLICT', path: ['input', 'expectedVersion'] });
  const reader = await platform.serverOf('VIEW');
  const input = moving(scene.usd, scene.outsideUsd, 1);
  expect(await dry(reader, 'transferOut', input)).toMatchObject({ code: 'FORBIDDEN' });
  expect(await everything()).toEqual(before);
});

test('a dry run states how much the policies would still allow, without using any of it', async () => {
  const me = await platform.serverOf('VIEW', 'TRANSACT');
  const app = await platform.payingApp({ customerId: scene.customerId });
  const limits = [
    { period: 'DAY', currency: 'USD', amount: { units: 2_000 } },
    { period: 'LAST_24_HOURS', payments: 3 },
  ];
  for (const subjectId of [me.tokenId, `Platform:${platform.platformId}`])
    await platform.succeed('setPolicy', { subjectId, limits });
  const before = await everything();
  const input = between(scene.usd, scene.outsideEur, 1_500, { immediatelyExecute: true });
  const expected = [
    { period: 'DAY', usedAmount: { amount: '1500' }, leftAmount: { amount: '500' }, leftPayments: null },
    { period: 'LAST_24_HOURS', usedAmount: null, leftAmount: null, leftPayments: 2 },
  ];
  expect((await dry(me, 'createQuote', input)).limits).toEqual([...expected, ...expected]);
  expect((await dry(me, 'createQuote', input)).limits).toEqual([...expected, ...expected]);
  // Policies do not count a quote before its execution. An app does not see how much its platform has used.
  expect((await dry(me, 'createQuote', usdToEur(scene))).limits).toEqual([]);
  expect(await dry(app, 'createQuote', input)).toMatchObject({ __typename: 'ValidatedPayment', limits: [] });
  const over = await dry(me, 'transferOut', moving(scene.usd, scene.outsideUsd, 2_001));
  expect(over).toMatchObject({ code: 'LIMIT_EXCEEDED' });
  expect(await everything()).toEqual(before);
  await platform.succeed('deletePolicy', { subjectId: `Platform:${platform.platformId}` });
});
