import type pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { ownDatabase } from '../setup/database.ts';
import { ownClient } from '../setup/gateway.ts';

// A sequencer's session skips rows that it has already moved, but never a row that is committed late.

/** The sequencing session, and a second session. */
let sequencer: pg.Client;
let other: pg.Client;
beforeEach(async () => {
  const { url } = await ownDatabase();
  [sequencer, other] = [await ownClient(url), await ownClient(url)];
  await sequencer.query(
    `insert into platform (name, environment, uma_domain, currencies) values ('one', 'SANDBOX', 'one.test', '{USD}')`,
  );
});

const write = (on: pg.Client, rows: number) =>
  on.query(
    `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
     select p.id, uuid_v7(), 'TEST', now(), 1, '{}' from platform p, generate_series(1, $1)`,
    [rows],
  );

/** Runs a sequencing step. Returns how many events it numbered and how many pages it read. */
async function step(): Promise<{ count: number; pages: number }> {
  const before = await numbered();
  const { rows } = await sequencer.query('explain (analyze, buffers, format json) select sequence_outbox(100000)');
  const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
  return { count: (await numbered()) - before, pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
}

async function numbered(): Promise<number> {
  return Number((await sequencer.query('select count(*) from stored_event')).rows[0].count);
}

async function waitLongEnough(): Promise<void> {
  const { rows } = await sequencer.query(`select current_setting('gateway.outbox_past') as past`);
  const [limit, next, , before] = rows[0].past.slice(1, -1).split(',');
  await sequencer.query(`select set_config('gateway.outbox_past', $1, false)`, [`{${limit},${next},1,${before}}`]);
}

test('a step does not reread rows that were already moved, even while an old snapshot still sees them', async () => {
  await other.query('begin isolation level repeatable read read only');
  await other.query('select count(*) from outbox');
  for (let round = 0; round < 10; round += 1) {
    await write(sequencer, 3_000);
    expect((await step()).count).toBe(3_000);
  }
  await write(sequencer, 3);
  const slow = await step();
  expect([slow.count, slow.pages > 400]).toEqual([3, true]);
  // In the first round, the limit moves only past the rows of the first step; in the second, it moves past almost all
  // rows. An open transaction in another database on this server can hold the limit back.
  for (;;) {
    await waitLongEnough();
    await step();
    await step();
    await write(sequencer, 3);
    await step();
    await write(sequencer, 3);
    const fast = await step();
    expect(fast.count).toBe(3);
    if (fast.pages < slow.pages / 3) break;
  }
});

test('a row that is committed late is still numbered, even after many others', async () => {
  await other.query('begin');
  await write(other, 2);
  for (let round = 0; round < 5; round += 1) {
    await write(sequencer, 3);
    expect((await step()).count).toBe(3);
    await waitLongEnough();
  }
  await other.query('commit');
  expect((await step()).count).toBe(2);
});
