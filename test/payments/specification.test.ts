import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { act, actOn, ended, execute, lookUp, quote, umaQuote } from '../setup/acts.ts';
import { mutationDocument } from '../setup/documents.ts';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';
import { makeScene } from '../setup/scene.ts';

/** Sentences of the specification that no other test is about, by their sections. docs/coverage.md has the rest. */

const address = '$success.usd@sandbox.uma.money';

let t: TestGateway;
beforeAll(async () => {
  t = await startTestGateway();
});
afterAll(() => t.stop());

/** The ids that a list of the platform has under a filter. */
async function found(list: 'quotes' | 'transactions', filter: object): Promise<string[]> {
  const type = list === 'quotes' ? 'QuoteFilter' : 'TransactionFilter';
  const data = await t.platform.ask(`query ($filter: ${type}) { ${list}(filter: $filter) { edges { node { id } } } }`, {
    filter,
  });
  return data[list].edges.map((edge: Data) => edge.node.id);
}

describe('section 2', () => {
  test('2.3 a new quote is PENDING for five minutes, with fees, rate details and its one transaction', async () => {
    const scene = await makeScene(t.platform);
    const { quote: made } = await act(
      t.platform,
      'createQuote',
      {
        source: { account: { accountId: scene.usd } },
        destination: { account: { accountId: scene.outsideEur } },
        lockedCurrencySide: 'SENDING',
        lockedCurrencyAmount: 10_000,
      },
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
    const { transaction } = await actOn(t.platform, 'transferOut', {
      sourceAccountId: scene.usd,
      destinationAccountId: scene.outsideUsd,
      amount: 12_550,
      description: 'rent',
      sandboxScenario: { delayMs: 200 },
    });
    const read = `query ($id: ID!) { transaction(id: $id) { type status settledAt createdAt updatedAt description
      reconciliationReference customer { id } sentAmount { decimal } receivedAmount { decimal } failureReason refund { reference } } }`;
    const { transaction: open } = await t.platform.ask(read, { id: transaction.id });
    expect(open).toMatchObject({
      type: 'OUTGOING',
      reconciliationReference: expect.stringMatching(/^PAY-/),
      customer: { id: scene.customerId },
      sentAmount: { decimal: '125.50' },
      receivedAmount: { decimal: '125.50' },
      description: 'rent',
    });
    await ended(t.platform, transaction.id);
    const { transaction: done } = await t.platform.ask(read, { id: transaction.id });
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
  const made = await quote(t.platform, {
    source: { account: { accountId: scene.usd } },
    destination: { account: { accountId: scene.outsideEur } },
    lockedCurrencyAmount: 10_000,
    sandboxScenario: { failureReason: 'OFFRAMP_FAILED' },
  });
  await execute(t.platform, made.id);
  expect(await ended(t.platform, made.transaction.id)).toMatchObject({ status: 'FAILED' });
  const { quote: after } = await t.platform.ask('query ($id: ID!) { quote(id: $id) { status } }', { id: made.id });
  expect(after.status).toBe('FAILED');
});

test('4.1 a quote without one of its required fields is refused before anything happens', async () => {
  const scene = await makeScene(t.platform);
  const whole = {
    source: { account: { accountId: scene.usd } },
    destination: { account: { accountId: scene.outsideEur } },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 10_000,
  };
  for (const name of Object.keys(whole)) {
    const input = Object.fromEntries(Object.entries(whole).filter(([key]) => key !== name));
    const { errors, data } = await t.platform.send(mutationDocument('createQuote'), { input });
    // The amount has two fields, of which one is required: a mutation says so.
    if (name === 'lockedCurrencyAmount') expect(data.createQuote.path).toEqual(['input', name]);
    else expect(errors?.[0]?.message).toContain(name);
  }
  expect(await found('quotes', { customerId: scene.customerId })).toEqual([]);
});

test('4.2 and 4.4 quotes and transactions are found by the UMA address that they pay to', async () => {
  const scene = await makeScene(t.platform);
  const made = await umaQuote(t.platform, scene.usd, address);
  const { customerId } = scene;
  expect(await found('quotes', { customerId, receivingUmaAddress: address.toUpperCase() })).toEqual([made.id]);
  expect(await found('quotes', { customerId, receivingUmaAddress: '$success.eur@sandbox.uma.money' })).toEqual([]);
  const { id } = made.transaction;
  expect(await found('transactions', { customerId, receiverAccountIdentifier: address })).toEqual([id]);
  expect(await found('transactions', { customerId, receiverAccountIdentifier: '$other@sandbox.uma.money' })).toEqual(
    [],
  );
});

test('4.10 the platform’s own external accounts are answered whole, by currency, without a page', async () => {
  const rest = await restClient(t.url, (await t.newPlatform('owner')).authorization);
  const own = await rest.ask(
    'POST',
    '/platform/external-accounts',
    {
      currency: 'USD',
      accountInfo: {
        accountType: 'US_ACCOUNT',
        accountNumber: '4440001',
        routingNumber: '021000021',
        accountCategory: 'CHECKING',
        beneficiary: { beneficiaryType: 'BUSINESS', legalName: 'Engines Ltd' },
      },
    },
    201,
  );
  expect(own.customerId).toBeNull();
  expect(await rest.ask('GET', '/platform/external-accounts?currency=USD')).toEqual({ data: [own] });
  expect(await rest.ask('GET', '/platform/external-accounts?currency=EUR')).toEqual({ data: [] });
});

test('4.11 a deleted customer is listed only where deleted ones are asked for', async () => {
  const { customerId } = await makeScene(t.platform, 0n);
  await act(t.platform, 'deleteCustomer', { customerId }, 'customer { isDeleted }');
  const listed = async (isIncludingDeleted?: boolean): Promise<Data[]> => {
    const { customers } = await t.platform.ask(
      'query ($filter: CustomerFilter) { customers(first: 100, filter: $filter) { edges { node { id isDeleted } } } }',
      { filter: { isIncludingDeleted } },
    );
    return customers.edges.map((edge: Data) => edge.node).filter((node: Data) => node.id === customerId);
  };
  expect(await listed()).toEqual([]);
  expect(await listed(false)).toEqual([]);
  expect(await listed(true)).toEqual([{ id: customerId, isDeleted: true }]);
});

test('6 OUTGOING_PAYMENT events of a UMA payment go on until it has ended', async () => {
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
  expect(timeline.map((event: Data) => event.status)).toEqual(['PENDING', 'PROCESSING', 'COMPLETED']);
  expect(events.edges.map((edge: Data) => edge.node.cursor)).toEqual(timeline.map((event: Data) => event.cursor));
});
