import path from 'node:path';
import { makeServingLogin } from '../../src/infra/database/embedded/serving-login.ts';
import { migrate } from '../../src/infra/database/migrations/migrate.ts';
import { secretKey } from '../setup/cursors.ts';
import { startTestGateway } from '../setup/gateway.ts';
import type { Scene } from '../setup/scene.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import type { Receiver } from '../webhooks/receiver.ts';
import { limitedAs } from './load-acts.ts';

export const environment = {
  SANDBOX_PACE_MS: '20',
  SECRET_KEY: secretKey,
  // Long enough that no quote abandoned by a client expires while the evidence is read.
  SANDBOX_QUOTE_SECONDS: '7200',
  LOG_LEVEL: 'silent',
  // At this scale, leases last two seconds, and no endpoint is disabled within seven minutes.
  WEBHOOK_TIME_SCALE: '1000',
  // A compile cache halves the CPU time needed to start.
  NODE_COMPILE_CACHE: path.resolve('node_modules/.cache/faults'),
};
/** More than a client spends in total. */
export const money = 10_000_000_000n;

/** Creates the tables, a platform with a webhook endpoint, tokens, and a customer for each client. */
export async function furnish(databaseUrl: string, receiver: Receiver, clients: number, limited: boolean) {
  await migrate(databaseUrl);
  await makeServingLogin(databaseUrl);
  const gateway = await startTestGateway({ ROLE: 'serve' }, databaseUrl);
  const platform = await gateway.newPlatform('faults');
  const scenes: Scene[] = [];
  const clerk = await platform.serverOf('VIEW', 'TRANSACT');
  const approver = await platform.serverOf('VIEW', 'APPROVE');
  for (let made = 0; made < clients; made += 1) {
    const scene = await platform.makeScene(money);
    if (limited) await platform.succeed('setPolicy', { subjectId: scene.customerId, ...limitedAs(made).policy });
    scenes.push(scene);
  }
  await createEndpoint(platform, { url: receiver.url, eventTypes: ['OUTGOING_PAYMENT', 'INCOMING_PAYMENT'] });
  const start = await platform.feedEnd();
  await gateway.stop();
  return { platform, clerk, approver, scenes, start };
}
