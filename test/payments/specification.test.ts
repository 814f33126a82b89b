import { describe, expect, test } from 'vitest';
import {
  act,
  between,
  ended,
  execute,
  fieldsOf,
  lookUp,
  quote,
  transfer,
  umaQuote,
  usdToEur,
  went,
} from '../setup/acts.ts';
import { mutationDocument } from '../setup/documents.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';
import { usAccount } from '../setup/rest-scene.ts';
import { makeScene } from '../setup/scene.ts';

/** Sentences of the specification that no other test covers, by section (docs/coverage.md lists the other tests). */

const address = '$success.usd@sandbox.uma.money';

const t = await testGateway();

/** Returns the ids in a list of the platform under a filter. */
async function found(list: 'customers' | 'quotes' | 'transactions', filter: object): Promise<string[]> {
  const type = { customers: 'CustomerFilter', quotes: 'QuoteFilter', transactions: 'TransactionFilter' }[list];
  const query = `query ($filter: ${type}) { ${list}(first: 100, filter: $filter) { edges { node { id } } } }`;
  return (await t.platform.ask(query, { filter }))[list].edges.map((edge: Data) => edge.node.id);
}

describe('section 2', () => {
  test('2.3 a new quote is PENDING for five minutes, with fees, rate details and its one transaction', async () => {
    const scene = await makeScene(t.platform);
    const { quote: made } = await act(
      t.platform,
      'createQuote',
      between(scene.usd, scene.outsideEur, 10_000),
      `quote { id status createdAt expiresAt feesIncluded { amount currency { code } } exchangeRate
        sendingCurrency { code decimals } receivingCurrency { code decimals } paymentInstructions { __typename }
        rateDetails { counterpartyMultiplier counterpartyFixedFee { amount } serviceApiMultiplier
          serviceApiFixedFee { amount } serviceApiVariableFeeRate serviceApiVariableFeeAmount { amount } }
        transaction { id type status quote { id } } }`,
    );
    expect(made).toMatchObject({
      id: expect.stringMatching(/^Quote:[0-9a-f-]{36}$/),
      status: 'PENDING',
      sendingCurrency: { code: 'USD', decimals: 2 },
      receivingCurrency: { code: 'EUR', decimals: 2 },
      feesIncluded: { currency: { code: 'USD' } },
      paymentInstructions: [],
      transaction: { type: 'OUTGOING', status: 'PENDING', quote: { id: made.id } },
    });
    expect(made.transaction.id).toMatch(/^Transaction:[0-9a-f-]{36}$/);
    expect(Date.parse(made.expiresAt) - Date.parse(made.createdAt)).toBe(300_000);
    expect(BigInt(made.feesIncluded.amount)).toBeGreaterThanOrEqual(0n);
    expect(Object.values(made.rateDetails)).not.toContain(null);
  });

  test('2.6 a transaction has its reference and its customer from the start, and settledAt when it is delivered', async () => {
    const scene = await makeScene(t.platform);
    const rest = { description: 'rent', sandboxScenario: { delayMs: 200 } };
    const { id } = await transfer(t.platform, 'transferOut', scene, 12_550, rest);
    const fields = `type status settledAt createdAt updatedAt description reconciliationReference customer { id }
      sentAmount { decimal } receivedAmount { decimal } failureReason refund { reference }`;
    const open = await fieldsOf(t.platform, 'transaction', id, fields);
    expect(open).toMatchObject({
      type: 'OUTGOING',
      reconciliationReference: expect.stringMatching(/^PAY-/),
      customer: { id: scene.customerId },
      sentAmount: { decimal: '125.50' },
      receivedAmount: { decimal: '125.50' },
      description: 'rent',
    });
    await ended(t.platform, id);
    const done = await fieldsOf(t.platform, 'transaction', id, fields);
    expect(done).toEqual({ ...open, status: 'COMPLETED', settledAt: done.updatedAt, updatedAt: done.updatedAt });
    expect(Date.parse(done.settledAt)).toBeGreaterThan(Date.parse(open.createdAt));
  });

  test('2.10 a lookup names its receiver’s institution and the bounds of each currency', async () => {
    const lookup = await lookUp(t.platform, address);
    expect(lookup.vaspName).toEqual(expect.any(String));
    const [{ minAmount, maxAmount }] = lookup.supportedCurrencies;
    expect(BigInt(minAmount.amount)).toBeGreaterThan(0n);
    expect(BigInt(maxAmount.amount)).toBeGreaterThan(BigInt(minAmount.amount));
  });
});

test('3.1 a quote fails with its transaction', async () => {
  const scene = await makeScene(t.platform);
  const made = await quote(t.platform, usdToEur(scene, { sandboxScenario: { failureReason: 'OFFRAMP_FAILED' } }));
  await execute(t.platform, made.id);
  expect(await ended(t.platform, made.transaction.id)).toMatchObject({ status: 'FAILED' });
  expect(await fieldsOf(t.platform, 'quote', made.id, 'status')).toEqual({ status: 'FAILED' });
});

test('4.1 a quote without one of its required fields is refused before anything happens', async () => {
  const scene = await makeScene(t.platform);
  const whole = between(scene.usd, scene.outsideEur, 10_000);
  for (const name of Object.keys(whole)) {
    const input = Object.fromEntries(Object.entries(whole).filter(([key]) => key !== name));
    const { errors } = await t.platform.send(mutationDocument('createQuote'), { input });
    expect(errors?.[0]?.message).toContain(name);
  }
  expect(await found('quotes', { customerId: scene.customerId })).toEqual([]);
});

test('4.2 and 4.4 quotes and transactions are found by the UMA address that they pay', async () => {
  const scene = await makeScene(t.platform);
  const made = await umaQuote(t.platform, scene.usd, address);
  const { customerId } = scene;
  expect(await found('quotes', { customerId, receivingUmaAddress: address.toUpperCase() })).toEqual([made.id]);
  expect(await found('quotes', { customerId, receivingUmaAddress: '$success.eur@sandbox.uma.money' })).toEqual([]);
  const { id } = made.transaction;
  expect(await found('transactions', { customerId, receiverAccountIdentifier: address })).toEqual([id]);
  const other = { customerId, receiverAccountIdentifier: '$other@sandbox.uma.money' };
  expect(await found('transactions', other)).toEqual([]);
});

test('4.10 the platform’s own external accounts are returned completely, by currency, without paging', async () => {
  const rest = await restClient(t.url, (await t.newPlatform('owner')).authorization);
  const own = await rest.make('/platform/external-accounts', { currency: 'USD', accountInfo: usAccount() });
  expect(own.customerId).toBeNull();
  expect(await rest.ask('GET', '/platform/external-accounts?currency=USD')).toEqual({ data: [own] });
  expect(await rest.ask('GET', '/platform/external-accounts?currency=EUR')).toEqual({ data: [] });
});

test('4.11 a deleted customer is listed only on request', async () => {
  const { customerId } = await makeScene(t.platform, 0n);
  await act(t.platform, 'deleteCustomer', { customerId }, 'customer { isDeleted }');
  const isListed = async (isIncludingDeleted?: boolean) =>
    (await found('customers', { isIncludingDeleted })).includes(customerId);
  expect([await isListed(), await isListed(false), await isListed(true)]).toEqual([false, false, true]);
});

test('6 OUTGOING_PAYMENT events of a UMA payment continue until it has ended', async () => {
  const scene = await makeScene(t.platform);
  const made = await umaQuote(t.platform, scene.usd, address);
  await execute(t.platform, made.id);
  const transactionId = made.transaction.id;
  await ended(t.platform, transactionId);
  const { events, transaction } = await t.platform.ask(
    `query ($transactionId: ID!) {
       events(filter: { transactionId: $transactionId, types: [OUTGOING_PAYMENT] }) { edges { node { cursor } } }
       transaction(id: $transactionId) { timeline { cursor status } } }`,
    { transactionId },
  );
  const { timeline } = transaction;
  expect(timeline).toMatchObject(went('PENDING', 'PROCESSING', 'COMPLETED'));
  expect(events.edges.map((edge: Data) => edge.node.cursor)).toEqual(timeline.map((event: Data) => event.cursor));
});
