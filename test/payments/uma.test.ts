import { describe, expect, test } from 'vitest';
import { freezeAccount, freezeCustomer } from '../../src/domain/commands/adjustments.ts';
import { between, refusal, sender, went } from '../setup/acts.ts';
import { type Data, setAccountStatus, tester, testGateway, uuidIn } from '../setup/gateway.ts';
import { type Scene, usAccount } from '../setup/scene.ts';

const t = await testGateway();
const other = await t.newPlatform('other');

const incomingPending = (transaction: { type: string; status: string }) =>
  transaction.type === 'INCOMING' && transaction.status === 'PENDING';

describe('receiver lookup', () => {
  test.each(['usd', 'eur', 'mxn', 'inr', 'gbp', 'brl', 'php'])(
    'the sandbox receiver $success.%s accepts the currency in its address',
    async (code) => {
      const lookup = await t.platform.lookUp(` $SUCCESS.${code}@sandbox.uma.money\u00a0`);
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

  test('an unknown address is refused with UMA_NOT_FOUND, a malformed one with INVALID_UMA_ADDRESS', async () => {
    const unknown = { __typename: 'NotFoundError', ...refusal('UMA_NOT_FOUND', 'umaAddress') };
    expect(await t.platform.lookUp('$non.existent.usd@sandbox.uma.money')).toMatchObject(unknown);
    expect(await t.platform.lookUp('nobody')).toMatchObject({ code: 'INVALID_UMA_ADDRESS' });
  });

  test('the sender must be an existing customer of the platform, given by id or by address', async () => {
    const [one, gone] = [await t.platform.makeScene(0n), await t.platform.makeScene(0n)];
    const addressOfOne = await t.platform.umaAddressOf(one.customerId);
    const addressOfGone = await t.platform.umaAddressOf(gone.customerId);
    const sentBy = (sender: object) => t.platform.lookUp('$success.usd@sandbox.uma.money', { sender });
    await t.platform.act('deleteCustomer', { customerId: gone.customerId });
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
    const address = await other.umaAddressOf((await other.makeScene(0n)).customerId);
    const production = await t.newPlatform('live', 'PRODUCTION');
    expect(await production.lookUp(address)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});

describe('a quote to a UMA address', () => {
  test('needs a known lookup of that address', async () => {
    const { usd } = await t.platform.makeScene();
    const destination = { uma: { umaAddress: '$success.usd@sandbox.uma.money', currency: 'USD' } };
    const base = between(usd, '', 10_000, { destination, senderCustomerInfo: sender });
    expect(await t.platform.quote(base)).toMatchObject({ code: 'INVALID_INPUT', path: ['input', 'lookupId'] });
    const unknown = { ...base, lookupId: 'Lookup:019a0000-0000-7000-8000-000000000000' };
    const notFound = { __typename: 'NotFoundError', ...refusal('LOOKUP_REQUEST_NOT_FOUND', 'lookupId') };
    expect(await t.platform.quote(unknown)).toMatchObject(notFound);
    const { id } = await t.platform.lookUp('$success.eur@sandbox.uma.money');
    expect(await t.platform.quote({ ...base, lookupId: id })).toMatchObject({ code: 'INVALID_INPUT' });
    const foreign = await other.lookUp('$success.usd@sandbox.uma.money');
    expect(await t.platform.quote({ ...base, lookupId: foreign.id })).toMatchObject(notFound);
  });

  test('names every missing mandatory field of the sender in one refusal', async () => {
    const { usd } = await t.platform.makeScene();
    const refused = await t.platform.umaQuote(usd, '$success.usd@sandbox.uma.money', { senderCustomerInfo: [] });
    expect(refused).toMatchObject(refusal('MISSING_MANDATORY_USER_INFO', 'senderCustomerInfo'));
    expect(refused.message).toContain('FULL_NAME, BIRTH_DATE');
  });

  test.each([
    ['BIRTH_DATE', '1990-02-30', '1990-02-28'],
    ['PURPOSE_OF_PAYMENT', 'FUN', 'GIFT'],
    ['SHOE_SIZE', '44', undefined],
  ])("validates the sender's information: %s cannot be %j", async (name, wrong, right) => {
    const { usd } = await t.platform.makeScene();
    const facts = sender.filter((fact) => fact.name !== name);
    const ask = (value: string) =>
      t.platform.umaQuote(usd, '$success.usd@sandbox.uma.money', { senderCustomerInfo: [...facts, { name, value }] });
    const refused = refusal('INVALID_INPUT', 'senderCustomerInfo', facts.length);
    expect(await ask(wrong)).toMatchObject({ ...refused, message: expect.stringContaining(name) });
    if (right !== undefined) expect(await ask(right)).toMatchObject({ status: 'PENDING' });
  });

  test('accepts sender information that only this receiver requires', async () => {
    const { usd } = await t.platform.makeScene();
    const lookup = await t.platform.lookUp('$success.usd@sandbox.uma.money');
    const more = `'[{ "name": "SHOE_SIZE", "mandatory": true }]'`;
    const text = `update lookup set required_fields = required_fields || ${more} where id = $1`;
    await t.owner.query(text, [uuidIn(lookup.id)]);
    const said = (...facts: object[]) =>
      t.platform.umaQuote(usd, lookup.umaAddress, { lookupId: lookup.id, senderCustomerInfo: [...sender, ...facts] });
    expect(await said()).toMatchObject({ code: 'MISSING_MANDATORY_USER_INFO' });
    expect(await said({ name: 'SHOE_SIZE', value: '44' })).toMatchObject({ status: 'PENDING' });
  });

  test('is refused if it gives sender information that is not accepted for its destination', async () => {
    const { usd, eur, outsideEur } = await t.platform.makeScene();
    const to = (accountId: string, name: string, value: string) =>
      t.platform.quote(between(usd, accountId, 10_000, { senderCustomerInfo: [{ name, value }] }));
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
    const { usd, customerId } = await t.platform.makeScene();
    const address = '$success.usd@sandbox.uma.money';
    const inEuros = { destination: { uma: { umaAddress: address, currency: 'EUR' } } };
    const own = await t.platform.umaAddressOf(customerId);
    for (const [umaAddress, rest, refused] of [
      [address, inEuros, refusal('INVALID_CURRENCY', 'destination', 'uma', 'currency')],
      [address, { lockedCurrencyAmount: 2_000_000_000 }, { code: 'AMOUNT_OUT_OF_RANGE' }],
      [own, {}, { code: 'SELF_PAYMENT' }],
    ] as const)
      expect(await t.platform.umaQuote(usd, umaAddress, rest)).toMatchObject(refused);
  });

  test.each([
    ['$success.usd', 'COMPLETED', null],
    ['$pending.long.usd', 'COMPLETED', null],
    ['$fail.compliance.usd', 'REJECTED', null],
    ['$fail.timeout.usd', 'FAILED', 'QUOTE_EXECUTION_FAILED'],
  ])('to %s ends as %s', async (name, status, failureReason) => {
    const { usd } = await t.platform.makeScene(50_000n);
    const made = await t.platform.umaQuote(usd, `${name}@sandbox.uma.money`);
    expect(await t.platform.execute(made.id)).toMatchObject({ quote: { status: 'PROCESSING' } });
    const transaction = await t.platform.ended(made.transaction.id);
    expect(transaction).toMatchObject({
      status,
      failureReason,
      destination: { __typename: 'UmaDestination', umaAddress: `${name}@sandbox.uma.money` },
      counterpartyInformation: [{ name: 'FULL_NAME', value: 'Sandbox Receiver' }],
    });
    const back = status !== 'COMPLETED';
    expect(transaction.refund?.amount.amount).toBe(back ? '10000' : undefined);
    expect(await t.platform.balanceOf(usd)).toBe(back ? 50_000n : 40_000n);
  });
});

describe('between customers of one installation', () => {
  /** Pays a customer of the other platform. Returns the quote, and the payment as the receiver's platform sees it. */
  async function send(receiver: string, rest: object = {}) {
    const scene = await t.platform.makeScene(50_000n);
    const after = await other.feedEnd();
    const made = await t.platform.umaQuote(scene.usd, await other.umaAddressOf(receiver), rest);
    await t.platform.execute(made.id);
    return { scene, made, incoming: await other.seen(after, incomingPending) };
  }

  /** Approves a payment, or rejects it with a reason, and waits until both sides have reached a final status. */
  async function decide({ made, incoming }: { made: Data; incoming: Data }, reason?: string) {
    const name = reason === undefined ? 'approveTransaction' : 'rejectTransaction';
    await other.actOn(name, { transactionId: incoming.id, reason });
    return { received: await other.ended(incoming.id), sent: await t.platform.ended(made.transaction.id) };
  }

  test('a payment between two platforms is OUTGOING on one and INCOMING on the other, each with its own events', async () => {
    const receiver = await other.makeScene(0n);
    const payment = await send(receiver.customerId, { description: 'rent' });
    const { scene, made, incoming } = payment;
    expect(incoming).toMatchObject({
      type: 'INCOMING',
      customer: { id: receiver.customerId },
      source: { __typename: 'UmaSource', umaAddress: await t.platform.umaAddressOf(scene.customerId) },
      destination: { accountId: receiver.usd },
      counterpartyInformation: expect.arrayContaining([{ name: 'FULL_NAME', value: 'Grace Hopper' }]),
      requestedReceiverInformation: expect.arrayContaining([{ name: 'FULL_NAME', mandatory: true }]),
      description: 'rent',
    });
    expect(await other.balanceOf(receiver.usd)).toBe(0n);
    const { received, sent } = await decide(payment);
    expect(received.timeline).toMatchObject(went('PENDING', 'PROCESSING', 'COMPLETED'));
    expect(sent.status).toBe('COMPLETED');
    expect(sent.counterpartyInformation).toContainEqual({ name: 'FULL_NAME', value: 'Grace Hopper' });
    expect(received.receivedAmount.amount).toBe(made.totalReceivingAmount.amount);
    expect(await t.platform.balanceOf(scene.usd)).toBe(40_000n);
    expect(await other.balanceOf(receiver.usd)).toBe(BigInt(made.totalReceivingAmount.amount));
    expect(await other.transactionOf(made.transaction.id)).toBeNull();
    expect(await t.platform.transactionOf(incoming.id)).toBeNull();
  });

  test('a rejection makes both sides REJECTED, and the money is returned', async () => {
    const receiver = await other.makeScene(0n);
    const payment = await send(receiver.customerId);
    const { received, sent } = await decide(payment, 'not ours');
    expect(sent).toMatchObject({ status: 'REJECTED', failureReason: null, refund: { amount: { amount: '10000' } } });
    expect(received.status).toBe('REJECTED');
    expect(received.timeline.at(-1).reason).toContain('not ours');
    expect(await t.platform.balanceOf(payment.scene.usd)).toBe(50_000n);
    expect(await other.balanceOf(receiver.usd)).toBe(0n);
  });

  async function withDefault(suffix: string) {
    const receiver = await other.makeScene(0n);
    const deposit = await other.externalAccount(receiver.customerId, 'USD', usAccount(`55500${suffix}`), {
      defaultUmaDepositAccount: true,
    });
    return { receiver, deposit };
  }

  test('a payment to a customer with a default deposit account is paid out to that account', async () => {
    const { receiver, deposit } = await withDefault('100');
    const payment = await send(receiver.customerId);
    expect(payment.incoming.destination.accountId).toBe(deposit);
    const { received, sent } = await decide(payment);
    const legs = ['OUTSIDE', 'CLEARING', 'CLEARING', 'OUTSIDE'].map((system) => ({ system }));
    expect(received).toMatchObject({ status: 'COMPLETED', ledgerEntries: legs });
    expect(sent.status).toBe('COMPLETED');
    expect(await other.balanceOf(receiver.usd)).toBe(0n);
  });

  test('an unpayable default deposit account causes OFFRAMP_FAILED, and the money is returned', async () => {
    const { receiver } = await withDefault('003');
    const payment = await send(receiver.customerId);
    const { received, sent } = await decide(payment);
    expect(received).toMatchObject({ status: 'FAILED', failureReason: 'OFFRAMP_FAILED' });
    expect(sent).toMatchObject({ status: 'FAILED', failureReason: 'QUOTE_EXECUTION_FAILED' });
    expect(await t.platform.balanceOf(payment.scene.usd)).toBe(50_000n);
  });

  test("a payment to another customer's account has an INCOMING transaction, without approval", async () => {
    const from = await t.platform.makeScene(50_000n);
    const to = await t.platform.makeScene(0n);
    const after = await t.platform.feedEnd();
    const made = await t.platform.quote(between(from.usd, to.eur, 10_000, { immediatelyExecute: true }));
    const incoming = await t.platform.seen(after, ({ type, status }) => type === 'INCOMING' && status === 'COMPLETED');
    expect(incoming).toMatchObject({
      customer: { id: to.customerId },
      source: { accountId: from.usd },
      destination: { accountId: to.eur },
      receivedAmount: { amount: made.totalReceivingAmount.amount, currency: { code: 'EUR' } },
      approvalDueAt: null,
    });
    expect(incoming.timeline).toMatchObject(went('PENDING', 'COMPLETED'));
    expect((await t.platform.ended(made.transaction.id)).status).toBe('COMPLETED');
    expect(await t.platform.balanceOf(to.eur)).toBe(BigInt(made.totalReceivingAmount.amount));
    expect(await t.platform.balanceOf(from.usd)).toBe(40_000n);
  });

  test('a payment between accounts of one customer has one transaction', async () => {
    const scene = await t.platform.makeScene(50_000n);
    const made = await t.platform.quote(between(scene.usd, scene.eur, 10_000, { immediatelyExecute: true }));
    await t.platform.ended(made.transaction.id);
    const { transactions } = await t.platform.fieldsOf('customer', scene.customerId, 'transactions { totalCount }');
    expect(transactions.totalCount).toBe(1);
    expect(await t.platform.balanceOf(scene.eur)).toBe(BigInt(made.totalReceivingAmount.amount));
  });

  test('a payment funded by a deposit from outside reaches the receiver', async () => {
    const from = await t.platform.makeScene(0n);
    const to = await other.makeScene(0n);
    const after = await other.feedEnd();
    const made = await t.platform.umaQuote(from.usd, await other.umaAddressOf(to.customerId), {
      source: { realtimeFunding: { customerId: from.customerId, currency: 'USD' } },
    });
    await t.platform.actOn('sandboxSend', { quoteId: made.id, currency: 'USD' });
    const { sent } = await decide({ made, incoming: await other.seen(after, incomingPending) });
    expect(sent.status).toBe('COMPLETED');
    expect(await other.balanceOf(to.usd)).toBe(BigInt(made.totalReceivingAmount.amount));
  });
});

// The customer and the account that receive a payment to a UMA address are determined when the money arrives.

const payer = await t.platform.makeScene(1_000_000n);
const freezing = { ...tester, frozen: true, reason: 'a test' };
const setKyc = (customerId: string, kycStatus: string) =>
  t.platform.succeed('sandboxSetKycStatus', { customerId, kycStatus });
const makeDefault = (accountId: string) =>
  t.platform.succeed('updateExternalAccount', { accountId, defaultUmaDepositAccount: true });

test.each([
  ['APPROVED', true],
  ['MANUALLY_APPROVED', true],
  ['PENDING_REVIEW', false],
  ['REJECTED', false],
  ['EXPIRED', false],
  ['frozen', false],
  ['deleted', false],
])('a customer who is %s can be found by UMA address: %s', async (status, isFound) => {
  const { customerId } = await t.platform.makeScene(0n);
  const umaAddress = await t.platform.umaAddressOf(customerId);
  if (status === 'frozen') await freezeCustomer(t.gateway.payments.database, customerId, freezing);
  else if (status === 'deleted') await t.platform.act('deleteCustomer', { customerId });
  else await setKyc(customerId, status);
  const found = await t.platform.lookUp(umaAddress);
  if (isFound) expect(found.id).toMatch(/^Lookup:/);
  else expect(found).toMatchObject({ code: 'UMA_NOT_FOUND' });
});

test('a lookup lists the currency of the default deposit account first, while that account is ACTIVE', async () => {
  const { customerId, outsideEur } = await t.platform.makeScene(0n);
  const umaAddress = await t.platform.umaAddressOf(customerId);
  const first = async () => (await t.platform.lookUp(umaAddress)).supportedCurrencies[0].currency.code;
  expect(await first()).toBe('USD');
  await makeDefault(outsideEur);
  expect(await first()).toBe('EUR');
  await setAccountStatus(t, outsideEur, 'UNDER_REVIEW');
  expect(await first()).toBe('USD');
});

test("a lookup offers only currencies of the receiver's platform, even if a deposit account has another", async () => {
  const platform = await t.newPlatform('dollars');
  const { customerId, outsideEur: accountId } = await platform.makeScene(0n);
  await platform.succeed('updateExternalAccount', { accountId, defaultUmaDepositAccount: true });
  await platform.succeed('updatePlatform', { currencies: ['USD'] });
  const { supportedCurrencies } = await t.platform.lookUp(await platform.umaAddressOf(customerId));
  expect(supportedCurrencies.map(({ currency }: Data) => currency.code)).toEqual(['USD']);
});

test("a receiver on this installation requires the sender's full name and nothing else", async () => {
  const { customerId } = await t.platform.makeScene(0n);
  const umaAddress = await t.platform.umaAddressOf(customerId);
  const said = (...senderCustomerInfo: object[]) => t.platform.umaQuote(payer.usd, umaAddress, { senderCustomerInfo });
  expect(await said({ name: 'FULL_NAME', value: 'Grace Hopper' })).toMatchObject({ status: 'PENDING' });
  const missing = { code: 'MISSING_MANDATORY_USER_INFO' };
  expect(await said({ name: 'BIRTH_DATE', value: '1906-12-09' })).toMatchObject(missing);
});

const ways: Readonly<Record<string, (payee: Scene) => Promise<unknown>>> = {
  'is no longer approved': ({ customerId }) => setKyc(customerId, 'REJECTED'),
  'is frozen': ({ customerId }) => freezeCustomer(t.gateway.payments.database, customerId, freezing),
  'has its account frozen': ({ usd }) => freezeAccount(t.gateway.payments.database, usd, freezing),
  'is deleted': ({ customerId }) => t.platform.act('deleteCustomer', { customerId }),
};

test.each(Object.keys(ways))(
  'a payment is rejected and its money returned if, when it is sent, the receiver %s',
  async (way) => {
    const payee = await t.platform.makeScene(0n);
    const { id, transaction } = await t.platform.umaQuote(payer.usd, await t.platform.umaAddressOf(payee.customerId));
    const before = await t.platform.balanceOf(payer.usd);
    await ways[way]?.(payee);
    await t.platform.execute(id);
    expect(await t.platform.ended(transaction.id)).toMatchObject({ status: 'REJECTED' });
    expect(await t.platform.balanceOf(payer.usd)).toBe(before);
    expect(await t.platform.balanceOf(payee.usd)).toBe(0n);
  },
);

test('a default deposit account in a different currency is skipped: the internal account gets the money', async () => {
  const payee = await t.platform.makeScene(0n);
  await makeDefault(payee.outsideEur);
  const { incoming } = await t.platform.payByUma(payer.usd, payee.customerId);
  expect(incoming).toMatchObject({ destination: { accountId: payee.usd } });
  await t.platform.actOn('approveTransaction', { transactionId: incoming.id });
  const done = await t.platform.ended(incoming.id);
  expect(await t.platform.balanceOf(payee.usd)).toBe(BigInt(done.receivedAmount.amount));
});
