import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test, vi } from 'vitest';
import { parseRailSettings } from '../../src/rails/rail-settings.ts';
import { openConnections } from '../../src/server/gateway.ts';
import { testGateway } from '../setup/gateway.ts';

/** Tests refusals of webhooks. The gateway serves six requests at a time and delays refusals by an hour. */

const key = randomBytes(32);
const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const t = await testGateway(
  {
    RAILS: parseRailSettings(JSON.stringify({ PRODUCTION: { module: 'upstream' } })),
    SECRET_KEY: key,
    MAX_IN_FLIGHT: 6,
  },
  undefined,
  { pace: { webhookRefusalMs: 3_600_000 } },
);
const connected = (await t.newPlatform('connected', 'PRODUCTION')).platformId;
const unconnected = (await t.newPlatform('unconnected', 'PRODUCTION')).platformId;
const keys = { SECRET_KEY: key, SECRET_KEY_FALLBACKS: [] };
const connection = {
  baseUrl: 'http://127.0.0.1:9/2025-10-13',
  clientId: 'id',
  secret: 'secret',
  webhookSecret: secret,
};
await openConnections(t.gateway.payments.database, keys).write(connected, JSON.stringify(connection));

function send(platform: string, by: string | undefined, signal?: AbortSignal): Promise<number> {
  const [id, at, body] = [randomUUID(), new Date(), '{"type":"TEST"}'];
  const headers = by && {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(by).sign(id, at, body),
  };
  const url = `${t.url}/rails/${platform}/webhooks`;
  return fetch(url, { method: 'POST', body, ...(headers && { headers }), ...(signal && { signal }) }).then(
    ({ status }) => status,
  );
}

test('a refused webhook gets its response only after the delay, and does not block other requests until then', async () => {
  const answered: number[] = [];
  const end = new AbortController();
  const foreign = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const refused = [
    send(`Platform:${connected}`, foreign, end.signal),
    send(`Platform:${connected}`, undefined, end.signal),
    send(`Platform:${unconnected}`, foreign, end.signal),
    send(`Platform:${randomUUID()}`, foreign, end.signal),
    send('nobody', foreign, end.signal),
    send('%ff', foreign, end.signal),
  ].map((answer) =>
    answer.then(
      (status) => answered.push(status),
      () => undefined,
    ),
  );
  // Six invalid webhooks, as many as the gateway serves at a time, await their refusals. Others are still served.
  for (let count = 0; count < 5; count += 1) {
    await vi.waitFor(async () => expect(await send(`Platform:${connected}`, secret)).toBe(200), 20_000);
  }
  expect(answered).toEqual([]);
  end.abort();
  await Promise.all(refused);
});
