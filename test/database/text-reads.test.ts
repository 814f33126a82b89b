import { expect, test, vi } from 'vitest';
import { asPlatform } from '../../src/infra/database/connections/platform-scope.ts';
import { ReplicaBehind, TextReads } from '../../src/infra/database/connections/text-reads.ts';
import { openDatabase } from '../../src/infra/database/database.ts';
import { testGateway } from '../setup/gateway.ts';

const t = await testGateway();
const { platformId } = t.platform;

/** Runs a statement for the platform twice, so that its duration is known. Returns a function that runs it again. */
async function known(text: string, ...first: unknown[]) {
  const read = (...values: unknown[]) =>
    asPlatform(platformId, () => t.gateway.serving.readText(text, { values, planning: undefined }));
  for (let time = 0; time < 2; time += 1) await read(...first);
  return read;
}

test('reads from the same turn of the event loop share a transaction, and each gets its own result', async () => {
  const read = await known("select $1::text || ' ' || now()", 'first');
  const other = await known('select now()::text');
  // On a busy machine, a read may take so long that it is sent alone the next time.
  await vi.waitFor(
    async () => {
      const [a, moment, b] = await Promise.all([read('a'), other(), read('b')]);
      expect([a, b]).toEqual([`a ${moment}`, `b ${moment}`]);
    },
    { timeout: 60_000 },
  );
});

test("reads by two platforms in the same turn each see only their own platform's rows", async () => {
  const text = 'select min(platform_id::text) from customer';
  const platforms = [t.platform, await t.newPlatform('other')];
  await Promise.all(platforms.map((platform) => platform.makeScene()));
  const ids = [...platforms, ...platforms].map((platform) => platform.platformId);
  const read = (id: string) =>
    asPlatform(id, () => t.gateway.serving.readText(text, { values: [], planning: undefined }));
  for (let time = 0; time < 3; time += 1) expect(await Promise.all(ids.map(read))).toEqual(ids);
});

test('a connection last used by another platform, in a transaction or for a read, reads for the current platform', async () => {
  const database = openDatabase({ url: t.gateway.serving.url, role: 'gateway_serving', poolSize: 1 });
  const text = "select current_setting('gateway.platform')";
  const others = [1, 2, 3].map((digit) => platformId.replace(/^./, String(digit)));
  await asPlatform(platformId, async () => (await database.pool.connect()).release());
  for (const id of [...others, platformId])
    expect(await asPlatform(id, () => database.readText(text, { values: [], planning: undefined }))).toBe(id);
  expect((await asPlatform(others[0] ?? '', () => database.pool.query({ name: 'own', text }))).rows).toEqual([
    { current_setting: others[0] },
  ]);
  await database.close();
});

test('a server that has not replayed a position serves none of the reads that require it', async () => {
  const reads = new TextReads(t.gateway.serving.pool);
  const read = { text: 'select now()::text', values: [], planning: undefined };
  const behind = { lsn: 'FFFFFFFF/FFFFFFFF', history: '' };
  for (let time = 0; time < 3; time += 1) {
    const settled = await Promise.allSettled([reads.read(read, behind), reads.read(read), reads.read(read, behind)]);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
    expect(settled[0]).toMatchObject({ reason: expect.any(ReplicaBehind) });
  }
});

test('when a read fails, the other reads from the same turn still succeed', async () => {
  const read = await known('select (10 / $1::int)::text', 1);
  const settled = await Promise.allSettled([2, 0, 5, 0, 10].map((by) => read(by)));
  const failed = { status: 'rejected', reason: expect.objectContaining({ code: '22012' }) };
  const value = (text: string) => ({ status: 'fulfilled', value: text });
  expect(settled).toEqual([value('5'), failed, value('2'), failed, value('1')]);
});

test('a statement that has been slow delays no other read, and shares transactions again once it is fast', async () => {
  const fast = await known('select now()::text');
  const slow = await known('select concat(pg_sleep($1), pg_advisory_xact_lock($2), now())', 0.02, 1);
  const holder = await t.gateway.payments.database.pool.connect();
  await holder.query('select pg_advisory_lock(2)');
  const waiting = slow(0, 2);
  await fast();
  await holder.query('select pg_advisory_unlock(2)');
  holder.release();
  await waiting;
  await vi.waitFor(
    async () => {
      const [first, second] = await Promise.all([slow(0, 2), fast()]);
      expect(first).toBe(second);
    },
    { timeout: 60_000 },
  );
});
