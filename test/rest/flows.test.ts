import { afterAll, expect, test } from 'vitest';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restAccount, restClient, restQuote, restScene, restTransfer } from '../setup/rest.ts';
import { answer, startReceiver, verify } from '../webhooks/receiver.ts';

/** The specification's example flows, run over REST only. The platform's webhook receiver observes each flow. */

const t = await testGateway();
const rest = await restClient(t.url, t.platform.authorization);
// The receiver accepts events, and leaves approvals to the API.
const receiver = await startReceiver(answer(202));
const secret = (await rest.ask('PATCH', '/config', { webhookEndpoint: receiver.url })).webhookSecret;
afterAll(async () => {
  for (const received of receiver.received) expect(verify(secret, received)).toEqual(received.body);
  await receiver.stop();
});

/** Creates a customer with a USD balance over REST. Also returns a function that reads the balance. */
async function scene(balance = 100_000) {
  const made = await restScene(rest, balance);
  return { ...made, balance: async () => (await restAccount(rest, made.customer.id, 'USD')).balance.amount };
}

/** Returns the bodies of the webhooks about a payment or an account, in feed order and without duplicates. */
function toldOf(id: string): Data[] {
  const bodies = receiver.received
    .map(({ body }) => body)
    .filter((body) => [body.transaction?.id, body.accountId].includes(id));
  return [...new Map(bodies.map((body) => [body.sequence, body])).values()].toSorted((a, b) => a.sequence - b.sequence);
}

const ends = ['COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED', 'REFUNDED'];

/**
 * Waits until webhooks report the final status of a payment. Returns the payment's record, and the webhooks' statuses
 * and bodies. The last body contains the record that REST returns.
 */
async function ended(id: string): Promise<{ record: Data; statuses: string[]; bodies: Data[] }> {
  await receiver.until(() => toldOf(id).some(({ transaction }) => ends.includes(transaction.status)));
  const record = await rest.ask('GET', `/transactions/${id}`);
  // Webhooks are sent concurrently, so the last one may arrive before an earlier one.
  await receiver.until(() => {
    const last = toldOf(id).at(-1);
    return last.transaction.updatedAt === record.updatedAt && toldOf(id).length === last.version;
  });
  const bodies = toldOf(id);
  expect(bodies.at(-1).transaction).toEqual(record);
  expect(bodies.map(({ version }) => version)).toEqual(bodies.map((_body, position) => position + 1));
  for (const body of bodies) expect(body.type).toBe(`${record.type}_PAYMENT`);
  return { record, statuses: bodies.map(({ transaction }) => transaction.status), bodies };
}

/** Waits until webhooks have reported at least `count` changes to an account's balance. Returns their amounts. */
async function changes(accountId: string, count: number): Promise<number[]> {
  await receiver.until(() => toldOf(accountId).length >= count);
  return toldOf(accountId).map(({ type, oldBalance, newBalance }) => {
    expect(type).toBe('ACCOUNT_STATUS');
    return newBalance.amount - oldBalance.amount;
  });
}

test('same-currency transfer: PENDING with both amounts and no settlement, then COMPLETED', async () => {
  const { usd, outsideUsd, customer, balance } = await scene();
  const transfer = await rest.make('/transfer-out', restTransfer(usd.id, outsideUsd.id, 12_550));
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
  const { record: done, statuses, bodies } = await ended(transfer.id);
  expect(done).toEqual({ ...transfer, status: 'COMPLETED', settledAt: expect.any(String), updatedAt: done.updatedAt });
  expect(statuses).toEqual(['PENDING', 'COMPLETED']);
  expect(bodies[0].transaction).toEqual(transfer);
  expect(await changes(usd.id, 2)).toEqual([100_000, -12_550]);
});

test('quote and execute: the locked rate applies, the quote is PROCESSING, the transaction completes', async () => {
  const { usd, outsideEur, customer, balance } = await scene();
  const source = { sourceType: 'ACCOUNT', accountId: usd.id, customerId: customer.id };
  const destination = { destinationType: 'ACCOUNT', accountId: outsideEur.id, currency: 'EUR' };
  const given = restQuote('', '', 10_000, { source, destination, description: 'invoice 7' });
  const quote = await rest.make('/quotes', given);
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
  const { record: done, statuses } = await ended(quote.transactionId);
  expect(statuses).toEqual(['PENDING', 'PROCESSING', 'COMPLETED']);
  expect(await changes(usd.id, 2)).toEqual([100_000, -10_000]);
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
  // The original response is returned, whatever has happened since.
  const { status, text } = executed;
  expect(await execute()).toMatchObject({ status, text });
});

test('real-time funding: the quote has payment instructions, and the simulated deposit executes the payment', async () => {
  const { customer, usd, outsideEur, balance } = await scene(0);
  const source = { sourceType: 'REALTIME_FUNDING', customerId: customer.id, currency: 'USD' };
  const quote = await rest.make('/quotes', restQuote('', outsideEur.id, 20_000, { source }));
  expect(quote.source).toEqual(source);
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
  const { statuses, bodies } = await ended(quote.transactionId);
  expect(statuses).toEqual(['PENDING', 'PROCESSING', 'COMPLETED']);
  // Webhooks first report the deposit as a balance change, and then the payment that it funds (specification 6.3).
  expect(await changes(usd.id, 2)).toEqual([20_000, -20_000]);
  expect(toldOf(usd.id)[0].sequence).toBeLessThan(bodies[1].sequence);
  expect(await balance()).toBe(0);
  const again = await rest.ask('POST', '/sandbox/send', { quoteId: quote.quoteId, currencyCode: 'USD' }, 409);
  expect(again.code).toBe('CONFLICT');
});

test('a payment received in another currency shows the payer’s account and its currency', async () => {
  const payer = await scene();
  const receives = await scene(0);
  const immediate = restQuote(payer.usd.id, receives.eur.id, 10_000, { immediatelyExecute: true });
  const quote = await rest.make('/quotes', immediate);
  expect(quote.status).toBe('PROCESSING');
  await ended(quote.transactionId);
  const { data } = await rest.ask('GET', `/transactions?customerId=${receives.customer.id}`);
  expect(data).toHaveLength(1);
  const incoming = {
    type: 'INCOMING',
    status: 'COMPLETED',
    source: { sourceType: 'ACCOUNT', accountId: payer.usd.id, currency: 'USD' },
    destination: { destinationType: 'ACCOUNT', accountId: receives.eur.id, currency: 'EUR' },
  };
  expect(data[0]).toMatchObject(incoming);
  expect((await ended(data[0].id)).record).toMatchObject(incoming);
  const fields = `source { ... on AccountSource { accountId currency { code } } }
    destination { ... on AccountDestination { accountId currency { code } } }`;
  expect(await t.platform.fieldsOf('transaction', data[0].id, fields)).toEqual({
    source: { accountId: payer.usd.id, currency: { code: 'USD' } },
    destination: { accountId: receives.eur.id, currency: { code: 'EUR' } },
  });
});

test('UMA send: the receiver is looked up, and the payment is quoted from the customer’s account and delivered', async () => {
  const { customer, usd, balance } = await scene();
  const umaAddress = '$success.eur@sandbox.uma.money';
  const path = `/receiver/${encodeURIComponent(umaAddress)}?platformUserId=${customer.platformCustomerId}`;
  const lookup = await rest.ask('GET', path);
  const quote = await rest.make('/quotes', {
    lookupId: lookup.id,
    sendingCurrencyCode: 'USD',
    receivingCurrencyCode: 'EUR',
    lockedCurrencySide: 'RECEIVING',
    lockedCurrencyAmount: 5_000,
    senderUserInfo: Object.fromEntries(
      lookup.requiredPayerFields.map((name: string) => [
        name,
        { BIRTH_DATE: '1906-12-09', NATIONALITY: 'US' }[name] ?? 'Grace Hopper',
      ]),
    ),
  });
  expect(quote).toMatchObject({ status: 'PENDING', source: { accountId: usd.id }, totalReceivingAmount: 5_000 });
  expect(await rest.ask('POST', `/quotes/${quote.quoteId}/execute`)).toMatchObject({ status: 'PROCESSING' });
  const { record, statuses } = await ended(quote.transactionId);
  expect(statuses).toEqual(['PENDING', 'PROCESSING', 'COMPLETED']);
  expect(record).toMatchObject({
    destination: { destinationType: 'UMA_ADDRESS', umaAddress, currency: 'EUR' },
    receivedAmount: { amount: 5_000, currency: { code: 'EUR' } },
    counterpartyInformation: expect.any(Object),
  });
  expect(await changes(usd.id, 2)).toEqual([100_000, -quote.totalSendingAmount]);
  expect(await balance()).toBe(100_000 - quote.totalSendingAmount);
});

test('sandbox: a UMA payment is announced, waits for approval, and is then credited', async () => {
  const { customer, usd, balance } = await scene(0);
  const announced = await rest.ask('POST', '/sandbox/uma/receive', {
    senderUmaAddress: '$sender@example.com',
    receiverUmaAddress: customer.umaAddress,
    receivingCurrencyCode: 'USD',
    receivingCurrencyAmount: 2_500,
  });
  await receiver.until(() => toldOf(announced.id).length > 0);
  const [question] = toldOf(announced.id);
  expect(question.transaction).toEqual(announced);
  const asked = question.requestedReceiverCustomerInfoFields.map(({ name }: Data) => name);
  expect(asked).toContain('FULL_NAME');
  const approved = await rest.ask('POST', `/transactions/${announced.id}/approve`, {
    receiverCustomerInfo: { FULL_NAME: 'Grace Hopper' },
  });
  expect(approved).toMatchObject({ status: 'PROCESSING' });
  expect((await ended(announced.id)).statuses).toEqual(['PENDING', 'PROCESSING', 'COMPLETED']);
  expect(await changes(usd.id, 1)).toEqual([2_500]);
  expect(await balance()).toBe(2_500);
});
