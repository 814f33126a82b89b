import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startTestGateway } from '../setup/gateway.ts';
import { fund, makeScene } from '../setup/scene.ts';
import { createEndpoint, endpointUntil, hasAll } from './endpoint.ts';
import { answer, distinct, ownReceiver, verify } from './receiver.ts';

const script = fileURLToPath(new URL('delivering-process.ts', import.meta.url));

async function startWorker(databaseUrl: string, secretKey: Buffer): Promise<ChildProcess> {
  const worker = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    env: {
      ...process.env,
      NODE_ENV: 'test',
      DATABASE_URL: databaseUrl,
      SECRET_KEY: secretKey.toString('base64'),
      // Fast enough that no retry delays the test, but slow enough that a busy machine does not disable an endpoint:
      // that takes 43 s.
      WEBHOOK_TIME_SCALE: '10000',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (worker.stdout) await once(worker.stdout, 'data');
  return worker;
}

/** How often the delivering process is killed, always while requests are unanswered. */
const kills = 4;

test('nothing is lost when the delivering process is killed in the middle of its work', async () => {
  const secretKey = randomBytes(32);
  const t = await startTestGateway({ ROLE: 'serve', SECRET_KEY: secretKey });
  const scene = await makeScene(t.platform, 0n);
  const receivers = [await ownReceiver(), await ownReceiver()] as const;
  const endpoints = await Promise.all(
    receivers.map(({ url }) => createEndpoint(t.platform, { url, eventTypes: ['ACCOUNT_STATUS'] })),
  );

  let worker: ChildProcess | undefined;
  const deposits = kills * 10;
  for (let round = 0; round < kills; round += 1) {
    worker = await startWorker(t.databaseUrl, secretKey);
    const dies = once(worker, 'exit');
    // The process dies at a different moment each time, while requests are unanswered.
    let left = 1 + (round % 5) * 3;
    for (const receiver of receivers) {
      receiver.answer = (response) => {
        left -= 1;
        if (left > 0) response.writeHead(200).end();
        else worker?.kill('SIGKILL');
      };
    }
    for (let made = 0; made < 10; made += 1) await fund(t.platform, scene.usd, 1n);
    await dies;
    // Requests that the next process sends while it starts are accepted. Without a response, they would count as
    // failures of the endpoint.
    for (const receiver of receivers) receiver.answer = answer(200);
  }

  worker = await startWorker(t.databaseUrl, secretKey);
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

  const gone = once(worker, 'exit');
  worker.kill('SIGKILL');
  await gone;
  await t.stop();
});
