import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { type RestClient, restClient } from '../setup/rest.ts';
import { restAccount, restScene } from '../setup/rest-scene.ts';

let t: TestGateway;
let rest: RestClient;
beforeAll(async () => {
  t = await startTestGateway();
  rest = await restClient(t.url, t.platform.authorization);
});
afterAll(() => t.stop());

/** A customer made over REST alone, with money in USD, and a way to see what is left of it. */
async function scene(balance = 100_000) {
  const made = await restScene(rest, balance);
  return { ...made, balance: async () => (await restAccount(rest, made.customer.id, 'USD')).balance.amount };
}

/** Waits, by the feed, until a transaction has come to its end; answers its record. */
async function ended(transactionId: string) {
  const stream = t.platform.watch('subscription ($id: ID!) { transactionUpdates(transactionId: $id) { terminal } }', {
    id: transactionId,
  });
  for await (const { data } of stream) if (data.transactionUpdates.terminal) break;
  return rest.ask('GET', `/transactions/${transactionId}`);
}

test('same-currency transfer: PENDING with both amounts and no settlement, then COMPLETED', async () => {
  const { usd, outsideUsd, customer, balance } = await scene();
  const transfer = await rest.ask(
    'POST',
    '/transfer-out',
    { source: { accountId: usd.id }, destination: { accountId: outsideUsd.id }, amount: 12_550 },
    201,
  );
  const amount = { amount: 12_550, currency: { code: 'USD', name: 'US Dollar', symbol: '$', decimals: 2 } };
  expect(transfer).toMatchObject({
    type: 'OUTGOING',
    status: 'PENDING',
    source: { sourceType: 'ACCOUNT', accountId: usd.id, currency: 'USD' },
    destination: { destinationType: 'ACCOUNT', accountId: outsideUsd.id, currency: 'USD' },
    sentAmount: amount,
    receivedAmount: amount,
    customerId: customer.id,
    platformCustomerId: customer.platformCustomerId,
    settledAt: null,
  });
  expect(await balance()).toBe(87_450);
  const done = await ended(transfer.id);
  expect(done).toEqual({ ...transfer, status: 'COMPLETED', settledAt: expect.any(String), updatedAt: done.updatedAt });
});

test('quote and execute: the locked rate holds, the quote is PROCESSING, the transaction completes', async () => {
  const { usd, outsideEur, customer, balance } = await scene();
  const quote = await rest.ask(
    'POST',
    '/quotes',
    {
      source: { sourceType: 'ACCOUNT', accountId: usd.id, customerId: customer.id },
      destination: { destinationType: 'ACCOUNT', accountId: outsideEur.id, currency: 'EUR' },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 10_000,
      description: 'invoice 7',
    },
    201,
  );
  expect(quote).toMatchObject({ status: 'PENDING', totalSendingAmount: 10_000, description: 'invoice 7' });
  expect(quote.paymentInstructions).toBeUndefined();
  const net = (quote.totalSendingAmount - quote.feesIncluded) / quote.exchangeRate;
  expect(Math.abs(net - quote.totalReceivingAmount)).toBeLessThanOrEqual(1);
  expect(await rest.ask('GET', `/quotes/${quote.quoteId}`)).toEqual(quote);
  const listed = await rest.ask('GET', `/quotes?customerId=${customer.id}&status=PENDING`);
  expect(listed).toEqual({ data: [quote], hasMore: false, totalCount: 1 });
  expect(await balance()).toBe(100_000);

  const execute = () => rest.call('POST', `/quotes/${quote.quoteId}/execute`, { key: 'execute' });
  const executed = await execute();
  expect(executed.body).toEqual({ ...quote, status: 'PROCESSING' });
  expect(await balance()).toBe(90_000);
  const done = await ended(quote.transactionId);
  expect(done).toMatchObject({
    status: 'COMPLETED',
    quoteId: quote.quoteId,
    exchangeRate: quote.exchangeRate,
    fees: quote.feesIncluded,
    sentAmount: { amount: 10_000 },
    receivedAmount: { amount: quote.totalReceivingAmount },
    reconciliationInstructions: { reference: expect.any(String) },
  });
  expect(await rest.ask('GET', `/quotes/${quote.quoteId}`)).toMatchObject({ status: 'COMPLETED' });
  // What was answered first stays the answer, whatever has happened since.
  const again = await execute();
  expect({ status: again.status, text: again.text }).toEqual({ status: executed.status, text: executed.text });
  expect(again.headers.get('idempotency-replayed')).toBe('true');
});

test('immediate execution answers 201 with PROCESSING', async () => {
  const { usd, outsideEur, balance } = await scene();
  const quote = await rest.ask(
    'POST',
    '/quotes',
    {
      source: { sourceType: 'ACCOUNT', accountId: usd.id },
      destination: { destinationType: 'ACCOUNT', accountId: outsideEur.id },
      lockedCurrencySide: 'RECEIVING',
      lockedCurrencyAmount: 5_000,
      immediatelyExecute: true,
    },
    201,
  );
  expect(quote).toMatchObject({ status: 'PROCESSING', totalReceivingAmount: 5_000 });
  expect(await balance()).toBe(100_000 - quote.totalSendingAmount);
  expect(await ended(quote.transactionId)).toMatchObject({ status: 'COMPLETED' });
});

test('real-time funding: the quote tells how to pay in, and the simulated deposit runs the payment', async () => {
  const { customer, outsideEur, balance } = await scene(0);
  const quote = await rest.ask(
    'POST',
    '/quotes',
    {
      source: { sourceType: 'REALTIME_FUNDING', customerId: customer.id, currency: 'USD' },
      destination: { destinationType: 'ACCOUNT', accountId: outsideEur.id },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 20_000,
    },
    201,
  );
  expect(quote.source).toEqual({ sourceType: 'REALTIME_FUNDING', customerId: customer.id, currency: 'USD' });
  const [instruction] = quote.paymentInstructions;
  expect(instruction.referenceCode).toBe(instruction.accountOrWalletInfo.reference);
  expect(instruction.accountNumber).toBe(instruction.accountOrWalletInfo.accountNumber);

  const refused = await rest.ask('POST', `/quotes/${quote.quoteId}/execute`, undefined, 400);
  expect(refused).toMatchObject({ code: 'INVALID_INPUT', details: { field: 'quoteId' } });
  const sent = await rest.ask('POST', '/sandbox/send', { quoteId: quote.quoteId, currencyCode: 'USD' });
  expect(sent).toMatchObject({
    id: quote.transactionId,
    status: 'PROCESSING',
    sentAmount: { amount: 20_000 },
    exchangeRate: quote.exchangeRate,
    fees: quote.feesIncluded,
    quoteId: quote.quoteId,
    paymentInstructions: quote.paymentInstructions,
  });
  expect(await ended(quote.transactionId)).toMatchObject({ status: 'COMPLETED' });
  expect(await balance()).toBe(0);
  const again = await rest.ask('POST', '/sandbox/send', { quoteId: quote.quoteId, currencyCode: 'USD' }, 409);
  expect(again.code).toBe('CONFLICT');
});

test('transfer-in credits the internal account when it is collected', async () => {
  const { usd, outsideUsd, balance } = await scene(0);
  const transfer = await rest.ask(
    'POST',
    '/transfer-in',
    { source: { accountId: outsideUsd.id }, destination: { accountId: usd.id }, amount: 7_000 },
    201,
  );
  expect(transfer).toMatchObject({ type: 'INCOMING', status: 'PENDING', receivedAmount: { amount: 7_000 } });
  expect(await ended(transfer.id)).toMatchObject({ status: 'COMPLETED' });
  expect(await balance()).toBe(7_000);
});

test('a failed payment tells why, and where the money went', async () => {
  const { customer, usd, balance } = await scene();
  const closed = await rest.ask(
    'POST',
    '/customers/external-accounts',
    {
      currency: 'USD',
      customerId: customer.id,
      accountInfo: {
        accountType: 'US_ACCOUNT',
        accountNumber: '99887766003',
        routingNumber: '021000021',
        accountCategory: 'SAVINGS',
        beneficiary: { beneficiaryType: 'BUSINESS', legalName: 'Acme' },
      },
    },
    201,
  );
  const transfer = await rest.ask(
    'POST',
    '/transfer-out',
    { source: { accountId: usd.id }, destination: { accountId: closed.id }, amount: 100 },
    201,
  );
  expect(await ended(transfer.id)).toMatchObject({
    status: 'FAILED',
    failureReason: 'QUOTE_EXECUTION_FAILED',
    refund: { reference: expect.any(String), initiatedAt: expect.any(String), settledAt: expect.any(String) },
  });
  expect(await balance()).toBe(100_000);
});
