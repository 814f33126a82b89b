import { describe, expect, test } from 'vitest';
import { commitPlan } from '../../src/domain/ledger/commit.ts';
import { type Data, type TestPlatform, testGateway, uuidIn } from '../setup/gateway.ts';
import type { Scene } from '../setup/scene.ts';
import { createEndpoint, endpointUntil, resend } from './endpoint.ts';
import { type Answer, answer, ownReceiver, type Received, testReceiver, verify } from './receiver.ts';

/**
 * A platform's response to an approval request decides whether the payment is made. The tests follow the payment from
 * its announcement to the ledger.
 */

// The approval deadline is so late that only the response determines a payment's outcome.
const t = await testGateway({ WEBHOOK_TIME_SCALE: 2, PAYMENT_APPROVAL_MS: 60_000 });
const receiver = await testReceiver();
const scene = await t.platform.makeScene(0n);
const endpoint = await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['INCOMING_PAYMENT'] });
await receiver.until((received) => received.length === 1);

/** Announces a UMA payment to a customer. */
const announced = (platform: TestPlatform, { customerId }: Scene): Promise<Data> => platform.announce(customerId, 700);

const about = (id: string) => (one: Received) => one.body.transaction?.id === id;
const isQuestion = ({ body }: Received) => body.transaction?.status === 'PENDING';

/** Returns the delivery of the last approval request once no further attempt is pending. */
async function lastQuestion(): Promise<Data> {
  const isOver = (one: Data) => one.deliveries.every(({ status }: Data) => status !== 'PENDING');
  const { deliveries } = await endpointUntil(t.platform, endpoint.id, isOver);
  const ids = receiver.received.filter(isQuestion).map(({ id }) => id.replace('Webhook:', 'Event:'));
  return deliveries.findLast(({ event }: Data) => event.id === ids.at(-1));
}

/** Announces a payment and responds to the approval request. Returns the payment's final status and reason. */
async function decided(how: Answer): Promise<Data> {
  // A webhook about the outcome is sent as well, and the receiver always accepts it.
  receiver.answer = (response, received, request) =>
    (isQuestion(received) ? how : answer(200))(response, received, request);
  const { id } = await announced(t.platform, scene);
  const transaction = await t.platform.ended(id);
  expect(receiver.received.filter(about(id)).filter(isQuestion)).toHaveLength(1);
  return { ...transaction, reasons: transaction.timeline.map(({ reason }: Data) => reason) };
}

const json =
  (status: number, body: unknown): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

describe('200', () => {
  test("approves with the platform's data about the receiver, and the customer gets the money", async () => {
    const before = await t.platform.balanceOf(scene.usd);
    const { id, status } = await decided(json(200, { receiverCustomerInfo: { FULL_NAME: 'Grace Hopper' } }));
    expect(status).toBe('COMPLETED');
    expect(await t.platform.balanceOf(scene.usd)).toBe(before + 700n);
    const question = receiver.received.filter(isQuestion).find(about(id)) as Received;
    expect(verify(endpoint.secret, question)).toMatchObject({
      type: 'INCOMING_PAYMENT',
      version: 1,
      transaction: {
        status: 'PENDING',
        type: 'INCOMING',
        receivedAmount: { amount: 700, currency: { code: 'USD', decimals: 2 } },
        source: { sourceType: 'UMA_ADDRESS', umaAddress: '$success.usd@sandbox.uma.money', currency: 'USD' },
        destination: { destinationType: 'ACCOUNT', accountId: scene.usd, currency: 'USD' },
        settledAt: null,
      },
    });
    expect(question.body.requestedReceiverCustomerInfoFields).toContainEqual({ name: 'FULL_NAME', mandatory: true });
  });

  test('approves even without a body, if the customer’s record has the required data; null counts as absent', async () => {
    for (const how of [answer(200), json(200, { receiverCustomerInfo: { FULL_NAME: null } })])
      expect((await decided(how)).status).toBe('COMPLETED');
  });

  test('does not approve with an unreadable or invalid body: money does not move on a guess', async () => {
    const before = await t.platform.balanceOf(scene.usd);
    const unusable: Answer[] = [
      json(200, { receiverCustomerInfo: 'everyone' }),
      (response) => response.writeHead(200).end('{"receiverCustomerInfo":{"FULL_NAME":"A","FULL_NAME":"B"}}'),
      (response) => response.writeHead(200).end('<html>'),
      json(200, { receiverCustomerInfo: { 'full name': 'Grace Hopper' } }),
      json(200, { receiverCustomerInfo: { FULL_NAME: ' ' } }),
      json(200, { receiverCustomerInfo: { FULL_NAME: 'Grace\u0000Hopper' } }),
    ];
    for (const how of unusable) {
      expect(await decided(how)).toMatchObject({ status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_WEBHOOK_ERROR' });
      expect(await lastQuestion()).toMatchObject({ status: 'DELIVERED', attempts: [{ responseStatus: 200 }] });
    }
    expect(await t.platform.balanceOf(scene.usd)).toBe(before);
  });
});

test('a payment that a scenario approves completes, even if the receiver fails', async () => {
  receiver.answer = answer(500);
  const { customerId } = scene;
  for (let n = 0; n < 20; n++) {
    const { id } = await t.platform.announce(customerId, 700, { sandboxScenario: { approval: 'APPROVE' } });
    expect((await t.platform.ended(id)).status).toBe('COMPLETED');
  }
});

describe('403', () => {
  test('rejects the payment with the reason in the body, and nothing is credited', async () => {
    const before = await t.platform.balanceOf(scene.usd);
    const transaction = await decided(json(403, { code: 'X', message: 'm', reason: 'unknown sender' }));
    expect(transaction.status).toBe('REJECTED');
    expect(transaction.reasons).toContain('rejected by the platform: unknown sender');
    expect(await t.platform.balanceOf(scene.usd)).toBe(before);
  });

  test('rejects the payment even without a reason, or with a reason that cannot be stored', async () => {
    for (const how of [answer(403), json(403, { reason: 'two\nlines' }), json(403, { reason: 'x'.repeat(501) })]) {
      const transaction = await decided(how);
      expect(transaction.status).toBe('REJECTED');
      expect(transaction.reasons).toContain('rejected by the platform');
    }
    const { reasons } = await decided(json(403, { reason: 7, message: 'not today' }));
    expect(reasons).toContain('rejected by the platform: not today');
  });
});

test('a 422 response rejects the payment, and names the data about the sender that the platform requires', async () => {
  const transaction = await decided(json(422, { requiredFields: ['BIRTH_DATE', 'NATIONALITY'] }));
  expect(transaction.status).toBe('REJECTED');
  const needs = 'rejected by the platform: the platform needs more information about the sender';
  expect(transaction.reasons).toContain(`${needs}: BIRTH_DATE, NATIONALITY`);
  expect((await decided(answer(422))).reasons).toContain(needs);
  const many = Array.from({ length: 100 }, (_, place) => `FIELD_${'X'.repeat(90)}_${place}`);
  expect(await decided(json(422, { requiredFields: many }))).toMatchObject({ status: 'REJECTED' });
  expect(await decided(json(422, { requiredFields: ['two\nlines'] }))).toMatchObject({ status: 'REJECTED' });
});

test('a 202 response postpones the decision, which is then made by a command', async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  receiver.answer = (response, received) => {
    response.writeHead(isQuestion(received) ? 202 : 200).end();
    // The receiver may still get the webhook about the previous payment's outcome.
    if (isQuestion(received)) resolve();
  };
  const { id } = await announced(t.platform, scene);
  await asked;
  await t.platform.actOn('approveTransaction', { transactionId: id });
  expect((await t.platform.ended(id)).status).toBe('COMPLETED');
  expect(await lastQuestion()).toMatchObject({ status: 'DELIVERED', attempts: [{ responseStatus: 202 }] });
});

test('any other response, or a dropped connection, makes the payment fail with a webhook error', async () => {
  const errors: Answer[] = [
    ...[500, 204, 404].map((status) => answer(status)),
    answer(302, { location: '/' }),
    (_response, _received, request) => request.socket.resetAndDestroy(),
  ];
  for (const how of errors) {
    expect(await decided(how)).toMatchObject({ status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_WEBHOOK_ERROR' });
    expect((await lastQuestion()).status).toBe('FAILED');
  }
});

const hasty = await testGateway({ PAYMENT_APPROVAL_MS: 1_500 });
const asked = await testReceiver();
const { id: endpointId } = await createEndpoint(hasty.platform, { url: asked.url, eventTypes: ['INCOMING_PAYMENT'] });

describe('once the time allowed for the decision, which begins with the request, has passed', () => {
  /**
   * Announces a payment whose approval request gets the given response. Returns the payment's outcome and the
   * request's delivery.
   */
  async function timedOut(how: Answer): Promise<{ transaction: Data; question: Data }> {
    asked.answer = (response, received, request) =>
      (isQuestion(received) ? how : answer(200))(response, received, request);
    const { id } = await announced(hasty.platform, await hasty.platform.makeScene(0n));
    const transaction = await hasty.platform.ended(id);
    const { events } = await hasty.platform.ask(
      'query ($id: ID!) { events(last: 2, filter: { transactionId: $id }) { edges { node { id occurredAt } } } }',
      { id },
    );
    const [pending, end] = events.edges.map(({ node }: Data) => node);
    expect(transaction.timeline.map((one: Data) => one.status)).toEqual(['PENDING', transaction.status]);
    expect(Date.parse(transaction.approvalDueAt)).toBe(Date.parse(pending.occurredAt) + 1_500);
    expect(Date.parse(end.occurredAt)).toBeGreaterThanOrEqual(Date.parse(transaction.approvalDueAt));
    const questionOf = ({ deliveries }: Data) => deliveries.find(({ event }: Data) => event.id === pending.id);
    const isOver = (one: Data) => ![undefined, 'PENDING'].includes(questionOf(one)?.status);
    return { transaction, question: questionOf(await endpointUntil(hasty.platform, endpointId, isOver)) };
  }

  test.each([202, 409])('a payment whose decision was postponed by a %i response is rejected', async (status) => {
    const { transaction, question } = await timedOut(answer(status));
    expect(transaction).toMatchObject({ status: 'REJECTED', failureReason: null });
    expect(transaction.timeline.at(-1).reason).toBe('the platform did not decide in time');
    expect(question).toMatchObject({ status: 'DELIVERED', attempts: [{ responseStatus: status }] });
  });

  test('a payment without a response from the platform fails as timed out', async () => {
    const { transaction, question } = await timedOut(() => undefined);
    expect(transaction).toMatchObject({ status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' });
    expect(question).toMatchObject({
      status: 'FAILED',
      attempts: [{ responseStatus: null, error: expect.stringMatching(/^no answer within 1\d{3} ms$/) }],
    });
  });
});

/** Announces a payment from an external account, sent over bank rails. */
async function announceFromBank(): Promise<string> {
  const { database } = t.gateway.payments;
  const { platformId } = t.platform;
  const { rows } = await database.pool.query<{ id: string }>('select uuid_v7() as id');
  const id = rows[0]?.id ?? '';
  const payment = {
    platformId,
    id,
    type: 'INCOMING',
    status: 'PENDING',
    customerId: uuidIn(scene.customerId),
    receivedAmount: 2_500n,
    receivedCurrency: 'USD',
    sourceKind: 'ACCOUNT',
    sourceAccountId: uuidIn(scene.outsideUsd),
    destinationKind: 'ACCOUNT',
    destinationAccountId: uuidIn(scene.usd),
    reference: `PAY-${id.slice(-12)}`,
    counterpartyInformation: {},
  } as const;
  await commitPlan(database, platformId, { insert: { transaction: [payment] } });
  return `Transaction:${id}`;
}

test('one endpoint is asked and the others are notified; payments over bank rails need no approval', async () => {
  const told = await ownReceiver(answer(403));
  const { id } = await createEndpoint(t.platform, { url: told.url, eventTypes: ['INCOMING_PAYMENT'] });
  expect((await decided(answer(200))).status).toBe('COMPLETED');
  await told.until((received) => received.some(isQuestion));
  // A 403 would end the delivery of an approval request, but counts as a failed attempt for an ordinary event.
  const isTried = (one: Data) => one.deliveries.every(({ attempts }: Data) => attempts.length > 0);
  const { deliveries } = await endpointUntil(t.platform, id, isTried);
  expect(deliveries.map(({ status }: Data) => status)).not.toContain('DELIVERED');

  // Refuses the webhook about the bank payment once. The previous payment's outcome may still be delivered here.
  let failures = 1;
  receiver.answer = (response, received) =>
    response.writeHead(isQuestion(received) && failures-- > 0 ? 500 : 200).end();
  const bank = await announceFromBank();
  // An approval request would be sent only once. This is an ordinary event, so it is sent again.
  await receiver.until((received) => received.filter(about(bank)).length === 2);
  expect(await lastQuestion()).toMatchObject({ status: 'DELIVERED', attempts: [{}, {}] });
});

test('the response to a resent approval request counts only if there was no earlier response', async () => {
  // This trigger delays approval requests by an hour.
  await t.owner.query(`
    create function hold_question() returns trigger language plpgsql as $$
    begin new.next_attempt_at := clock_ms() + interval '1 hour'; return new; end $$;
    create trigger hold_question before insert on webhook_delivery for each row when (new.question) execute function hold_question()`);
  receiver.answer = answer(200);
  const { id } = await announced(t.platform, scene);
  const isHeld = ({ nextAttemptAt }: Data) => Date.parse(nextAttemptAt) > Date.now() + 1_800_000;
  const { deliveries } = await endpointUntil(t.platform, endpoint.id, (one) => one.deliveries.some(isHeld));
  const question = deliveries.find(isHeld);
  await t.owner.query('drop trigger hold_question on webhook_delivery; drop function hold_question()');
  await resend(t.platform, question.id);
  expect((await t.platform.ended(id)).status).toBe('COMPLETED');

  receiver.answer = answer(403);
  const before = receiver.received.length;
  await resend(t.platform, question.id);
  await receiver.until((received) => received.length > before);
  expect((await t.platform.ended(id)).status).toBe('COMPLETED');
});
