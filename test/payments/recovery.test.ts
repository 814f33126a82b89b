import { expect, test } from 'vitest';
import { fieldsOf, quote, statusesOf, usdToEur, went } from '../setup/acts.ts';
import { startChildGateway } from '../setup/child-gateway.ts';
import { connect, type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { makeDue } from '../setup/passing-time.ts';
import { balanceOf, makeScene } from '../setup/scene.ts';

/** Serves and reads beside the process that dies; it has no workers. */
const t = await testGateway({ ROLE: 'serve' });
const { platform } = t;
const scene = await makeScene(platform, 1_000_000n);

const startWorker = (paceMs: number) =>
  startChildGateway({ DATABASE_URL: t.databaseUrl, SANDBOX_PACE_MS: String(paceMs), ROLE: 'all' });

/** Sends an amount through the gateway that is about to die, and returns the transaction's id. */
async function execute(through: TestPlatform, amount: number): Promise<string> {
  const quoted = await quote(through, usdToEur(scene, { lockedCurrencyAmount: amount, immediatelyExecute: true }));
  return quoted.transaction.id;
}

test('payments whose process was killed between execution and settlement settle once, in another one', async () => {
  // Its rail is so slow that nothing settles before it dies.
  const doomed = await startWorker(600_000);
  const ids: string[] = [];
  for (let index = 0; index < 5; index++)
    ids.push(await execute(connect(doomed.url, '', platform.authorization), 1_000));
  expect(await doomed.end('SIGKILL')).toBe('SIGKILL');
  expect(await balanceOf(platform, scene.usd)).toBe(995_000n);

  // Orders that the dead process had scheduled are made due now, as they would be after its lease.
  await makeDue(t);
  const successors = await Promise.all([startWorker(0), startWorker(0)]);
  for (const id of ids) {
    expect((await statusesOf(platform, id)).at(-1)).toBe('COMPLETED');
    const read = 'version timeline { status } ledgerEntries { system }';
    const { version, timeline, ledgerEntries } = await fieldsOf(platform, 'transaction', id, read);
    expect({ version, timeline }).toEqual({ version: 3, timeline: went('PENDING', 'PROCESSING', 'COMPLETED') });
    expect(ledgerEntries.filter(({ system }: Data) => system === 'OUTSIDE')).toHaveLength(1);
  }
  expect(await balanceOf(platform, scene.usd)).toBe(995_000n);
  for (const successor of successors) await successor.end('SIGTERM');
});
