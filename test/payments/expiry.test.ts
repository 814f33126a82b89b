import { beforeEach, expect, test } from 'vitest';
import { expireQuotes } from '../../src/domain/quotes/execute-quote.ts';
import { usdToEur } from '../setup/acts.ts';
import { type Data, testGateway, uuidIn, withoutTriggers } from '../setup/gateway.ts';
import { passExpiry } from '../setup/passing-time.ts';
import type { Scene } from '../setup/scene.ts';

// Tests which quotes the expiry job finds, and which of them it expires. This gateway has no workers: the tests run the
// job themselves.

let scene: Scene;
let quoted: Data;
const t = await testGateway({ ROLE: 'serve', SANDBOX_PACE_MS: 600_000 });
beforeEach(async () => {
  scene = await t.platform.makeScene(10_000n);
  quoted = await t.platform.quote(usdToEur(scene));
});

/** Runs the expiry job once. Returns its counts and the errors that it logged. */
async function expire(): Promise<{ found: number; done: number; logged: unknown[] }> {
  const { payments } = t.gateway;
  const logged: unknown[] = [];
  const log = Object.assign(Object.create(payments.log), { error: (facts: unknown) => logged.push(facts) });
  return { ...(await expireQuotes({ ...payments, log }, 10)), logged };
}

test('a quote expires once, with its transaction', async () => {
  expect(await expire()).toEqual({ found: 0, done: 0, logged: [] });
  await passExpiry(t, quoted.id);
  expect(await expire()).toEqual({ found: 1, done: 1, logged: [] });
  expect(await t.platform.fieldsOf('quote', quoted.id, 'status')).toEqual({ status: 'EXPIRED' });
  const expired = { status: 'EXPIRED', failureReason: 'QUOTE_EXPIRED' };
  expect(await t.platform.transactionOf(quoted.transaction.id)).toMatchObject(expired);
});

test('the expiry job ignores quotes that are no longer PENDING', async () => {
  const executed = await t.platform.quote(usdToEur(scene));
  await passExpiry(t, quoted.id);
  expect(await expire()).toMatchObject({ found: 1, done: 1 });
  await t.platform.execute(executed.id);
  const pass = 'update quote set expires_at = clock_timestamp() where id = $1';
  await withoutTriggers(t.databaseUrl, (client) => client.query(pass, [uuidIn(executed.id)]));
  // One quote is EXPIRED, and the other is PROCESSING.
  expect(await expire()).toEqual({ found: 0, done: 0, logged: [] });
});
