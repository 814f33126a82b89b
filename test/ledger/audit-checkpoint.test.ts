import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runAudit } from '../../src/domain/ledger/audit.ts';
import {
  openClient,
  startTestGateway,
  type TestGateway,
  type TestPlatform,
  uuidIn,
  withoutTriggers,
} from '../setup/gateway.ts';
import type { Scene } from '../setup/scene.ts';

let t: TestGateway;
let platform: TestPlatform;
let scene: Scene;
beforeEach(async () => {
  t = await startTestGateway();
  platform = t.platform;
  scene = await platform.makeScene();
});

const strange = /^a journal without a payment is money that arrived from outside/;
const run = (full = false) => runAudit(t.gateway.payments.database, { full });
const allRows = { breaches: [], coversFrom: null, isCheckpoint: true };
const since = { breaches: [], coversFrom: expect.any(Date), isCheckpoint: true };

async function setClock(by: string): Promise<void> {
  for (const name of ['clock_ms', 'uuid_v7']) {
    const text = await readFile(path.join('prisma/functions/clock', `${name}.sql`), 'utf8');
    await t.owner.query(text.replace('clock_timestamp()', `(clock_timestamp() + interval '${by}')`));
  }
}

/** Inserts a journal that breaks a rule (a fee without a payment). Returns a function that commits it. */
async function moveStrangely(): Promise<() => Promise<void>> {
  const client = await openClient(t.databaseUrl);
  const account = uuidIn(scene.usd);
  await client.query('begin');
  const { rows } = await client.query(
    `insert into journal (platform_id, kind, created_at) select platform_id, 'deposit', clock_ms() from account where id = $1
     returning platform_id, id`,
    [account],
  );
  await client.query(
    `insert into posting (platform_id, journal_id, leg, account_id, system, currency, amount)
     values ($1, $2, 1, $3, null, 'USD', -5), ($1, $2, 2, null, 'FEES', 'USD', 5)`,
    [rows[0].platform_id, rows[0].id, account],
  );
  return async () => {
    await client.query('commit');
    await client.end();
  };
}

async function payOnce(from = scene): Promise<void> {
  await platform.ended((await platform.pay(from)).id);
}

describe('an audit from a checkpoint', () => {
  afterEach(() => t.stop([strange]));

  const expectFound = async () => {
    const { breaches, coversFrom } = await run();
    expect(coversFrom).toBeInstanceOf(Date);
    expect(breaches.map(({ rule }) => rule)).toEqual([expect.stringMatching(strange)]);
  };

  test('finds a journal that was an hour old when it was committed', async () => {
    const other = await platform.makeScene();
    await setClock('-1 hour');
    const commit = await moveStrangely();
    await setClock('0 hours');
    await payOnce(other);
    expect(await run()).toMatchObject(allRows);
    await commit();
    await expectFound();
  });

  test('does not hide a broken rule that another audit has found', async () => {
    expect(await run()).toMatchObject(allRows);
    await (await moveStrangely())();
    const found = [{ rule: expect.stringMatching(strange) }];
    expect(await run()).toMatchObject({ breaches: found, coversFrom: expect.any(Date), isCheckpoint: false });
    // Regardless of the checkpoint, every audit reads all rows until one finds no breach.
    const whyAll = 'the last audit found broken rules';
    expect(await run()).toMatchObject({ breaches: found, coversFrom: null, whyAll, isCheckpoint: false });
  });
});

describe('a checkpoint', () => {
  afterEach(() => t.stop());

  test('is where the next audit starts, even if payments are made during the audit', async () => {
    expect(await run()).toMatchObject({ ...allRows, whyAll: 'there is no checkpoint yet' });
    const paying = Promise.all(Array.from({ length: 5 }, () => payOnce()));
    const first = await run();
    expect(first).toMatchObject(since);
    await paying;
    expect(await run()).toMatchObject({ ...since, coversFrom: first.coversUntil });
    expect(await run(true)).toMatchObject({ ...allRows, whyAll: null });
    expect(await run()).toMatchObject(since);
  });

  test('is rejected if the database was restored', async () => {
    await run();
    await t.owner.query('select mark_restore()');
    expect(await run()).toMatchObject({ ...allRows, whyAll: expect.stringContaining('restored') });
    expect(await run()).toMatchObject(since);
    // Makes the server look like a different one, for which no sequencer has started an epoch yet.
    await t.owner.query(`update feed_epoch set server = '1/00000001/1'`);
    expect(await run()).toMatchObject({ ...allRows, whyAll: expect.stringContaining('restored') });
  });

  test('is rejected if the rules have changed', async () => {
    await run();
    await withoutTriggers(t.databaseUrl, (client) => client.query(`update audit_run set rules_digest = 'other'`));
    expect(await run()).toMatchObject({ ...allRows, whyAll: 'the rules have changed since the checkpoint' });
  });

  test('may come from any of several concurrent audits', async () => {
    const results = await Promise.all([run(), run(), run()]);
    expect(results.map(({ breaches }) => breaches)).toEqual([[], [], []]);
    const { rows } = await t.owner.query(
      'select max(covers_until) filter (where rules_digest is not null) as covers_until, count(*) from audit_run',
    );
    expect(rows).toEqual([{ covers_until: expect.any(Date), count: '3' }]);
    expect(results.filter(({ isCheckpoint }) => isCheckpoint).map(({ coversUntil }) => coversUntil)).toContainEqual(
      rows[0].covers_until,
    );
  });
});
