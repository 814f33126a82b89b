import { describe, expect, test } from 'vitest';
import {
  act,
  actOn,
  between,
  ended,
  execute,
  feedEnd,
  fieldsOf,
  lookUp,
  quote,
  refusal,
  seen,
  sender,
  transactionOf,
  umaAddressOf,
  umaQuote,
  went,
} from '../setup/acts.ts';
import { type Data, testGateway, uuidIn } from '../setup/gateway.ts';
import { balanceOf, externalAccount, makeScene, usAccount } from '../setup/scene.ts';

const t = await testGateway();
const other = await t.newPlatform('other');

const incomingPending = (transaction: { type: string; status: string }) =>
  transaction.type === 'INCOMING' && transaction.status === 'PENDING';

describe('receiver lookup', () => {
  test.each(['usd', 'eur', 'mxn', 'inr', 'gbp', 'brl', 'php'])(
    'the sandbox receiver $success.%s accepts its currency',
    async (code) => {
      const lookup = await lookUp(t.platform, ` $SUCCESS.${code}@sandbox.uma.money\u00a0`);
      expect(lookup.id).toMatch(/^Lookup:[0-9a-f-]{36}$/);
      expect(lookup.umaAddress).toBe(`$success.${code}@sandbox.uma.money`);
      expect(lookup.network).toBe('UMA');
      expect(lookup.supportedCurrencies.map((one: { currency: object }) => one.currency)).toMatchObject([
        { code: code.toUpperCase() },
      ]);
      const [{ estimatedExchangeRate, minAmount, maxAmount }] = lookup.supportedCurrencies;
      expect(Number(estimatedExchangeRate)).toBeGreaterThan(0);
      expect(BigInt(minAmount.amount)).toBeGreaterThan(0n);
      expect(BigInt(maxAmount.amount)).toBeGreaterThan(BigInt(minAmount.amount));
      expect(lookup.vaspName).toEqual(expect.any(String));
      expect(lookup.requiredPayerFields).toContainEqual({ name: 'FULL_NAME', mandatory: true });
      expect(Date.parse(lookup.expiresAt) - Date.parse(lookup.createdAt)).toBe(600_000);
    },
  );

  test('an unknown address is UMA_NOT_FOUND, a malformed one INVALID_UMA_ADDRESS', async () => {
    const unknown = { __typename: 'NotFoundError', ...refusal('UMA_NOT_FOUND', 'umaAddress') };
    expect(await lookUp(t.platform, '$non.existent.usd@sandbox.uma.money')).toMatchObject(unknown);
    expect(await lookUp(t.platform, 'nobody')).toMatchObject({ code: 'INVALID_UMA_ADDRESS' });
  });

  test('its sender is an existing customer of the platform, named by id, by address, or by both', async () => {
    const [one, gone] = [await makeScene(t.platform, 0n), await makeScene(t.platform, 0n)];
    const addressOfOne = await umaAddressOf(t.platform, one.customerId);
    const addressOfGone = await umaAddressOf(t.platform, gone.customerId);
    const sentBy = (sender: object) => lookUp(t.platform, '$success.usd@sandbox.uma.money', { sender });
    await act(t.platform, 'deleteCustomer', { customerId: gone.customerId });
    for (const [field, given] of [
      ['customerId', { customerId: 'Customer:019a0000-0000-7000-8000-000000000000' }],
      ['customerId', { customerId: '' }],
      ['customerId', { customerId: gone.customerId }],
      ['umaAddress', { umaAddress: addressOfGone }],
    ] as const)
      expect(await sentBy(given)).toMatchObject({ code: 'USER_NOT_FOUND', path: ['input', 'sender', field] });
    for (const sender of [{ customerId: one.customerId }, { umaAddress: addressOfOne.toUpperCase() }])
      expect((await sentBy(sender)).id).toMatch(/^Lookup:/);
  });

  test("a sandbox platform's customer is not found in production", async () => {
    const address = await umaAddressOf(other, (await makeScene(other, 0n)).customerId);
    const production = await t.newPlatform('live', 'PRODUCTION');
    expect(await lookUp(production, address)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});

describe('a quote to a UMA address', () => {
  test('needs a known lookup of that address', async () => {
    const { usd } = await makeScene(t.platform);
    const destination = { uma: { umaAddress: '$success.usd@sandbox.uma.money', currency: 'USD' } };
    const base = between(usd, '', 10_000, { destination, senderCustomerInfo: sender });
    expect(await quote(t.platform, base)).toMatchObject({ code: 'INVALID_INPUT', path: ['input', 'lookupId'] });
    const unknown = { ...base, lookupId: 'Lookup:019a0000-0000-7000-8000-000000000000' };
    const notFound = { __typename: 'NotFoundError', ...refusal('LOOKUP_REQUEST_NOT_FOUND', 'lookupId') };
    expect(await quote(t.platform, unknown)).toMatchObject(notFound);
    const { id } = await lookUp(t.platform, '$success.eur@sandbox.uma.money');
    expect(await quote(t.platform, { ...base, lookupId: id })).toMatchObject({ code: 'INVALID_INPUT' });
    const foreign = await lookUp(other, '$success.usd@sandbox.uma.money');
    expect(await quote(t.platform, { ...base, lookupId: foreign.id })).toMatchObject(notFound);
  });

  test('names every missing mandatory field of the sender in one refusal', async () => {
    const { usd } = await makeScene(t.platform);
    const refused = await umaQuote(t.platform, usd, '$success.usd@sandbox.uma.money', { senderCustomerInfo: [] });
    expect(refused).toMatchObject(refusal('MISSING_MANDATORY_USER_INFO', 'senderCustomerInfo'));
    expect(refused.message).toContain('FULL_NAME, BIRTH_DATE');
  });

  test.each([
    ['BIRTH_DATE', '1990-02-30', '1990-02-28'],
    ['PURPOSE_OF_PAYMENT', 'FUN', 'GIFT'],
    ['SHOE_SIZE', '44', undefined],
  ])("validates the sender's information: %s is not %j", async (name, wrong, right) => {
    const { usd } = await makeScene(t.platform);
    const facts = sender.filter((fact) => fact.name !== name);
    const ask = (value: string) =>
      umaQuote(t.platform, usd, '$success.usd@sandbox.uma.money', { senderCustomerInfo: [...facts, { name, value }] });
    const refused = refusal('INVALID_INPUT', 'senderCustomerInfo', facts.length);
    expect(await ask(wrong)).toMatchObject({ ...refused, message: expect.stringContaining(name) });
    if (right !== undefined) expect(await ask(right)).toMatchObject({ status: 'PENDING' });
  });

  test('accepts a fact that only this receiver requires', async () => {
    const { usd } = await makeScene(t.platform);
    const lookup = await lookUp(t.platform, '$success.usd@sandbox.uma.money');
    const more = `'[{ "name": "SHOE_SIZE", "mandatory": true }]'`;
    const text = `update lookup set required_fields = required_fields || ${more} where id = $1`;
    await t.owner.query(text, [uuidIn(lookup.id)]);
    const said = (...facts: object[]) =>
      umaQuote(t.platform, usd, lookup.umaAddress, { lookupId: lookup.id, senderCustomerInfo: [...sender, ...facts] });
    expect(await said()).toMatchObject({ code: 'MISSING_MANDATORY_USER_INFO' });
    expect(await said({ name: 'SHOE_SIZE', value: '44' })).toMatchObject({ status: 'PENDING' });
  });

  test("names the sender's facts that do not apply to the destination", async () => {
    const { usd, eur, outsideEur } = await makeScene(t.platform);
    const to = (accountId: string, name: string, value: string) =>
      quote(t.platform, between(usd, accountId, 10_000, { senderCustomerInfo: [{ name, value }] }));
    const refused = (message: string) => ({ ...refusal('INVALID_INPUT', 'senderCustomerInfo', 0), message });
    expect(await to(outsideEur, 'PURPOSE_OF_PAYMENT', 'GIFT')).toMatchObject({ status: 'PENDING' });
    expect(await to(outsideEur, 'FULL_NAME', 'Grace Hopper')).toMatchObject(
      refused('FULL_NAME is only for payments to UMA addresses'),
    );
    expect(await to(eur, 'PURPOSE_OF_PAYMENT', 'GIFT')).toMatchObject(
      refused('PURPOSE_OF_PAYMENT is only for payments to UMA addresses or external accounts'),
    );
  });

  test("refuses a currency or amount outside the receiver's limits, and the sender's own address", async () => {
    const { usd, customerId } = await makeScene(t.platform);
    const address = '$success.usd@sandbox.uma.money';
    const inEuros = { destination: { uma: { umaAddress: address, currency: 'EUR' } } };
    const own = await umaAddressOf(t.platform, customerId);
    for (const [umaAddress, rest, refused] of [
      [address, inEuros, refusal('INVALID_CURRENCY', 'destination', 'uma', 'currency')],
      [address, { lockedCurrencyAmount: 2_000_000_000 }, { code: 'AMOUNT_OUT_OF_RANGE' }],
      [own, {}, { code: 'SELF_PAYMENT' }],
    ] as const)
      expect(await umaQuote(t.platform, usd, umaAddress, rest)).toMatchObject(refused);
  });

  test.each([
    ['$success.usd', 'COMPLETED', null],
    ['$pending.long.usd', 'COMPLETED', null],
    ['$fail.compliance.usd', 'REJECTED', null],
    ['$fail.timeout.usd', 'FAILED', 'QUOTE_EXECUTION_FAILED'],
  ])('to %s ends as %s', async (name, status, failureReason) => {
    const { usd } = await makeScene(t.platform, 50_000n);
    const made = await umaQuote(t.platform, usd, `${name}@sandbox.uma.money`);
    expect(await execute(t.platform, made.id)).toMatchObject({ quote: { status: 'PROCESSING' } });
    const transaction = await ended(t.platform, made.transaction.id);
    expect(transaction).toMatchObject({
      status,
      failureReason,
      destination: { __typename: 'UmaDestination', umaAddress: `${name}@sandbox.uma.money` },
      counterpartyInformation: [{ name: 'FULL_NAME', value: 'Sandbox Receiver' }],
    });
    const back = status !== 'COMPLETED';
    expect(transaction.refund?.amount.amount).toBe(back ? '10000' : undefined);
    expect(await balanceOf(t.platform, usd)).toBe(back ? 50_000n : 40_000n);
  });
});

describe('between customers of one installation', () => {
  /** Pays a customer of the other platform. Returns the quote, and the payment as the receiver's platform sees it. */
  async function send(receiver: string, rest: object = {}) {
    const scene = await makeScene(t.platform, 50_000n);
    const after = await feedEnd(other);
    const made = await umaQuote(t.platform, scene.usd, await umaAddressOf(other, receiver), rest);
    await execute(t.platform, made.id);
    return { scene, made, incoming: await seen(other, after, incomingPending) };
  }

  /** Decides a payment, and waits until both of its sides have ended. */
  async function decide({ made, incoming }: { made: Data; incoming: Data }, reason?: string) {
    const name = reason === undefined ? 'approveTransaction' : 'rejectTransaction';
    await actOn(other, name, { transactionId: incoming.id, reason });
    return { received: await ended(other, incoming.id), sent: await ended(t.platform, made.transaction.id) };
  }

  test('on two platforms: the payment arrives, OUTGOING and INCOMING, each with its own events and view', async () => {
    const receiver = await makeScene(other, 0n);
    const payment = await send(receiver.customerId, { description: 'rent' });
    const { scene, made, incoming } = payment;
    expect(incoming).toMatchObject({
      type: 'INCOMING',
      customer: { id: receiver.customerId },
      source: { __typename: 'UmaSource', umaAddress: await umaAddressOf(t.platform, scene.customerId) },
      destination: { accountId: receiver.usd },
      counterpartyInformation: expect.arrayContaining([{ name: 'FULL_NAME', value: 'Grace Hopper' }]),
      requestedReceiverInformation: expect.arrayContaining([{ name: 'FULL_NAME', mandatory: true }]),
      description: 'rent',
    });
    expect(await balanceOf(other, receiver.usd)).toBe(0n);
    const { received, sent } = await decide(payment);
    expect(received.timeline).toMatchObject(went('PENDING', 'PROCESSING', 'COMPLETED'));
    expect(sent.status).toBe('COMPLETED');
    expect(sent.counterpartyInformation).toContainEqual({ name: 'FULL_NAME', value: 'Grace Hopper' });
    expect(received.receivedAmount.amount).toBe(made.totalReceivingAmount.amount);
    expect(await balanceOf(t.platform, scene.usd)).toBe(40_000n);
    expect(await balanceOf(other, receiver.usd)).toBe(BigInt(made.totalReceivingAmount.amount));
    expect(await transactionOf(other, made.transaction.id)).toBeNull();
    expect(await transactionOf(t.platform, incoming.id)).toBeNull();
  });

  test('a rejection ends both sides as REJECTED, with the money returned', async () => {
    const receiver = await makeScene(other, 0n);
    const payment = await send(receiver.customerId);
    const { received, sent } = await decide(payment, 'not ours');
    expect(sent).toMatchObject({ status: 'REJECTED', failureReason: null, refund: { amount: { amount: '10000' } } });
    expect(received.status).toBe('REJECTED');
    expect(received.timeline.at(-1).reason).toContain('not ours');
    expect(await balanceOf(t.platform, payment.scene.usd)).toBe(50_000n);
    expect(await balanceOf(other, receiver.usd)).toBe(0n);
  });

  async function withDefault(suffix: string) {
    const receiver = await makeScene(other, 0n);
    const deposit = await externalAccount(other, receiver.customerId, 'USD', usAccount(`55500${suffix}`), {
      defaultUmaDepositAccount: true,
    });
    return { receiver, deposit };
  }

  test('a payment into the default deposit account is paid on to it', async () => {
    const { receiver, deposit } = await withDefault('100');
    const payment = await send(receiver.customerId);
    expect(payment.incoming.destination.accountId).toBe(deposit);
    const { received, sent } = await decide(payment);
    const legs = ['OUTSIDE', 'CLEARING', 'CLEARING', 'OUTSIDE'].map((system) => ({ system }));
    expect(received).toMatchObject({ status: 'COMPLETED', ledgerEntries: legs });
    expect(sent.status).toBe('COMPLETED');
    expect(await balanceOf(other, receiver.usd)).toBe(0n);
  });

  test('an unpayable default deposit account causes OFFRAMP_FAILED, and the money is returned', async () => {
    const { receiver } = await withDefault('003');
    const payment = await send(receiver.customerId);
    const { received, sent } = await decide(payment);
    expect(received).toMatchObject({ status: 'FAILED', failureReason: 'OFFRAMP_FAILED' });
    expect(sent).toMatchObject({ status: 'FAILED', failureReason: 'QUOTE_EXECUTION_FAILED' });
    expect(await balanceOf(t.platform, payment.scene.usd)).toBe(50_000n);
  });

  test("a payment to another customer's account has an INCOMING transaction, without approval", async () => {
    const from = await makeScene(t.platform, 50_000n);
    const to = await makeScene(t.platform, 0n);
    const after = await feedEnd(t.platform);
    const made = await quote(t.platform, between(from.usd, to.eur, 10_000, { immediatelyExecute: true }));
    const incoming = await seen(t.platform, after, ({ type, status }) => type === 'INCOMING' && status === 'COMPLETED');
    expect(incoming).toMatchObject({
      customer: { id: to.customerId },
      source: { accountId: from.usd },
      destination: { accountId: to.eur },
      receivedAmount: { amount: made.totalReceivingAmount.amount, currency: { code: 'EUR' } },
      approvalDueAt: null,
    });
    expect(incoming.timeline).toMatchObject(went('PENDING', 'COMPLETED'));
    expect((await ended(t.platform, made.transaction.id)).status).toBe('COMPLETED');
    expect(await balanceOf(t.platform, to.eur)).toBe(BigInt(made.totalReceivingAmount.amount));
    expect(await balanceOf(t.platform, from.usd)).toBe(40_000n);
  });

  test('a payment between accounts of one customer has one transaction', async () => {
    const scene = await makeScene(t.platform, 50_000n);
    const made = await quote(t.platform, between(scene.usd, scene.eur, 10_000, { immediatelyExecute: true }));
    await ended(t.platform, made.transaction.id);
    const { transactions } = await fieldsOf(t.platform, 'customer', scene.customerId, 'transactions { totalCount }');
    expect(transactions.totalCount).toBe(1);
    expect(await balanceOf(t.platform, scene.eur)).toBe(BigInt(made.totalReceivingAmount.amount));
  });

  test('a payment funded by a deposit from outside arrives too', async () => {
    const from = await makeScene(t.platform, 0n);
    const to = await makeScene(other, 0n);
    const after = await feedEnd(other);
    const made = await umaQuote(t.platform, from.usd, await umaAddressOf(other, to.customerId), {
      source: { realtimeFunding: { customerId: from.customerId, currency: 'USD' } },
    });
    await actOn(t.platform, 'sandboxSend', { quoteId: made.id, currency: 'USD' });
    const { sent } = await decide({ made, incoming: await seen(other, after, incomingPending) });
    expect(sent.status).toBe('COMPLETED');
    expect(await balanceOf(other, to.usd)).toBe(BigInt(made.totalReceivingAmount.amount));
  });
});
