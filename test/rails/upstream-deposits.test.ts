import { expect, onTestFinished, test, vi } from 'vitest';
import { depositId } from '../../src/domain/orders/order-ids.ts';
import { moving } from '../setup/acts.ts';
import { instruction } from '../setup/both-apis.ts';
import { type Data, type TestPlatform, untilRows, uuidIn } from '../setup/gateway.ts';
import { runOps } from '../setup/ops.ts';
import { usAccount } from '../setup/scene.ts';
import { testRelay, testTwoGateways } from './two-gateways.ts';
import { ownUpstreamProxy } from './upstream-proxy.ts';

/** Tests deposits: money that arrives upstream without an order, for customers of a platform on this side. */

const two = await testTwoGateways({ pollMs: 10 });
// The relay delivers every webhook twice.
const { shop, relay, passOn, holdBack } = await testRelay(two, 2);
const customer = await shop.platform.newCustomer();
const usd = await shop.platform.internalAccount(customer, 'USD');
/** The upstream accounts of the customer and of the platform itself. */
const there = await accountThere(customer);
const own = await shop.account.ownAccount('USD');
/** A bank account that the platform has registered upstream. The tests send money from it. */
const bank = await shop.account.externalAccount(undefined, 'USD', usAccount('7654321000'));

/** Returns a customer's upstream account in USD. */
async function accountThere(id: string): Promise<string> {
  return shop.account.internalAccount(await two.customerThere(id), 'USD');
}

/** Simulates an incoming bank transfer at the upstream provider. Returns the provider's reference for it. */
async function comeIn(to: string, amount: bigint): Promise<string> {
  const { transaction } = await shop.account.actOn('transferIn', moving(bank, to, amount));
  expect(await shop.account.ended(transaction.id)).toMatchObject({ status: 'COMPLETED' });
  return transaction.id;
}

/** Triggers the next query for deposits, so that the test need not wait a minute. */
async function askNow(): Promise<void> {
  await two.gateway.owner.query('update rail_connection set deposits_due_at = clock_ms()');
}

const depositOf = async (reference: string): Promise<Data> => {
  const { rows } = await two.gateway.owner.query('select * from rail_deposit where reference = $1', [reference]);
  expect(rows.length).toBeLessThan(2);
  return rows[0];
};

const untilStatus = (reference: string, status: string) =>
  vi.waitFor(async () => expect(await depositOf(reference)).toMatchObject({ status }), 20_000);

/** Returns a customer's payments on this side, latest first. */
async function paymentsOf(customerId: string): Promise<Data[]> {
  const fields = 'type status receivedAmount { amount } source { __typename ... on UmaSource { umaAddress } }';
  const list = `transactions { edges { node { ${fields} } } }`;
  const { transactions } = await shop.platform.fieldsOf('customer', customerId, list);
  return transactions.edges.map(({ node }: Data) => node);
}

async function ops(...args: string[]): Promise<Data> {
  const { code, out, err } = await runOps(two.gateway.databaseUrl, ['--json', ...args]);
  return code === 0 ? { code, data: JSON.parse(out) } : { code, err: out + err };
}
const by = ['--by', 'Ada', '--reason', 'the payer has said so'];
const refusedFor = (reason: string) => ({ code: 1, err: expect.stringContaining(reason) });

test("a customer's account has the payment instructions of its upstream account", async () => {
  const ways = async (platform: TestPlatform, id: string) => {
    const read = `... on InternalAccount { fundingPaymentInstructions ${instruction} }`;
    return (await platform.fieldsOf('account', id, read)).fundingPaymentInstructions;
  };
  const here = await ways(shop.platform, usd);
  expect(here.length).toBeGreaterThan(0);
  expect(here).toEqual(await ways(shop.account, there));
});

test('an upstream deposit is credited once, however often its webhook arrives, and can be spent', async () => {
  const held = await shop.account.balanceOf(own);
  const reference = await comeIn(there, 12_345n);
  await untilStatus(reference, 'CREDITED');
  expect(await shop.platform.balanceOf(usd)).toBe(12_345n);
  expect([await shop.account.balanceOf(there), await shop.account.balanceOf(own)]).toEqual([0n, held + 12_345n]);
  await two.gateway.owner.query("update rail_connection set deposits_from = deposits_from - interval '1 hour'");
  await askNow();
  const next = await comeIn(there, 1n);
  await untilStatus(next, 'CREDITED');
  expect(await shop.platform.balanceOf(usd)).toBe(12_346n);
  const credited = { type: 'INCOMING', status: 'COMPLETED', source: { __typename: 'RealtimeFundingSource' } };
  expect(await paymentsOf(customer)).toMatchObject([
    { ...credited, receivedAmount: { amount: '1' } },
    { ...credited, receivedAmount: { amount: '12345' } },
  ]);
});

test('deposits without a webhook are found, including one that stays pending for a while', async () => {
  relay.answer = holdBack;
  const ofCustomer = await shop.account.fieldsOf('account', there, '... on InternalAccount { customer { id } }');
  const umaReceipt = { senderUmaAddress: '$ben@example.org' };
  const announced = await shop.account.announce(ofCustomer.customer.id, 700, umaReceipt);
  const transaction = await shop.account.fieldsOf('transaction', announced.id, 'id createdAt');
  const later = await comeIn(there, 300n);
  await askNow();
  await untilStatus(later, 'CREDITED');
  expect(await depositOf(transaction.id)).toBe(undefined);
  // The next query's period still includes the pending payment.
  await vi.waitFor(async () => {
    const { rows } = await two.gateway.owner.query(
      "select deposits_from from rail_connection where deposits_due_at > clock_timestamp() + interval '10 seconds'",
    );
    expect(rows).toHaveLength(1);
    expect(rows[0].deposits_from.getTime()).toBeLessThanOrEqual(Date.parse(transaction.createdAt));
  }, 20_000);
  const receiverCustomerInfo = [{ name: 'FULL_NAME', value: 'Grace Hopper' }];
  await shop.account.succeed('approveTransaction', { transactionId: transaction.id, receiverCustomerInfo });
  await vi.waitFor(async () => {
    await askNow();
    expect(await depositOf(transaction.id)).toMatchObject({ status: 'CREDITED' });
  }, 20_000);
  const [first] = await paymentsOf(customer);
  expect(first).toMatchObject({ receivedAmount: { amount: '700' }, source: { umaAddress: '$ben@example.org' } });
  relay.answer = passOn;
});

test('a deposit is collected once and credited once, even if the upstream response is lost', async () => {
  relay.answer = holdBack;
  const proxy = await ownUpstreamProxy(two.upstream.url);
  onTestFinished(() => shop.connect({}));
  // An ordinary deposit makes the rail cache the platform's own upstream account.
  const usual = await comeIn(there, 1n);
  await askNow();
  await untilStatus(usual, 'CREDITED');
  const before = await shop.platform.balanceOf(usd);
  const reference = await comeIn(there, 4_000n);
  const held = await shop.account.balanceOf(own);
  await shop.connect({ baseUrl: proxy.baseUrl });
  await proxy.setFault('loses-answers');
  const { platformId } = shop.platform;
  await two.gateway.owner.query(
    `insert into rail_deposit (platform_id, id, reference, held_at, began_at, amount, currency, account_id, status, due_at)
       values ($1, $2, $3, $4, clock_ms(), 4000, 'USD', $5, 'RECEIVED', clock_ms())`,
    [platformId, depositId(platformId, reference), reference, there, uuidIn(usd)],
  );
  await vi.waitFor(async () => expect(await shop.account.balanceOf(own)).toBe(held + 4_000n), 20_000);
  expect(await depositOf(reference)).toMatchObject({ status: 'RECEIVED' });
  await proxy.setFault('none');
  await vi.waitFor(async () => expect((await depositOf(reference)).status).toBe('CREDITED'), 20_000);
  expect(await shop.account.balanceOf(own)).toBe(held + 4_000n);
  expect(await shop.platform.balanceOf(usd)).toBe(before + 4_000n);
  relay.answer = passOn;
});

test('a deposit that cannot be stored does not block other deposits, and is examined again', async () => {
  relay.answer = holdBack;
  const proxy = await ownUpstreamProxy(two.upstream.url);
  onTestFinished(() => shop.connect({}));
  const before = await shop.platform.balanceOf(usd);
  // All the deposits but the last are reported with odd values. Postgres cannot store U+0000 or a lone surrogate.
  const references = [];
  for (const amount of [4_101n, 4_102n, 4_103n, 4_104n, 4_105n]) references.push(await comeIn(there, amount));
  const [memo = '', huge = '', empty = '', foreign = '', good = ''] = references;
  const spoil = (record: Data): Data => {
    switch (record.id) {
      case memo:
        return { ...record, description: 'a\u0000b\ud800c' };
      case huge:
        return { ...record, receivedAmount: { ...record.receivedAmount, amount: 9_000_000_000_000_001 } };
      case empty:
        return { ...record, receivedAmount: { ...record.receivedAmount, amount: 0 } };
      case foreign:
        return { ...record, receivedAmount: { amount: 1, currency: { code: 'XXY' } } };
      default:
        return record;
    }
  };
  proxy.change((text) => {
    const answer = JSON.parse(text);
    return JSON.stringify(Array.isArray(answer.data) ? { ...answer, data: answer.data.map(spoil) } : answer);
  });
  await shop.connect({ baseUrl: proxy.baseUrl });
  await askNow();
  for (const reference of [good, memo]) await untilStatus(reference, 'CREDITED');
  await untilStatus(foreign, 'UNATTRIBUTED');
  const { data: waiting } = await ops('deposits', 'list');
  expect(waiting).toMatchObject([{ amount: '1 of the smallest unit of XXY' }]);
  expect(await ops('deposits', 'close', waiting[0].deposit, ...by)).toMatchObject({ code: 0 });
  expect(await depositOf(memo)).toMatchObject({ memo: 'a\ufffdb\ufffdc' });
  for (const reference of [huge, empty]) expect(await depositOf(reference)).toBeUndefined();
  expect(await shop.platform.balanceOf(usd)).toBe(before + 4_101n + 4_105n);
  // Once the provider reports the two remaining deposits correctly, they are credited as well.
  proxy.change((text) => text);
  await askNow();
  for (const reference of [huge, empty]) await untilStatus(reference, 'CREDITED');
});

test('money collected by orders is not examined repeatedly', async () => {
  const scene = await shop.platform.makeScene(0n);
  await shop.platform.bringIn(scene, 800n);
  const { rows } = await two.upstream.owner.query('select created_at from transaction where received_amount = 800');
  await askNow();
  const from = [{ deposits_from: rows[0].created_at }];
  await untilRows(two.gateway, from, 'select deposits_from from rail_connection');
  expect(await shop.platform.balanceOf(scene.usd)).toBe(800n);
});

test('a deposit that cannot be credited waits for an operator to decide whose it is', async () => {
  const [unnamed, mine] = [await comeIn(own, 500n), await comeIn(own, 600n)];
  const gone = await shop.platform.newCustomer();
  const accountOfGone = await accountThere(gone);
  const usdOfGone = await shop.platform.internalAccount(gone, 'USD');
  await shop.platform.succeed('deleteCustomer', { customerId: gone }, 'customer { id }');
  const late = await comeIn(accountOfGone, 700n);
  await askNow();
  for (const reference of [unnamed, mine, late]) await untilStatus(reference, 'UNATTRIBUTED');
  const before = await shop.platform.balanceOf(usd);
  const decided = async () => (await ops('acts')).data.filter(({ act }: Data) => act.startsWith('deposits '));
  const actsBefore = (await decided()).length;
  const { data: waiting } = await ops('deposits', 'list');
  const row = (reference: string) => waiting.find((one: Data) => one.reference === reference);
  expect([row(unnamed), row(mine), row(late)]).toMatchObject([
    { platform: 'shop', amount: '5.00 USD', reason: 'the provider did not name a customer' },
    { amount: '6.00 USD' },
    { amount: '7.00 USD', reason: 'its customer is deleted' },
  ]);
  const eur = await shop.platform.internalAccount(customer, 'EUR');
  const id = row(unnamed).deposit;
  expect(await ops('deposits', 'credit', id, '--to', eur, ...by)).toMatchObject(
    refusedFor('is in EUR, but the deposit is in USD'),
  );
  expect(await ops('deposits', 'credit', id, '--to', usdOfGone, ...by)).toMatchObject(
    refusedFor(`the customer of ${usdOfGone} is deleted`),
  );
  expect(await ops('deposits', 'credit', id, '--to', usd, ...by)).toMatchObject({ code: 0 });
  expect(await ops('deposits', 'credit', id, '--to', usd, ...by)).toMatchObject(refusedFor('needs no decision'));
  expect(await ops('deposits', 'close', row(mine).deposit, ...by)).toMatchObject({ code: 0 });
  expect(await ops('deposits', 'credit', row(late).deposit, '--to', usd, ...by)).toMatchObject({ code: 0 });
  for (const reference of [unnamed, late]) await untilStatus(reference, 'CREDITED');
  expect(await shop.platform.balanceOf(usd)).toBe(before + 1_200n);
  expect((await ops('deposits', 'list')).data).toEqual([]);
  expect(await decided()).toHaveLength(actsBefore + 3);
});

test('the reconciliation recognizes deposits', async () => {
  expect((await two.compare(shop.platform)).differences).toEqual([]);
});
