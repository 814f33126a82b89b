import type pg from 'pg';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { lockWatch } from '../../src/server/workers/workers.ts';
import { moving } from '../setup/acts.ts';
import { query } from '../setup/embedded-servers.ts';
import { testGateway, whileLocked } from '../setup/gateway.ts';

/** Tests what happens while a table is locked, for example by an ALTER TABLE that is waiting or running. */

const t = await testGateway({}, undefined, { pace: { lockMs: 150 } });
const scene = await t.platform.makeScene(1_000_000n);

/** Opens a transaction as psql, executes `text` in it, runs `work`, and then rolls the transaction back. */
const holding = (text: string, work: (pid: number) => Promise<void>) =>
  whileLocked(t.databaseUrl, [`set application_name = 'psql'; ${text}`], async (person) => {
    await work((person as pg.Client & { processID: number }).processID);
    await person.query('rollback');
  });

const key = () => crypto.randomUUID();
const transferOut = () =>
  t.platform.actOn('transferOut', { ...moving(scene.usd, scene.outsideUsd, 100), idempotencyKey: key() });

const busy = {
  code: 'SERVICE_UNAVAILABLE',
  message: 'the database is busy: another session holds a lock that this request needs; try again',
};

test.each(['account', 'transaction', 'journal', 'posting', 'rail_order', 'idempotency_record', 'outbox'])(
  'payments that need a locked table fail with "the database is busy", without accounts or keys in the error: %s',
  async (table) => {
    await holding(`lock table ${table}`, async () => {
      const paid = await Promise.all([transferOut(), transferOut(), transferOut()]);
      for (const { code, message } of paid) expect({ code, message }).toEqual(busy);
    });
    expect(await transferOut()).toHaveProperty('transaction');
  },
);

test('plain commands and reads also fail with "the database is busy", over both APIs', async () => {
  await holding('lock table webhook_endpoint, customer, idempotency_record', async () => {
    const input = { url: 'https://example.com/hooks', idempotencyKey: key() };
    expect(await t.platform.act('createWebhookEndpoint', input)).toMatchObject(busy);
    const { errors } = await t.platform.send('{ customers(first: 1) { edges { node { id } } } }');
    expect(errors).toMatchObject([{ message: busy.message, extensions: { code: busy.code } }]);
    const response = await fetch(`${t.url}/2025-10-13/customers`, {
      headers: { authorization: t.platform.authorization },
    });
    expect([response.status, await response.json()]).toMatchObject([503, { code: busy.code, message: busy.message }]);
  });
});

test('the log reports once when a session blocks others, with the table and the statement, and once when the blocking ends', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
  const look = lockWatch(t.gateway.payments.database, log, 0);
  await look();
  expect(lines).toEqual([]);
  let waiting: Promise<unknown> | undefined;
  await holding('alter table customer add mine int', async (pid) => {
    waiting = query(t.databaseUrl, 'set lock_timeout = 60000; select from customer');
    await vi.waitFor(async () => {
      await look();
      expect(lines).toHaveLength(1);
    }, 60_000);
    await look();
    await look();
    expect(lines).toEqual([
      expect.objectContaining({
        level: 50,
        blockers: [
          expect.stringMatching(
            new RegExp(
              `^process ${pid} \\(psql, login postgres\\), whose transaction has been open for \\d+ s: idle in transaction after "set application_name = 'psql'; alter table customer add mine int"$`,
            ),
          ),
        ],
        waiting: [expect.stringMatching(/^AccessShareLock on customer: \d$/)],
      }),
    ]);
  });
  await waiting;
  await vi.waitFor(async () => {
    await look();
    expect(lines).toHaveLength(2);
  }, 60_000);
  expect(lines[1]).toMatchObject({ level: 30, msg: 'no session is waiting long for a lock anymore' });
});
