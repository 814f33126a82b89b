import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ThrowawayDatabase } from '../../src/database/migrations/throwaway.ts';
import { stepLock } from '../../src/events/sequencer.ts';
import { actOn, ended } from '../setup/acts.ts';
import { freshDatabase } from '../setup/database.ts';
import { type DatabaseProxy, databaseProxy } from '../setup/database-proxy.ts';
import { startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { makeScene } from '../setup/scene.ts';

const rules = 'deploy/prometheus/alerts.yml';

const isInstalled = ['prometheus', 'promtool'].every(
  (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0,
);
if (!isInstalled) console.warn('Skipped: the alerts in a real Prometheus. Install the package prometheus for them.');

describe.skipIf(!isInstalled)('the alert rules, in a real Prometheus', () => {
  let database: ThrowawayDatabase;
  let proxy: DatabaseProxy;
  let owner: pg.Client;
  let t: TestGateway;
  let platform: TestPlatform;
  let folder: string;
  let prometheus: ChildProcess;
  let prometheusUrl: string;

  beforeAll(async () => {
    database = await freshDatabase();
    proxy = await databaseProxy(database.url);
    owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    const readiness = { standstillMs: 1_000, everyMs: 250 };
    t = await startTestGateway({ METRICS_PORT: 0, DATABASE_POOL: 2 }, proxy.url, {
      pace: { statementMs: 500, readiness },
    });
    platform = await t.newPlatform('watched');
    folder = await mkdtemp(path.join(tmpdir(), 'alerts-'));
    // As they are, but without the time that a fault must last.
    const now = (await readFile(rules, 'utf8')).replace(/for: \d+[sm]/g, 'for: 0s');
    await writeFile(path.join(folder, 'alerts.yml'), now);
    await writeFile(
      path.join(folder, 'prometheus.yml'),
      JSON.stringify({
        global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
        rule_files: ['alerts.yml'],
        scrape_configs: [
          { job_name: 'payments', static_configs: [{ targets: [new URL(t.gateway.metricsUrl ?? '').host] }] },
        ],
      }),
    );
    const address = `127.0.0.1:${await freePort()}`;
    prometheusUrl = `http://${address}`;
    prometheus = spawn(
      'prometheus',
      [
        `--config.file=${path.join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${path.join(folder, 'data')}`,
        `--web.listen-address=${address}`,
      ],
      { stdio: 'ignore' },
    );
    await vi.waitFor(async () => expect(await firing()).toEqual([]), 30_000);
    await untilScraped();
  });
  afterAll(async () => {
    prometheus.kill('SIGKILL');
    await t.stop();
    await owner.end();
    await proxy.close();
    await database.drop();
    await rm(folder, { recursive: true });
  });

  async function ask(question: string) {
    const response = await fetch(`${prometheusUrl}/api/v1/${question}`);
    return (await response.json()).data;
  }
  /** The names of the alerts that fire. */
  async function firing(): Promise<string[]> {
    const { alerts } = await ask('alerts');
    return alerts
      .filter(({ state }: { state: string }) => state === 'firing')
      .map(({ labels }: { labels: { alertname: string } }) => labels.alertname);
  }
  const untilScraped = () =>
    vi.waitFor(async () => {
      const { result } = await ask('query?query=payments_ready');
      expect(result).toHaveLength(4);
    }, 30_000);

  /** Stages a fault until all these alerts fire, ends it, and waits until they do not. */
  async function fires(alerts: readonly string[], fault: { stage(): Promise<unknown>; end(): unknown }) {
    expect(await firing()).toEqual(expect.not.arrayContaining([...alerts]));
    await fault.stage();
    await vi.waitFor(async () => expect(await firing()).toEqual(expect.arrayContaining([...alerts])), 30_000);
    await fault.end();
    await vi.waitFor(async () => {
      const still = await firing();
      expect(alerts.filter((alert) => still.includes(alert))).toEqual([]);
    }, 60_000);
  }

  test('parse', () => {
    expect(execFileSync('promtool', ['check', 'rules', rules], { encoding: 'utf8' })).toContain('SUCCESS');
  });

  test('a sequencer that stands', () =>
    fires(['PaymentsFeedStands'], {
      async stage() {
        await owner.query('select pg_advisory_lock($1)', [stepLock]);
        await owner.query(
          `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
           values ($1, uuid_v7(), 'TEST', now(), 1, '{}')`,
          [platform.platformId],
        );
      },
      end: () => owner.query('select pg_advisory_unlock($1)', [stepLock]),
    }));

  test('a database that cannot be written', () =>
    fires(['PaymentsDatabaseReadOnly'], {
      async stage() {
        const name = new URL(database.url).pathname.slice(1);
        await owner.query(`alter database ${name} set default_transaction_read_only = on`);
        await owner.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
          [name],
        );
      },
      end: () =>
        owner.query(`alter database ${new URL(database.url).pathname.slice(1)} reset default_transaction_read_only`),
    }));

  test('migrations that are not there', () =>
    fires(['PaymentsSchemaMissing'], {
      stage: () => owner.query('update _prisma_migrations set checksum = reverse(checksum)'),
      end: () => owner.query('update _prisma_migrations set checksum = reverse(checksum)'),
    }));

  test('a restore that nobody has marked', () =>
    fires(['PaymentsRestored'], {
      stage: () => owner.query('update feed_epoch set marked_at = null where id = (select max(id) from feed_epoch)'),
      end: () => owner.query('select mark_restore()'),
    }));

  test('statements that wait for a connection', async () => {
    const { pool } = t.gateway.serving;
    let taken: pg.PoolClient[] = [];
    let waiting: Promise<unknown> | undefined;
    await fires(['PaymentsPoolWaits'], {
      async stage() {
        taken = await Promise.all([pool.connect(), pool.connect()]);
        waiting = platform.send('{ customers { totalCount } }');
      },
      async end() {
        for (const client of taken) client.release();
        await waiting;
      },
    });
  });

  test('a database that does not answer', () =>
    fires(['PaymentsDatabaseAway', 'PaymentsFiguresMissing', 'PaymentsFeedPolls'], {
      stage: () => proxy.stopListening(),
      end: () => proxy.startListening(),
    }));

  test('a refund that nobody can pay', async () => {
    const scene = await makeScene(platform, 50_000n, '007');
    const transaction = await actOn(platform, 'transferOut', {
      ...{ sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 10_000 },
    });
    await ended(platform, transaction.transaction.id);
    await vi.waitFor(async () => expect(await firing()).toContain('PaymentsSuspense'), 30_000);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
