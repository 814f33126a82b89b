import { describe, expect, test } from 'vitest';
import { between, refusal, usdToEur, went } from '../setup/acts.ts';
import { type Data, type TestGateway, testGateway, uuidIn, whileLocked } from '../setup/gateway.ts';

const t = await testGateway({ SANDBOX_QUOTE_SECONDS: 600 });
const impatient = await testGateway({ PAYMENT_APPROVAL_MS: 150 });
const brief = await testGateway({ SANDBOX_QUOTE_SECONDS: 1 });

const umaOf = (name: string) => `$${name}@sandbox.uma.money`;

const notPending = 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL';
/** Makes the platform approve or reject a payment. Returns the payment or the refusal. */
const decide = async (way: 'approve' | 'reject', transactionId: string, more: object = {}, by = t.platform) => {
  const made = await by.actOn(`${way}Transaction`, { transactionId, ...more });
  return made.transaction ?? made;
};

/** Announces a payment of 5,000 US cents to a new customer. */
async function receive(gateway: TestGateway, rest: object = {}, by: 'address' | 'id' = 'id') {
  const scene = await gateway.platform.makeScene(0n);
  const receiver =
    by === 'address' ? { receiver: { umaAddress: await gateway.platform.umaAddressOf(scene.customerId) } } : {};
  return { scene, transaction: await gateway.platform.announce(scene.customerId, 5_000, { ...receiver, ...rest }) };
}

/**
 * Tries to approve an unknown payment, and returns the refusal's code. The input is validated before the payment is
 * looked up.
 */
async function refusalOf(...facts: (readonly [name: string, value: string])[]): Promise<string> {
  const receiverCustomerInfo = facts.map(([name, value]) => ({ name, value }));
  const transactionId = 'Transaction:019a0000-0000-7000-8000-000000000000';
  return (await decide('approve', transactionId, { receiverCustomerInfo })).code;
}

test.each([
  ['FULL_NAME', ['x', 'x'.repeat(500)], ['', ' ', 'x'.repeat(501), 'a\u0007b']],
  ['BIRTH_DATE', ['2000-02-29'], ['2001-02-29', '2000-2-9']],
  ['NATIONALITY', ['US'], ['USA', 'U', 'us']],
  ['COUNTRY_OF_RESIDENCE', ['US'], ['USA']],
  ['ULTIMATE_INSTITUTION_COUNTRY', ['US'], ['USA']],
  ['PHONE_NUMBER', ['123', '+1 2', `+${'1'.repeat(31)}`], ['12', '+12', `+${'1'.repeat(32)}`, '1a2', '++12']],
  ['EMAIL', ['a@b'], ['a', '@b', 'a@', 'a@b@c', 'a b@c', 'a@b c']],
  ['USER_TYPE', ['INDIVIDUAL', 'BUSINESS'], ['INDIVIDUALS', 'A BUSINESS']],
  ['PURPOSE_OF_PAYMENT', ['GIFT'], ['FUN']],
])('the fact %s accepts each of %j, and none of %j', async (name, right, wrong) => {
  for (const value of right) expect([value, await refusalOf([name, value])]).toEqual([value, 'TRANSACTION_NOT_FOUND']);
  for (const value of wrong) expect([value, await refusalOf([name, value])]).toEqual([value, 'INVALID_INPUT']);
});

test('fact names are unique and consist of 2 to 64 capital letters and underscores; at most 30 are accepted', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, n) => [`A_${'B'.repeat(n)}C`, 'x'] as const);
  const name = (length: number) => [`A${'_'.repeat(length - 2)}Z`, 'x'] as const;
  for (const facts of [[name(2)], [name(64)], names(30)])
    expect(await refusalOf(...facts)).toBe('TRANSACTION_NOT_FOUND');
  const wrong = ['A', 'Ab', 'aB', '_AB', 'AB_', 'A1B', name(65)[0]].map((one) => [[one, 'x'] as const]);
  for (const facts of [...wrong, [name(3), name(4), name(3)], names(31)])
    expect([facts, await refusalOf(...facts)]).toEqual([facts, 'INVALID_INPUT']);
});

describe('an incoming payment', () => {
  test.each([undefined, 'PAY_REQUEST'])('needs no decision if its scenario decides (step %s)', async (step) => {
    const decided = async (approval: string) => {
      const { scene, transaction } = await receive(t, { sandboxScenario: { approval, step } });
      const { status, timeline } = await t.platform.ended(transaction.id);
      const reasons = timeline.map(({ reason }: Data) => reason);
      return { status, reasons, balance: await t.platform.balanceOf(scene.usd) };
    };
    const approved = expect.arrayContaining(['approved by the platform']);
    expect(await decided('APPROVE')).toEqual({ status: 'COMPLETED', reasons: approved, balance: 5_000n });
    const rejected = expect.arrayContaining(['rejected by the platform: sandbox scenario']);
    expect(await decided('REJECT')).toEqual({ status: 'REJECTED', reasons: rejected, balance: 0n });
  });

  test('is the only kind of payment whose scenario may decide the approval', async () => {
    const scene = await t.platform.makeScene(1_000n);
    const refused = await t.platform.transfer('transferOut', scene, 1, { sandboxScenario: { approval: 'APPROVE' } });
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', path: ['sandboxScenario', 'approval'] });
  });

  test('is approved even while its order is locked, and continues once the lock is released', async () => {
    const { transaction } = await receive(t);
    const lock = ['select from rail_order where transaction_id = $1 for update', uuidIn(transaction.id)] as const;
    const approved = await whileLocked(t.databaseUrl, lock, () => decide('approve', transaction.id));
    expect(approved).toMatchObject({ status: 'PROCESSING' });
    expect(await t.platform.ended(transaction.id)).toMatchObject({ status: 'COMPLETED' });
  });

  test('shows its sender, stays PENDING for at most five seconds, and is credited only when it is approved', async () => {
    const { scene, transaction } = await receive(t, {}, 'address');
    const requestedReceiverInformation = [
      { name: 'FULL_NAME', mandatory: true },
      { name: 'COUNTRY_OF_RESIDENCE', mandatory: false },
    ];
    expect(transaction).toMatchObject({ status: 'PENDING', requestedReceiverInformation });
    expect(await t.platform.balanceOf(scene.usd)).toBe(0n);
    const { createdAt } = await t.platform.fieldsOf('transaction', transaction.id, 'createdAt');
    expect(Date.parse(transaction.approvalDueAt) - Date.parse(createdAt)).toBe(5_000);
    await decide('approve', transaction.id);
    const done = await t.platform.ended(transaction.id);
    expect(done).toMatchObject({
      status: 'COMPLETED',
      type: 'INCOMING',
      timeline: went('PENDING', 'PROCESSING', 'COMPLETED'),
      source: { __typename: 'UmaSource', umaAddress: umaOf('success.usd') },
      receivedAmount: { amount: '5000' },
      counterpartyInformation: [{ name: 'FULL_NAME', value: 'Sandbox Sender' }],
    });
    expect(await t.platform.balanceOf(scene.usd)).toBe(5_000n);
  });

  test('is approved with the requested information, or fails with MISSING_MANDATORY_PAYEE_DATA', async () => {
    const asked = { requestedReceiverFields: ['TAX_ID'] };
    const without = await receive(t, asked);
    const failed = { status: 'FAILED', failureReason: 'MISSING_MANDATORY_PAYEE_DATA' };
    expect(await decide('approve', without.transaction.id)).toMatchObject(failed);
    expect((await t.platform.transactionOf(without.transaction.id)).timeline.at(-1).reason).toContain('TAX_ID');
    const byScenario = await receive(t, { ...asked, sandboxScenario: { approval: 'APPROVE' } });
    expect(await t.platform.ended(byScenario.transaction.id)).toMatchObject(failed);
    const withIt = await receive(t, asked);
    const receiverCustomerInfo = [{ name: 'TAX_ID', value: '12-345' }];
    const approved = await decide('approve', withIt.transaction.id, { receiverCustomerInfo });
    expect(approved).toMatchObject({ status: 'PROCESSING' });
    expect((await t.platform.ended(withIt.transaction.id)).status).toBe('COMPLETED');
    expect(await t.platform.balanceOf(without.scene.usd)).toBe(0n);
  });

  test("gives its sender the platform's facts about the receiver, or else those in the customer's record", async () => {
    const [payer, payee] = [await t.platform.makeScene(50_000n), await t.platform.makeScene(0n)];
    const told = async (receiverCustomerInfo: object[]) => {
      const { made, incoming } = await t.platform.payByUma(payer.usd, payee.customerId);
      await decide('approve', incoming.id, { receiverCustomerInfo });
      return (await t.platform.ended(made.transaction.id)).counterpartyInformation;
    };
    expect(await told([])).toContainEqual({ name: 'FULL_NAME', value: 'Grace Hopper' });
    const given = { name: 'FULL_NAME', value: 'Rear Admiral Hopper' };
    const facts = await told([given, { name: 'EMAIL', value: 'grace@example.com' }]);
    expect(facts.filter(({ name }: Data) => name === 'FULL_NAME')).toEqual([given]);
    expect(facts.map(({ name }: Data) => name)).not.toContain('EMAIL');
  });

  const address = { line1: '12 St James Square', postalCode: 'SW1Y', country: 'GB' };
  const person = { fullName: 'Ada Lovelace', birthDate: '1985-12-10', nationality: 'GB', address };
  const business = { legalName: 'Engines Ltd', taxId: 'T-1', registrationNumber: 'R-1' };
  test.each([
    [['FULL_NAME', 'BIRTH_DATE', 'NATIONALITY', 'COUNTRY_OF_RESIDENCE'], { individual: person }],
    [['FULL_NAME', 'TAX_ID', 'REGISTRATION_NUMBER'], { business }],
  ])("is approved if the customer's record has all of %j", async (requestedReceiverFields, details) => {
    const given = { platformCustomerId: 'known', details };
    const { customer } = await t.platform.act('createCustomer', given, 'customer { id }');
    const { id } = await t.platform.announce(customer.id, 100, { requestedReceiverFields });
    expect(await decide('approve', id)).toMatchObject({ status: 'PROCESSING' });
  });

  test('is rejected with a reason, and no money arrives', async () => {
    const { scene, transaction } = await receive(t);
    const rejected = await decide('reject', transaction.id, { reason: 'unknown sender' });
    expect(rejected).toMatchObject({ status: 'REJECTED' });
    const done = await t.platform.transactionOf(transaction.id);
    expect(done.timeline.at(-1).reason).toContain('unknown sender');
    expect(done.ledgerEntries).toEqual([]);
    expect(await t.platform.balanceOf(scene.usd)).toBe(0n);
  });

  test('fails with PAYMENT_APPROVAL_TIMED_OUT if nobody decides in time, and accepts no later decision', async () => {
    const { transaction } = await receive(impatient);
    const timedOut = { status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' };
    expect(await impatient.platform.ended(transaction.id)).toMatchObject(timedOut);
    const late = { __typename: 'ConflictError', ...refusal(notPending, 'transactionId') };
    for (const way of ['approve', 'reject'] as const)
      expect(await decide(way, transaction.id, {}, impatient.platform)).toMatchObject(late);
  });

  test('returns to its sender if nobody decides on it and both customers belong to this installation', async () => {
    const { platform } = impatient;
    const [from, to] = [await platform.makeScene(20_000n), await platform.makeScene(0n)];
    const { made, incoming } = await platform.payByUma(from.usd, to.customerId, 'FAILED');
    expect(incoming.failureReason).toBe('PAYMENT_APPROVAL_TIMED_OUT');
    const returned = { failureReason: 'QUOTE_EXECUTION_FAILED', refund: { amount: { amount: '10000' } } };
    expect(await platform.ended(made.transaction.id)).toMatchObject({ status: 'FAILED', ...returned });
    expect(await platform.balanceOf(from.usd)).toBe(20_000n);
  });

  test.each([
    ['pending.long.usd', 'COMPLETED', null],
    ['fail.compliance.usd', 'FAILED', 'PAY_REQUEST_FAILED'],
    ['fail.timeout.usd', 'FAILED', 'LNURLP_FAILED'],
  ])('from the sandbox sender $%s ends as %s', async (name, status, failureReason) => {
    const { scene, transaction } = await receive(t, { senderUmaAddress: umaOf(name) });
    await decide('approve', transaction.id);
    expect(await t.platform.ended(transaction.id)).toMatchObject({ status, failureReason });
    expect(await t.platform.balanceOf(scene.usd)).toBe(status === 'COMPLETED' ? 5_000n : 0n);
  });

  test('can be decided only once, only by its own platform, and only while it is waiting for a decision', async () => {
    const { scene, transaction } = await receive(t);
    const stranger = await t.newPlatform('stranger');
    expect(await decide('approve', transaction.id, {}, stranger)).toMatchObject({ code: 'TRANSACTION_NOT_FOUND' });
    expect(await decide('approve', transaction.id)).toMatchObject({ status: 'PROCESSING' });
    expect(await decide('reject', transaction.id)).toMatchObject({ code: notPending });
    const { id } = await t.platform.transfer('transferIn', scene, 100);
    expect(await decide('approve', id)).toMatchObject({ code: notPending });
  });

  test('can be simulated only for sandbox customers who may receive it', async () => {
    const to = (customerId: string, rest?: object) => t.platform.announce(customerId, 100, rest);
    const unknown = refusal('USER_NOT_FOUND', 'receiver', 'umaAddress');
    expect(await to('', { receiver: { umaAddress: umaOf('nobody') } })).toMatchObject(unknown);
    expect(await to('')).toMatchObject({ code: 'USER_NOT_FOUND' });
    const { customerId } = await t.platform.makeScene(0n);
    expect(await to(customerId, { currency: 'XXX' })).toMatchObject({ code: 'INVALID_CURRENCY' });
    const live = await t.newPlatform('live', 'PRODUCTION');
    expect(await live.announce(customerId, 100)).toMatchObject({ code: 'FORBIDDEN' });
  });
});

/** Makes a sender look up a new customer. The scenario determines when the pay request follows. */
async function lookedUp(sandboxScenario: object, gateway: TestGateway = t) {
  const after = await gateway.platform.feedEnd();
  return { after, ...(await receive(gateway, { sandboxScenario: { step: 'PAY_REQUEST', ...sandboxScenario } })) };
}

/** Returns a payment's events up to the one with the status `last`. */
const told = (after: string, id: string, last: string) =>
  t.platform.followed(
    `subscription ($after: String, $id: ID!) { transactionUpdates(after: $after, of: { transactionId: $id }) {
       previousStatus status terminal transaction { type approvalDueAt reconciliationReference } } }`,
    { after, id },
    ({ status }) => status === last,
  );

describe('an incoming UMA payment whose sender has only looked up the receiver', () => {
  test('is CREATED without a reference, and no approval is requested yet (specification 2.6)', async () => {
    const { transaction, scene } = await lookedUp({ delayMs: 600_000 });
    expect(transaction).toMatchObject({ status: 'CREATED', approvalDueAt: null });
    const waiting = { type: 'INCOMING', reconciliationReference: null, timeline: went('CREATED'), ledgerEntries: [] };
    expect(await t.platform.transactionOf(transaction.id)).toMatchObject({ status: 'CREATED', ...waiting });
    const refused = await t.platform.actOn('approveTransaction', { transactionId: transaction.id });
    const message = 'the sender has not sent the pay request yet';
    expect(refused).toMatchObject({ code: 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL', message });
    expect(await t.platform.balanceOf(scene.usd)).toBe(0n);
  });

  test('becomes PENDING when the pay request arrives, which starts the five-second deadline (specification 3.2)', async () => {
    const { transaction, scene, after } = await lookedUp({ delayMs: 300 });
    expect(transaction.status).toBe('CREATED');
    const events = await told(after, transaction.id, 'PENDING');
    const created = { approvalDueAt: null, reconciliationReference: null };
    const pending = { type: 'INCOMING', reconciliationReference: expect.stringMatching(/./) };
    expect(events).toMatchObject([
      { previousStatus: null, status: 'CREATED', terminal: false, transaction: created },
      { previousStatus: 'CREATED', status: 'PENDING', transaction: pending },
    ]);
    const moments = 'createdAt updatedAt approvalDueAt';
    const { createdAt, approvalDueAt, updatedAt } = await t.platform.fieldsOf('transaction', transaction.id, moments);
    expect(Date.parse(updatedAt) - Date.parse(createdAt)).toBeGreaterThanOrEqual(300);
    const left = Date.parse(approvalDueAt) - Date.parse(updatedAt);
    // One statement sets both timestamps, but reads the clock separately for each.
    expect(left).toBeGreaterThan(3_000);
    expect(left).toBeLessThanOrEqual(5_000);
    await t.platform.actOn('approveTransaction', { transactionId: transaction.id });
    const timeline = went('CREATED', 'PENDING', 'PROCESSING', 'COMPLETED');
    expect(await t.platform.ended(transaction.id)).toMatchObject({ status: 'COMPLETED', timeline });
    expect(await t.platform.balanceOf(scene.usd)).toBe(5_000n);
  });

  test.each(['LNURLP_FAILED', 'PAY_REQUEST_FAILED'])(
    'becomes FAILED with %s when the pay request fails (specification 3.2)',
    async (failureReason) => {
      const { transaction, scene } = await lookedUp({ failureReason, delayMs: 50 });
      const failed = { status: 'FAILED', failureReason, timeline: went('CREATED', 'FAILED'), ledgerEntries: [] };
      expect(await t.platform.ended(transaction.id)).toMatchObject(failed);
      expect(await t.platform.balanceOf(scene.usd)).toBe(0n);
    },
  );

  test("becomes EXPIRED when no pay request arrives within a quote's lifetime (specification 3.2)", async () => {
    const { transaction } = await lookedUp({ delayMs: 3_600_000 }, brief);
    const expired = { status: 'EXPIRED', timeline: went('CREATED', 'EXPIRED'), ledgerEntries: [] };
    expect(await brief.platform.ended(transaction.id)).toMatchObject(expired);
  });
});

describe("a scenario's step", () => {
  test("PULL makes the collection of a quote's money fail or wait", async () => {
    const scene = await t.platform.makeScene(0n);
    const made = (scenario: object) => {
      const rest = { immediatelyExecute: true, sandboxScenario: { step: 'PULL', ...scenario } };
      return t.platform.quote(between(scene.outsideUsd, scene.outsideEur, 10_000, rest));
    };
    const failed = await made({ failureReason: 'QUOTE_EXECUTION_FAILED' });
    const nothing = { status: 'FAILED', failureReason: 'QUOTE_EXECUTION_FAILED', refund: null, ledgerEntries: [] };
    expect(await t.platform.ended(failed.transaction.id)).toMatchObject(nothing);
    const slow = await made({ delayMs: 250 });
    expect(await t.platform.ended(slow.transaction.id)).toMatchObject({ status: 'COMPLETED' });
  });

  test('is refused if the payment has no such step, or in combination with fields that apply only to settlement', async () => {
    const scene = await t.platform.makeScene(50_000n);
    const out = (sandboxScenario: object) => t.platform.transfer('transferOut', scene, 100, { sandboxScenario });
    const refused = { code: 'INVALID_INPUT', path: ['sandboxScenario', 'step'] };
    for (const step of ['PAY_REQUEST', 'PULL']) expect(await out({ step })).toMatchObject(refused);
    const inside = usdToEur(scene, { sandboxScenario: { step: 'PULL', delayMs: 1 } });
    expect(await t.platform.quote(inside)).toMatchObject(refused);
    const { id } = await out({ step: 'SETTLEMENT', failureReason: 'OFFRAMP_FAILED' });
    expect(await t.platform.ended(id)).toMatchObject({ failureReason: 'OFFRAMP_FAILED' });
    const sandboxScenario = { step: 'PAY_REQUEST', reject: true };
    const receive = await t.platform.announce(scene.customerId, 5_000, { sandboxScenario });
    expect(receive).toMatchObject(refusal('INVALID_INPUT', 'sandboxScenario', 'reject'));
  });
});
