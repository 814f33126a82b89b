import { afterAll, beforeAll, expect, test } from 'vitest';
import { commitPlan } from '../../src/ledger/commit.ts';
import type { Decision, PendingPayment } from '../../src/webhooks/delivery/approval.ts';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';
import { createEndpoint, endpointUntil } from './endpoint.ts';
import { type Answer, answer, type Received, type Receiver, startReceiver, verify } from './receiver.ts';

let t: TestGateway;
let scene: Scene;
let receiver: Receiver;
let endpoint: { id: string; secret: string };
const decisions: { payment: PendingPayment; decision: Decision }[] = [];

beforeAll(async () => {
  t = await startTestGateway({ WEBHOOK_TIME_SCALE: 2 }, undefined, {
    webhooks: {
      decide: async (payment, decision) => {
        decisions.push({ payment, decision });
      },
    },
  });
  receiver = await startReceiver();
  scene = await makeScene(t.platform, 0n);
  endpoint = await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['INCOMING_PAYMENT'] });
  await receiver.until((received) => received.length === 1);
});
afterAll(async () => {
  await receiver.stop();
  await t.stop();
});

/** Lets a payment be announced, from a UMA address or over a bank's rails. */
async function announce(sourceKind: 'UMA_ADDRESS' | 'ACCOUNT' = 'UMA_ADDRESS'): Promise<string> {
  const { database } = t.gateway.payments;
  const { rows } = await database.pool.query<{ id: string }>('select uuid_v7() as id');
  const id = rows[0]?.id ?? '';
  const uuid = (publicId: string) => publicId.split(':')[1] ?? '';
  await commitPlan(database, t.platform.platformId, {
    insert: {
      transaction: [
        {
          platformId: t.platform.platformId,
          id,
          type: 'INCOMING',
          status: 'PENDING',
          customerId: uuid(scene.customerId),
          receivedAmount: 2_500n,
          receivedCurrency: 'USD',
          sourceKind,
          sourceUmaAddress: sourceKind === 'UMA_ADDRESS' ? '$sender@else.where' : null,
          sourceAccountId: sourceKind === 'ACCOUNT' ? uuid(scene.outsideUsd) : null,
          destinationKind: 'ACCOUNT',
          destinationAccountId: uuid(scene.usd),
          approvalDueAt: sourceKind === 'UMA_ADDRESS' ? new Date(Date.now() + 3_600_000) : null,
          reference: `PAY-${id.slice(-12)}`,
          counterpartyInformation: sourceKind === 'UMA_ADDRESS' ? { FULL_NAME: 'Joan Clarke' } : {},
        },
      ],
    },
  });
  return id;
}

const about = (id: string) => (one: Received) => one.body.transaction?.id === `Transaction:${id}`;
const deliveryOf = (id: string) => (one: { event: { type: string }; id: string }) => one.id === id;

/** Announces a payment, answers the question, and waits for what that decides. */
async function decide(how: Answer): Promise<{ id: string; decision: Decision | undefined }> {
  receiver.answer = how;
  const id = await announce();
  await receiver.until((received) => received.some(about(id)));
  await endpointUntil(t.platform, endpoint.id, ({ deliveries }) => deliveries.at(-1).status !== 'PENDING');
  const mine = decisions.filter(({ payment }) => payment.transactionId === id);
  expect(mine).toHaveLength(1);
  expect(mine[0]?.payment.platformId).toBe(t.platform.platformId);
  expect(receiver.received.filter(about(id))).toHaveLength(1);
  return { id, decision: mine[0]?.decision };
}

const json =
  (status: number, body: unknown): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

test('200 approves, with what the platform tells of the receiver', async () => {
  const { id, decision } = await decide(json(200, { receiverCustomerInfo: { FULL_NAME: 'Grace Hopper' } }));
  expect(decision).toEqual({ kind: 'APPROVED', receiverCustomerInfo: { FULL_NAME: 'Grace Hopper' } });
  const [question] = receiver.received.filter(about(id)) as [Received];
  expect(verify(endpoint.secret, question)).toMatchObject({
    type: 'INCOMING_PAYMENT',
    version: 1,
    transaction: {
      status: 'PENDING',
      type: 'INCOMING',
      receivedAmount: { amount: 2_500, currency: { code: 'USD', decimals: 2 } },
      source: { sourceType: 'UMA_ADDRESS', umaAddress: '$sender@else.where', currency: 'USD' },
      destination: { destinationType: 'ACCOUNT', accountId: scene.usd, currency: 'USD' },
      counterpartyInformation: { FULL_NAME: 'Joan Clarke' },
      settledAt: null,
    },
  });
  expect((await decide(answer(200))).decision).toEqual({ kind: 'APPROVED', receiverCustomerInfo: {} });
});

test('403 rejects, with its reason', async () => {
  expect((await decide(json(403, { code: 'X', message: 'm', reason: 'unknown sender' }))).decision).toEqual({
    kind: 'REJECTED',
    reason: 'unknown sender',
  });
  expect((await decide(answer(403))).decision).toEqual({ kind: 'REJECTED', reason: undefined });
});

test('422 asks for more about the other side', async () => {
  expect((await decide(json(422, { requiredFields: ['BIRTH_DATE'] }))).decision).toEqual({
    kind: 'MORE_INFORMATION_NEEDED',
    requiredFields: ['BIRTH_DATE'],
  });
});

test('202 leaves the decision for later, and without one in time the payment is rejected', async () => {
  expect((await decide(answer(202))).decision).toEqual({
    kind: 'REJECTED',
    reason: 'the platform did not decide in time',
  });
});

const error = { kind: 'FAILED', failureReason: 'PAYMENT_APPROVAL_WEBHOOK_ERROR' };

test('any other answer, none at all, or an approval that cannot be read fails the payment as a webhook error', async () => {
  for (const how of [answer(500), answer(204), answer(302, { location: '/' }), answer(404)])
    expect((await decide(how)).decision).toEqual(error);
  expect((await decide((_response, _received, request) => request.socket.resetAndDestroy())).decision).toEqual(error);
  expect((await decide(json(200, { receiverCustomerInfo: 'everyone' }))).decision).toEqual(error);
  expect((await decide((response) => response.writeHead(200).end('<html>'))).decision).toEqual(error);
});

test('silence fails the payment as timed out', async () => {
  expect((await decide(() => undefined)).decision).toEqual({
    kind: 'FAILED',
    failureReason: 'PAYMENT_APPROVAL_TIMED_OUT',
  });
});

test('one endpoint is asked and the others are told; a payment over a bank’s rails is no question', async () => {
  const told = await startReceiver(answer(403));
  const other = await createEndpoint(t.platform, { url: told.url, eventTypes: ['INCOMING_PAYMENT'] });
  expect((await decide(answer(200))).decision).toEqual({ kind: 'APPROVED', receiverCustomerInfo: {} });
  await told.until((received) => received.length >= 2);
  const many = decisions.length;
  let failures = 1;
  receiver.answer = (response) => response.writeHead(failures-- > 0 ? 500 : 200).end();
  const bank = await announce('ACCOUNT');
  // A question is put once; this is an event like any other, and is tried again.
  await receiver.until((received) => received.filter(about(bank)).length === 2);
  const { deliveries } = await endpointUntil(
    t.platform,
    endpoint.id,
    (one) => one.deliveries.at(-1).status === 'DELIVERED',
  );
  expect(deliveries.find(deliveryOf(deliveries.at(-1).id)).attempts.length).toBeGreaterThan(1);
  expect(decisions).toHaveLength(many);
  expect(other.id).not.toBe(endpoint.id);
  await told.stop();
});
