import { afterAll, beforeAll, expect, test } from 'vitest';
import { act, ended, transactionFields } from '../setup/acts.ts';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { balanceOf, makeScene, type Scene } from '../setup/scene.ts';
import { createEndpoint } from './endpoint.ts';
import { type Answer, type Receiver, startReceiver } from './receiver.ts';

/** What a platform answers to an approval question decides the payment, from the announcement to the ledger. */

let t: TestGateway;
let scene: Scene;
let receiver: Receiver;
beforeAll(async () => {
  t = await startTestGateway();
  receiver = await startReceiver();
  scene = await makeScene(t.platform, 0n);
  await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['INCOMING_PAYMENT'] });
});
afterAll(async () => {
  await receiver.stop();
  await t.stop();
});

const says =
  (status: number, body: object): Answer =>
  (response) =>
    response.writeHead(status).end(JSON.stringify(body));

async function receive(): Promise<Data> {
  const { transaction } = await act(
    t.platform,
    'sandboxReceiveUma',
    {
      senderUmaAddress: '$success.usd@sandbox.uma.money',
      customerId: scene.customerId,
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 700,
    },
    `transaction { ${transactionFields} }`,
  );
  expect(transaction.status).toBe('PENDING');
  return ended(t.platform, transaction.id);
}

test('200 approves: the customer has the money', async () => {
  receiver.answer = says(200, { receiverCustomerInfo: { FULL_NAME: 'Sample Person' } });
  expect((await receive()).status).toBe('COMPLETED');
  const question = receiver.received.find(({ body }) => body.transaction?.status === 'PENDING');
  expect(question?.body.requestedReceiverCustomerInfoFields).toContainEqual({ name: 'FULL_NAME', mandatory: true });
  expect(await balanceOf(t.platform, scene.usd)).toBe(700n);
});

test('403 rejects: nothing is credited', async () => {
  receiver.answer = says(403, { reason: 'unknown sender' });
  expect((await receive()).status).toBe('REJECTED');
  expect(await balanceOf(t.platform, scene.usd)).toBe(700n);
});

test('an error fails it with PAYMENT_APPROVAL_WEBHOOK_ERROR', async () => {
  receiver.answer = says(500, {});
  expect(await receive()).toMatchObject({ status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_WEBHOOK_ERROR' });
});
