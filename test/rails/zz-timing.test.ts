import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { Pool } from 'undici';
import { afterAll, beforeAll, test } from 'vitest';
import { parseRange } from '../../src/http/client-address.ts';
import { startTwoGateways, type TwoGateways } from './two-gateways.ts';

let two: TwoGateways;
beforeAll(async () => {
  two = await startTwoGateways(
    { pollMs: 3_600_000, identityMs: 3_600_000 },
    { TRUSTED_PROXIES: [parseRange('127.0.0.1')] },
  );
});
afterAll(async () => two.stop());

test('time of refusals', { timeout: 200_000 }, async () => {
  const shop = await two.connected('shop');
  const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  await shop.connect({ webhookSecret: secret });
  const plain = await two.gateway.newPlatform('plain', 'PRODUCTION');
  const pool = new Pool(two.gateway.url, { connections: 1 });
  const paths = {
    known: `/rails/Platform:${shop.platform.platformId}/webhooks`,
    unconnected: `/rails/Platform:${plain.platformId}/webhooks`,
    unknown: `/rails/Platform:${randomUUID()}/webhooks`,
    malformed: `/rails/nothing/webhooks`,
  };
  const body = 'x'.repeat(100_000);
  const took: Record<string, number[]> = {};
  let n = 0;
  const foreign = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  for (let round = 0; round < 500; round += 1) {
    for (const [name, path] of Object.entries(paths)) {
      n += 1;
      const id = randomUUID();
      const at = new Date();
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(foreign).sign(id, at, body),
        'x-forwarded-for': `2001:db8:${(n >> 12).toString(16)}:${(n & 0xfff).toString(16)}::1`,
      };
      const start = performance.now();
      const answer = await pool.request({ path, method: 'POST', headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 401) throw new Error(String(answer.statusCode));
      (took[name] ??= []).push(performance.now() - start);
    }
  }
  for (const [name, times] of Object.entries(took)) {
    const s = times.slice(50).toSorted((a, b) => a - b);
    console.log(
      name,
      'median',
      s[Math.floor(s.length / 2)]?.toFixed(3),
      'p25',
      s[Math.floor(s.length / 4)]?.toFixed(3),
    );
  }
  await pool.close();
});
