import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { startChildGateway } from '../setup/child-gateway.ts';
import { ownGateway } from '../setup/gateway.ts';
import { createEndpoint, endpointUntil, hasAll } from './endpoint.ts';
import { answer, distinct, ownReceiver, verify } from './receiver.ts';

test('nothing is lost when the delivering process is killed while requests are unanswered', async () => {
  const secretKey = randomBytes(32);
  const t = await ownGateway({ ROLE: 'serve', SECRET_KEY: secretKey });
  const { usd } = await t.platform.makeScene(0n);
  const receiver = await ownReceiver();
  const { id, secret } = await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['ACCOUNT_STATUS'] });
  const startWorker = () =>
    startChildGateway({
      ...{ DATABASE_URL: t.databaseUrl, MIGRATE: 'off', SECRET_KEY: secretKey.toString('base64') },
      // Fast enough that retries do not delay the test, but slow enough that no endpoint is disabled on a busy machine,
      // because that takes 43 s.
      WEBHOOK_TIME_SCALE: '10000',
    });
  for (const answered of [0, 4]) {
    const worker = await startWorker();
    const died = Promise.withResolvers<unknown>();
    let left = answered;
    receiver.answer = (response) => {
      left -= 1;
      if (left >= 0) response.writeHead(200).end();
      else died.resolve(worker.end('SIGKILL'));
    };
    for (let made = 0; made < 10; made += 1) await t.platform.fund(usd, 1n);
    await died.promise;
    // Requests that the next process sends while it starts are accepted. Without a response, they would count as
    // failures of the endpoint.
    receiver.answer = answer(200);
  }

  const worker = await startWorker();
  // All deposits and the test event.
  await receiver.until((received) => distinct(received) === 21);
  for (const one of receiver.received) expect(verify(secret, one)).toEqual(one.body);
  expect((await endpointUntil(t.platform, id, hasAll('DELIVERED'))).status).toBe('ENABLED');
  const { rows } = await t.owner.query('select status, count(*)::int from webhook_delivery group by 1');
  expect(rows).toEqual([{ status: 'DELIVERED', count: 21 }]);
  await worker.end('SIGKILL');
});
