import { expect, test, vi } from 'vitest';
import { handleWebhook, type Notification } from '../../docs/examples/push-notifications.ts';
import { type Data, startTestGateway } from '../setup/gateway.ts';
import { forgeries } from '../setup/hostile-webhooks.ts';
import { createEndpoint, readEndpoint, resend } from '../webhooks/endpoint.ts';
import { answer, startReceiver } from '../webhooks/receiver.ts';

test('a webhook becomes one push notification, even if the push fails once and the event is redelivered', async () => {
  // Webhooks are retried within milliseconds.
  const t = await startTestGateway({ WEBHOOK_TIME_SCALE: 1_000 });
  const receiver = await startReceiver(answer(202));
  const { id, secret } = await createEndpoint(t.platform, {
    url: receiver.url,
    eventTypes: ['OUTGOING_PAYMENT', 'INCOMING_PAYMENT'],
  });
  const versions = new Map<string, number>();
  const [sent, failed]: [Notification[], Notification[]] = [[], []];
  const answers: number[] = [];
  const server = {
    secret,
    isNewer: async (id: string, version: number) => {
      if (version <= (versions.get(id) ?? 0)) return false;
      versions.set(id, version);
      return true;
    },
    forget: async (id: string) => void versions.delete(id),
    send: async (notification: Notification) => {
      if (failed.length > 0) return void sent.push(notification);
      failed.push(notification);
      throw new Error('the push service is away');
    },
  };
  receiver.answer = async (response, { raw, headers }) => {
    answers.push(await handleWebhook(server, raw, headers));
    response.writeHead(answers.at(-1) ?? 500).end();
  };
  const { id: transactionId } = await t.platform.pay(await t.platform.makeScene());
  await vi.waitFor(() => expect(sent).toHaveLength(1), { timeout: 60_000 });
  expect(sent).toEqual([
    {
      id: failed[0]?.id,
      platformCustomerId: expect.any(String),
      title: 'Your payment has arrived',
      transactionId,
    },
  ]);
  expect(answers).toContain(503);

  const completed = receiver.received.find(({ body }) => body.transaction?.status === 'COMPLETED');
  const delivery = await vi.waitFor(
    async () => {
      const { deliveries } = await readEndpoint(t.platform, id);
      const found = deliveries.find((one: Data) => one.event.id === completed?.body.eventId);
      expect(found.status).toBe('DELIVERED');
      return found;
    },
    { timeout: 60_000 },
  );
  const before = answers.length;
  await resend(t.platform, delivery.id);
  await vi.waitFor(() => expect(answers.length).toBeGreaterThan(before), { timeout: 60_000 });
  expect(sent).toHaveLength(1);
  const forged = { ...completed?.headers, 'webhook-signature': 'v1,AAAA' };
  expect(await handleWebhook(server, completed?.raw ?? '', forged)).toBe(401);
  await t.stop();
  await receiver.stop();
});

test('a forged request to the handler gets 401, and nobody is notified', async () => {
  const never = async () => {
    throw new Error('a request from a stranger was accepted');
  };
  const server = { secret: `whsec_${btoa('a secret of the endpoint')}`, isNewer: never, send: never, forget: never };
  for (const [what, [headers, body]] of Object.entries(forgeries(server.secret))) {
    expect([what, await handleWebhook(server, body, headers)]).toEqual([what, 401]);
  }
});
