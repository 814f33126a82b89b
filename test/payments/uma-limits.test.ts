import { expect, test } from 'vitest';
import { maxAmount } from '../../src/core/checks.ts';
import { sender } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';

const t = await testGateway();

test('a quote respects the limits that a receiver lookup states, for each pair of currencies', async () => {
  const other = await t.newPlatform('other');
  const platform = await t.newPlatform('limits');
  const data = { platformId: platform.platformId, sendingCurrency: 'EUR', fixedFee: 9n, variableFeeRate: '0.1' };
  await t.gateway.payments.database.prisma.platformFee.create({ data });
  const scene = await platform.makeScene(0n);
  await platform.succeed('updatePlatform', { currencies: ['EUR'] });
  const inEuros = await platform.newCustomer();
  // External accounts and the accounts of other customers do not affect the limits, because the payer cannot use them.
  await platform.externalAccount(inEuros, 'INR', { upi: { vpa: 'grace@bank' } });
  const receiver = await other.umaAddressOf((await other.makeScene(0n)).customerId);
  const { accounts } = await platform.ask(
    `query ($id: ID!) { accounts(first: 100, filter: { kind: INTERNAL, customerId: $id }) {
      edges { node { id ... on InternalAccount { balance { currency { code } } } } } } }`,
    { id: scene.customerId },
  );
  expect(accounts.edges.length).toBeGreaterThan(3);
  const lookup = await platform.lookUp(receiver, { sender: { customerId: scene.customerId } });
  const quoteFor = (accountId: string, currency: string, lockedCurrencyAmount: bigint, { id: lookupId } = lookup) => {
    const rest = { lookupId, lockedCurrencySide: 'RECEIVING', senderCustomerInfo: sender };
    const destination = { uma: { umaAddress: receiver, currency } };
    return platform.quote({ ...rest, source: { account: { accountId } }, destination, lockedCurrencyAmount });
  };
  const priced = async (...asked: Parameters<typeof quoteFor>): Promise<string> => {
    const answer = await quoteFor(...asked);
    return answer.code ?? answer.status;
  };
  expect(lookup.supportedCurrencies.length).toBeGreaterThanOrEqual(accounts.edges.length);
  for (const { currency, minAmount, maxAmount } of lookup.supportedCurrencies) {
    const [min, max] = [BigInt(minAmount.amount), BigInt(maxAmount.amount)];
    for (const { node } of accounts.edges) {
      expect(
        [await priced(node.id, currency.code, min), await priced(node.id, currency.code, max)],
        `${node.balance.currency.code} to ${currency.code}: ${min} to ${max}`,
      ).toEqual(['PENDING', 'PENDING']);
    }
    const { id } = accounts.edges[0].node;
    expect(await priced(id, currency.code, max + 1n)).toBe('AMOUNT_OUT_OF_RANGE');
    if (min > 1n) expect(await priced(id, currency.code, min - 1n)).toBe('AMOUNT_OUT_OF_RANGE');
  }
  const euros = (one: Data) => one.currency.code === 'EUR';
  expect(BigInt(lookup.supportedCurrencies.find(euros).minAmount.amount)).toBeGreaterThan(1n);
  // If the customer pays from its euro account, the limit is the maximum that can be sent, less the platform's fees.
  const own = await platform.lookUp(receiver, { sender: { customerId: inEuros } });
  const limit = own.supportedCurrencies.find(euros).maxAmount.amount;
  const most = await quoteFor(await platform.internalAccount(inEuros, 'EUR'), 'EUR', limit, own);
  expect(BigInt(most.totalSendingAmount.amount)).toBeGreaterThan(maxAmount - 2n);
});
