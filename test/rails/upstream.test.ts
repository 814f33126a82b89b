import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { keyId } from '../../src/core/secret-box.ts';
import { runConformance } from '../../src/rails/conformance/run.ts';
import type { RailTrial } from '../../src/rails/conformance/trial.ts';
import type { RailOrder } from '../../src/rails/rail.ts';
import type { RailAccount } from '../../src/rails/rail-parts.ts';
import { upstreamModule } from '../../src/rails/upstream/upstream-module.ts';
import { openConnections } from '../../src/server/gateway.ts';
import { usdToEur } from '../setup/acts.ts';
import { untilRows, uuidIn } from '../setup/gateway.ts';
import { makeDue } from '../setup/passing-time.ts';
import { usAccount } from '../setup/scene.ts';
import { slowAmount } from './returning-rail.ts';
import { testTwoGateways } from './two-gateways.ts';
import { ownUpstreamProxy, type UpstreamProxy } from './upstream-proxy.ts';

/** A PRODUCTION platform whose rail is a second instance of this service. */

const two = await testTwoGateways({ pollMs: 10 });
const { upstream, gateway, key } = two;
const shop = await two.connected('production');
/** The platform and its upstream account. */
const { platform, account, held } = shop;
const scene = await platform.makeScene(0n);
const rail = two.rail(platform);

const receive = (amount: bigint) => platform.bringIn(scene, amount);
const both = () => shop.both(scene.usd);

test('received money is pulled into the upstream account and credited to the customer in the gateway', async () => {
  const { USD: before } = await held();
  await receive(50_000n);
  expect(await platform.balanceOf(scene.usd)).toBe(50_000n);
  expect((await held()).USD).toBe(before + 50_000n);
});

test("a payment is made from the upstream account, with its order's id as the idempotency key", async () => {
  await receive(3_000n);
  const before = await both();
  const id = await platform.payOut(scene, 3_000n);
  expect(await both()).toEqual({
    here: before.here - 3_000n,
    there: { ...before.there, USD: before.there.USD - 3_000n },
  });
  const [orderId = ''] = await two.ordersOf(id);
  const sent = "select from idempotency_record where operation = 'transferOut' and key = $1";
  expect((await upstream.owner.query(sent, [orderId])).rowCount).toBe(1);
  // An operator can look up an order. It is found upstream by its memo, and no payment is made.
  const order: RailOrder = {
    ...{ id: orderId, step: 'SETTLEMENT', kind: 'PAYOUT', amount: 3_000n, currency: 'USD', settled: false },
    ...{ account: { type: 'US_ACCOUNT', identifier: '', details: {} }, umaAddress: undefined },
    ...{ ageMs: 60_000, attempts: 1, scenario: null },
  };
  expect(await rail.findOrder?.(order)).toMatchObject({ kind: 'settled', amount: 3_000n });
  expect(await rail.findOrder?.({ ...order, id: randomUUID() })).toBe(undefined);
});

test('payees with the same account number at two banks have two upstream accounts, and each is paid at its own bank', async () => {
  await receive(5_000n);
  const paidAt = async (routingNumber: string) => {
    const details = usAccount('5550006000', routingNumber);
    const payee = await platform.externalAccount(scene.customerId, 'USD', details);
    await platform.payOut({ ...scene, outsideUsd: payee }, 1_000n);
    const { transactions } = await account.ask(`{ transactions(first: 1) { edges { node { destination {
      ... on AccountDestination { account { ... on ExternalAccount { accountInfo { ... on UsAccountInfo { routingNumber } } } } } } } } } }`);
    return transactions.edges[0].node.destination.account.accountInfo.routingNumber;
  };
  expect(await paidAt('021000021')).toBe('021000021');
  expect(await paidAt('026009593')).toBe('026009593');
});

test('an account registered by two customers in different formats is a single upstream account', async () => {
  const register = async (sortCode: string) => {
    const gbpAccount = { sortCode, accountNumber: '12345678' };
    return platform.externalAccount(await platform.newCustomer(), 'GBP', { gbpAccount });
  };
  const [one, other] = [await register('20-00-00'), await register('200000')];
  expect(one).not.toBe(other);
  const { rows } = await upstream.owner.query("select from account where account_type = 'GBP_ACCOUNT'");
  expect(rows).toHaveLength(1);
});

test('a conversion of pulled money uses the upstream rate and is paid from the account in the target currency', async () => {
  const { EUR: before } = await held();
  const made = await platform.quote(usdToEur(scene, { source: { account: { accountId: scene.outsideUsd } } }));
  const rates = '{ exchangeRates(source: "USD", destinations: ["EUR"]) { rate } }';
  expect((await platform.ask(rates)).exchangeRates).toEqual((await account.ask(rates)).exchangeRates);
  await platform.execute(made.id);
  expect(await platform.ended(made.transaction.id)).toMatchObject({ status: 'COMPLETED' });
  expect((await held()).EUR).toBe(before - BigInt(made.totalReceivingAmount.amount));
});

test('a payment that fails in the upstream service fails in the gateway too, and its funds are returned in both', async () => {
  const failing = await platform.makeScene(0n, '003');
  await receive(1_000n);
  const before = await both();
  const { id } = await platform.transfer('transferOut', { ...scene, outsideUsd: failing.outsideUsd }, 1_000n);
  const end = await platform.ended(id);
  expect(end).toMatchObject({ status: 'FAILED' });
  expect(JSON.stringify(end)).toContain('FAILED at the upstream service');
  expect(await both()).toEqual(before);
});

test("a payment that exceeds the upstream account's balance fails, and its funds are returned", async () => {
  await receive(5_000n);
  const before = await platform.balanceOf(scene.usd);
  // Empties the upstream account, as its owner could.
  const { USD: all } = await held();
  const own = await account.ownAccount('USD');
  const there = { ...scene, usd: own, outsideUsd: await two.accountThere(account, scene.outsideUsd) };
  await account.payOut(there, all);
  const { id } = await platform.transfer('transferOut', scene, 5_000n);
  const end = await platform.ended(id);
  expect(end).toMatchObject({ status: 'FAILED' });
  expect(JSON.stringify(end)).toContain('INSUFFICIENT_BALANCE');
  expect(await platform.balanceOf(scene.usd)).toBe(before);
  await account.fund(own, all);
});

/** Returns an account as a rail receives it. */
async function railAccount(id: string): Promise<RailAccount> {
  const text = 'select account_type as type, identifier, account_info as details from account where id = $1';
  return (await gateway.owner.query(text, [uuidIn(id)])).rows[0];
}

test('a settled order that the upstream service no longer has is not sent again: its outcome is unknown', async () => {
  await account.fund(await account.ownAccount('USD'), 10_000n);
  const before = await held();
  // Simulates restoring the upstream database to a time before this order.
  const order = {
    ...({ id: randomUUID(), step: 'SETTLEMENT', amount: 2_000n, currency: 'USD', umaAddress: undefined } as const),
    ...{ account: await railAccount(scene.outsideUsd), settled: true },
    ...{ ageMs: 60_000, attempts: 2, scenario: null },
  };
  const contradiction = { kind: 'contradiction', explanation: 'the upstream service no longer has this payment' };
  expect(await rail.payOut?.({ ...order, kind: 'PAYOUT' })).toEqual(contradiction);
  expect(await rail.collect?.({ ...order, kind: 'COLLECTION' })).toEqual(contradiction);
  expect(await held()).toEqual(before);
});

test("a customer's identity is checked upstream", async () => {
  const statusOf = async (name: string) =>
    (await platform.fieldsOf('customer', await platform.newCustomer(name), 'kycStatus')).kycStatus;
  expect([await statusOf('Person Ä'), await statusOf('Person 002')]).toEqual(['APPROVED', 'REJECTED']);
});

test("an account that upstream refuses is refused here, with upstream's reason", async () => {
  const refused = platform.externalAccount(scene.customerId, 'USD', usAccount('90909105'));
  await expect(refused).rejects.toThrow(/INVALID_BANK_ACCOUNT: .*suffix 105/);
});

test('credentials can be rotated without interruption; while they are wrong, payments wait instead of failing', async () => {
  await receive(2_000n);
  expect(await rail.checkConnection?.()).toMatch(/EUR \d+/);
  await shop.connect({ clientId: 'nobody', secret: 'wrong' });
  await expect(rail.checkConnection?.()).rejects.toThrow(/^upstream answered 401 \w+ to GET/);
  const away = { code: 'SERVICE_UNAVAILABLE', message: 'the rail does not respond; try again' };
  expect(await platform.act('createQuote', usdToEur(scene))).toMatchObject(away);
  const { id } = await platform.transfer('transferOut', scene, 2_000n);
  const tried = 'select from rail_order where attempts = 1 and due_at > clock_timestamp() and transaction_id = $1';
  await untilRows(gateway, [{}], tried, uuidIn(id));
  expect((await platform.transactionOf(id)).status).toBe('PENDING');
  await shop.connect({});
  await makeDue(gateway);
  expect(await platform.ended(id)).toMatchObject({ status: 'COMPLETED' });
});

async function upstreamTrial(proxy: UpstreamProxy): Promise<RailTrial> {
  const { payments } = gateway.gateway;
  const stored = openConnections(payments.database, { SECRET_KEY: key, SECRET_KEY_FALLBACKS: [] });
  const connection = {
    ...JSON.parse((await stored.read(platform.platformId)) ?? ''),
    baseUrl: proxy.baseUrl,
  };
  const failing = await platform.makeScene(0n, '003');
  const [good, bad] = [await railAccount(scene.outsideUsd), await railAccount(failing.outsideUsd)];
  return {
    async open() {
      const connections = { read: async () => JSON.stringify(connection) };
      const host = { environment: 'PRODUCTION', log: payments.log, connections } as const;
      const opened = await upstreamModule.open({ pollMs: 10 }, host);
      return { ...opened.forPlatform?.(platform.platformId), name: 'upstream', close: async () => opened.close?.() };
    },
    order: (course) => ({
      amount: course === 'slow' ? slowAmount : 1_234n,
      currency: 'USD',
      account: course === 'refused' ? bad : good,
      umaAddress: undefined,
    }),
    provider: {
      setFault: proxy.setFault,
      async moved(orderId) {
        const { rows } = await upstream.owner.query(
          `select coalesce(sum(case description when $1 then received_amount else -received_amount end), 0)::bigint as moved
           from transaction where description in ($1, $2) and (status in ('PROCESSING', 'COMPLETED') or status = 'PENDING' and quote_id is null)`,
          [`order ${orderId}`, `return of ${orderId}`],
        );
        return BigInt(rows[0].moved);
      },
    },
  };
}

test('the rail passes the conformance suite with the upstream service behind a faulty proxy', async () => {
  await account.fund(await account.ownAccount('USD'), 1_000_000n);
  const proxy = await ownUpstreamProxy(upstream.url);
  const results = await runConformance(await upstreamTrial(proxy), { answerMs: 3_000, outcomeMs: 60_000 });
  expect(results.filter(({ result }) => result !== 'passed')).toMatchObject([
    { result: 'not tried', kind: 'PAYOUT', check: 'reports an order as failed after refunding it' },
  ]);
  expect(results).toHaveLength(20);
});

test('a connection is stored encrypted, and is decrypted with the new key after a rotation', async () => {
  const { database } = gateway.gateway.payments;
  const text = 'select sealed from rail_connection where platform_id = $1';
  const { rows } = await gateway.owner.query(text, [platform.platformId]);
  expect(rows).toHaveLength(1);
  expect(rows[0].sealed.toString('latin1')).not.toContain('baseUrl');
  const newKey = randomBytes(32);
  const both = openConnections(database, { SECRET_KEY: newKey, SECRET_KEY_FALLBACKS: [key] });
  const { rowCount } = await gateway.owner.query('select from rail_connection');
  expect(await both.reencrypt(keyId('SECRET_KEY', key))).toBe(rowCount);
  const alone = openConnections(database, { SECRET_KEY: newKey, SECRET_KEY_FALLBACKS: [] });
  expect(JSON.parse((await alone.read(platform.platformId)) ?? '')).toMatchObject({
    baseUrl: `${upstream.url}/2025-10-13`,
  });
  expect(await alone.reencrypt(keyId('SECRET_KEY', key))).toBe(0);
});
