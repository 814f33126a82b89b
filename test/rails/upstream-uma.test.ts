import { expect, test, vi } from 'vitest';
import { readBalances } from '../../src/domain/reconciliation/reconciliation.ts';
import { UpstreamClient } from '../../src/rails/upstream/upstream-client.ts';
import { sender } from '../setup/acts.ts';
import { type Data, untilRows, uuidIn } from '../setup/gateway.ts';
import { testTwoGateways } from './two-gateways.ts';

/** Payments to external UMA addresses, whose receivers an upstream service looks up (decision 92). */

const two = await testTwoGateways({ pollMs: 10 });
const shop = await two.connected('shop');
/** The platform's upstream balance before the first payment. */
const opening: Readonly<Record<string, bigint>> = await shop.held();
const scene = await shop.platform.makeScene(0n);
await shop.platform.bringIn(scene, 500_000n);

const both = () => shop.both(scene.usd);

async function executed({ id, transaction }: Data): Promise<Data> {
  await shop.platform.execute(id);
  return shop.platform.ended(transaction.id);
}

/** Expects both ledgers to match, and the upstream account that pays UMA addresses to be empty. */
async function expectReconciled(): Promise<void> {
  expect((await two.compare(shop.platform)).differences).toEqual([]);
  const tenant = { ...shop.platform, environment: 'PRODUCTION' } as const;
  for (const { currency, booked, held: there } of (await readBalances(two.gateway.gateway.payments, tenant)) ?? [])
    expect([currency, (there ?? 0n) - (opening[currency] ?? 0n)]).toEqual([currency, booked]);
  const { rows } = await two.upstream.owner.query(
    'select coalesce(sum(p.amount), 0)::text as sum from account a join posting p on p.account_id = a.id where a.platform_id = $1 and a.customer_id is not null',
    [shop.account.platformId],
  );
  expect(rows).toEqual([{ sum: '0' }]);
}

test('a receiver unknown on this side is looked up upstream, as are the sender details it requires', async () => {
  const umaAddress = '$success.eur@sandbox.uma.money';
  expect(await shop.platform.lookUp(umaAddress, { sender: { customerId: scene.customerId } })).toMatchObject({
    ...{ umaAddress, vaspName: 'Sandbox' },
    supportedCurrencies: [
      {
        ...{ currency: { code: 'EUR' }, estimatedExchangeRate: expect.any(String) },
        ...{ minAmount: { amount: '5' }, maxAmount: { amount: '1000000000' } },
      },
    ],
    requiredPayerFields: ['FULL_NAME', 'BIRTH_DATE'].map((name) => ({ name, mandatory: true })),
  });
  expect(await shop.platform.lookUp('$nobody@sandbox.uma.money')).toMatchObject({ code: 'UMA_NOT_FOUND' });
});

test("a lookup requests rates from upstream twice for each of the sender's currencies, not once per pair", async () => {
  const payee = await shop.account.newCustomer();
  const umaAddress = await shop.account.umaAddressOf(payee);
  using requests = vi.spyOn(UpstreamClient.prototype, 'get');
  const { supportedCurrencies } = await shop.platform.lookUp(umaAddress, { sender: { customerId: scene.customerId } });
  expect(supportedCurrencies).toHaveLength(14);
  expect(requests.mock.calls.filter(([path]) => path === '/exchange-rates')).toHaveLength(2 * 14);
});

test.for([
  { currency: 'EUR', side: 'SENDING', receiver: '$success.eur' },
  { currency: 'USD', side: 'RECEIVING', receiver: '$pending.long.usd' },
] as const)(
  'a quote in $currency that fixes the $side side is locked upstream, and its payment reaches $receiver exactly once',
  async ({ currency, side, receiver }) => {
    const before = await both();
    const address = `${receiver}@sandbox.uma.money`;
    const made = await shop.platform.umaQuote(scene.usd, address, {
      destination: { uma: { umaAddress: address, currency } },
      lockedCurrencySide: side,
    });
    const { there } = await two.quotesOf(made.id);
    expect(there).toMatchObject({
      status: 'PENDING',
      uma_address: address,
      sender_information: Object.fromEntries(sender.map(({ name, value }) => [name, value])),
      platform_customer_id: expect.stringContaining(uuidIn(scene.customerId)),
    });
    expect([made.totalSendingAmount.amount, made.totalReceivingAmount.amount]).toEqual([
      String(there.total_sending_amount),
      String(there.total_receiving_amount),
    ]);
    expect(side === 'SENDING' ? made.totalSendingAmount.amount : made.totalReceivingAmount.amount).toBe('10000');
    await shop.platform.execute(made.id);
    // The order is sent repeatedly until the payment is delivered, as it would be after a crash.
    const repeated = 'select from rail_order where transaction_id = $1 and attempts > 1';
    if (receiver !== '$success.eur') await untilRows(two.gateway, [{}], repeated, uuidIn(made.transaction.id));
    expect(await shop.platform.ended(made.transaction.id)).toMatchObject({ status: 'COMPLETED' });
    const sent = BigInt(there.total_sending_amount);
    expect(await shop.platform.balanceOf(scene.usd)).toBe(before.here - sent);
    expect(await shop.held()).toEqual({ ...before.there, USD: before.there.USD - sent });
    await expectReconciled();
  },
);

test('a payment that its receiver refuses is REJECTED, and its money is returned on both sides', async () => {
  const before = await both();
  const made = await shop.platform.umaQuote(scene.usd, '$fail.compliance.usd@sandbox.uma.money');
  expect(await executed(made)).toMatchObject({ status: 'REJECTED' });
  expect(await both()).toEqual(before);
  await expectReconciled();
});

test('an external address is paid only from an internal account and with the required sender information', async () => {
  const umaAddress = '$success.usd@sandbox.uma.money';
  const { id: lookupId } = await shop.platform.lookUp(umaAddress);
  const input = {
    destination: { uma: { umaAddress, currency: 'USD' } },
    ...{ lookupId, lockedCurrencyAmount: 10_000, senderCustomerInfo: sender },
  };
  const from = (accountId: string, rest?: object) =>
    shop.platform.quote({ ...input, source: { account: { accountId } }, ...rest });
  const message = 'this UMA address can only be paid from an internal account';
  expect(await from(scene.outsideUsd)).toMatchObject({ code: 'INVALID_INPUT', message });
  const code = 'MISSING_MANDATORY_USER_INFO';
  expect(await from(scene.usd, { senderCustomerInfo: [] })).toMatchObject({ code });
});

test('a payment that exceeds the upstream balance fails, and its funds are returned', async () => {
  const own = await shop.account.ownAccount('USD');
  const all = await shop.account.balanceOf(own);
  const outsideUsd = await two.accountThere(shop.account, scene.outsideUsd);
  await shop.account.payOut({ ...scene, usd: own, outsideUsd }, all);
  const before = await shop.platform.balanceOf(scene.usd);
  const made = await shop.platform.umaQuote(scene.usd, '$success.usd@sandbox.uma.money');
  expect(await executed(made)).toMatchObject({ status: 'FAILED' });
  expect(await shop.platform.balanceOf(scene.usd)).toBe(before);
  await shop.account.fund(own, all);
});
