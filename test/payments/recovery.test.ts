import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ThrowawayDatabase } from '../../src/database/migrations/throwaway.ts';
import { quote, statusesOf, usdToEur } from '../setup/acts.ts';
import { type ChildGateway, startChildGateway } from '../setup/child-gateway.ts';
import { freshDatabase } from '../setup/database.ts';
import { connect, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { balanceOf, makeScene, type Scene } from '../setup/scene.ts';

let database: ThrowawayDatabase;
/** Serves and reads beside the process that dies; it does no work of its own. Its end audits the ledger. */
let gateway: TestGateway;
let platform: TestPlatform;
let scene: Scene;
beforeAll(async () => {
  database = await freshDatabase();
  gateway = await startTestGateway({ ROLE: 'serve' }, database.url);
  platform = await gateway.newPlatform('survivor');
  scene = await makeScene(platform, 1_000_000n);
});
afterAll(async () => {
  await gateway.stop();
  await database.drop();
});

const startWorker = (paceMs: number) =>
  startChildGateway({ DATABASE_URL: database.url, SANDBOX_PACE_MS: String(paceMs), ROLE: 'all' });

/** Sends a quote's worth through the gateway that is about to die, and answers its transaction. */
async function execute(through: TestPlatform, amount: number): Promise<string> {
  const quoted = await quote(through, usdToEur(scene, { lockedCurrencyAmount: amount, immediatelyExecute: true }));
  return quoted.transaction.id;
}

test('payments whose process was killed between execution and settlement settle once, by whoever comes next', async () => {
  // Its rail takes so long that nothing settles before it dies.
  const doomed = await startWorker(600_000);
  const ids: string[] = [];
  for (let index = 0; index < 5; index++)
    ids.push(await execute(connect(doomed.url, '', platform.authorization), 1_000));
  expect(await doomed.end('SIGKILL')).toBe('SIGKILL');
  expect(await balanceOf(platform, scene.usd)).toBe(995_000n);

  // What the dead process had promised to look at again is due at once, as it would be when its lease is over.
  await gateway.gateway.payments.database.pool.query(
    'update rail_order set due_at = clock_ms() where due_at is not null',
  );
  const successors: ChildGateway[] = await Promise.all([startWorker(0), startWorker(0)]);
  for (const id of ids) {
    expect((await statusesOf(platform, id)).at(-1)).toBe('COMPLETED');
    const { transaction } = await platform.ask(
      'query ($id: ID!) { transaction(id: $id) { version timeline { status } ledgerEntries { system amount { amount currency { code } } } } }',
      { id },
    );
    expect(transaction.timeline.map((event: { status: string }) => event.status)).toEqual([
      'PENDING',
      'PROCESSING',
      'COMPLETED',
    ]);
    expect(transaction.version).toBe(3);
    const outside = transaction.ledgerEntries.filter((entry: { system: string }) => entry.system === 'OUTSIDE');
    expect(outside).toHaveLength(1);
  }
  expect(await balanceOf(platform, scene.usd)).toBe(995_000n);
  for (const successor of successors) await successor.end('SIGTERM');
});
