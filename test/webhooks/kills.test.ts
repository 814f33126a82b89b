import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type ChildGateway, startChildGateway } from '../setup/child-gateway.ts';
import { startTestGateway } from '../setup/gateway.ts';
import { createEndpoint, endpointUntil, hasAll } from './endpoint.ts';
import { answer, distinct, ownReceiver, verify } from './receiver.ts';

/** How often the delivering process is killed, always while requests are unanswered. */
const kills = 4;

test('nothing is lost when the delivering process is killed in the middle of its work', async () => {
  const secretKey = randomBytes(32);
  const t = await startTestGateway({ ROLE: 'serve', SECRET_KEY: secretKey });
  const scene = await t.platform.makeScene(0n);
  const receivers = [await ownReceiver(), await ownReceiver()] as const;
  const endpoints = await Promise.all(
    receivers.map(({ url }) => createEndpoint(t.platform, { url, eventTypes: ['ACCOUNT_STATUS'] })),
  );

  const startWorker = () =>
    startChildGateway({
      ...{ DATABASE_URL: t.databaseUrl, MIGRATE: 'off', SECRET_KEY: secretKey.toString('base64') },
      // Fast enough that retries do not delay the test, but slow enough that no endpoint is disabled on a busy machine,
      // because that takes 43 s.
      WEBHOOK_TIME_SCALE: '10000',
    });
  let worker: ChildGateway | undefined;
  const deposits = kills * 10;
  for (let round = 0; round < kills; round += 1) {
    worker = await startWorker();
    const died = Promise.withResolvers<unknown>();
    // The process dies at a different moment each time, while requests are unanswered.
    let left = 1 + (round % 5) * 3;
    for (const receiver of receivers) {
      receiver.answer = (response) => {
        left -= 1;
        if (left > 0) response.writeHead(200).end();
        else died.resolve(worker?.end('SIGKILL'));
      };
    }
    for (let made = 0; made < 10; made += 1) await t.platform.fund(scene.usd, 1n);
    await died.promise;
    // Requests that the next process sends while it starts are accepted. Without a response, they would count as
    // failures of the endpoint.
    for (const receiver of receivers) receiver.answer = answer(200);
  }

  worker = await startWorker();
  for (const [index, receiver] of receivers.entries()) {
    // All deposits and the test event.
    await receiver.until((received) => distinct(received) === deposits + 1);
    const secret = endpoints[index]?.secret ?? '';
    for (const one of receiver.received) expect(verify(secret, one)).toEqual(one.body);
    const latest = await endpointUntil(t.platform, endpoints[index]?.id ?? '', hasAll('DELIVERED'));
    expect(latest.status).toBe('ENABLED');
  }
  const { prisma } = t.gateway.payments.database;
  const undelivered = await prisma.webhookDelivery.count({ where: { status: { not: 'DELIVERED' } } });
  expect(undelivered).toBe(0);
  expect(await prisma.webhookDelivery.count()).toBe(2 * (deposits + 1));

  await worker.end('SIGKILL');
  await t.stop();
});
