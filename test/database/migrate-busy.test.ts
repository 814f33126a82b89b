import { spawn } from 'node:child_process';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { migrate } from '../../src/infra/database/migrations/migrate.ts';
import {
  createThrowawayDatabase,
  startThrowawayPostgres,
  type ThrowawayDatabase,
} from '../../src/infra/database/migrations/throwaway.ts';
import { query } from '../setup/embedded-servers.ts';
import { openClient, ownClient, startTestGateway } from '../setup/gateway.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { type PrismaFolder, prismaFolder } from './prisma-folder.ts';

/** Tests migrating a database in use, on a separate server, because autovacuum is configured per server. */

const server = await startThrowawayPostgres();
afterAll(() => server.stop());
await query(server.url, `alter system set autovacuum_naptime = '1s'`);
await query(server.url, 'select pg_reload_conf()');
let database: ThrowawayDatabase;
let prisma: PrismaFolder;
beforeEach(async () => {
  prisma = await prismaFolder();
  database = await createThrowawayDatabase(server.url);
  onTestFinished(() => database.drop());
  await writeMigration('1_first', 'create table a (x int); create table b (x int); create table c (x int);');
  await migrated();
});

const writeMigration = (name: string, sql: string) => prisma.write(`migrations/${name}/migration.sql`, sql);
const migrated = () => migrate(database.url, { prismaDirectory: prisma.path });

const session = () => ownClient(database.url);

const namesApplied = async (client: pg.Client) =>
  (await client.query('select migration_name as name from _prisma_migrations order by 1')).rows.map(({ name }) => name);

test('a migration logs that it is waiting for a running autovacuum, and then succeeds', async () => {
  const client = await session();
  await client.query(`alter table a set (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)`);
  await client.query(`insert into a select generate_series(1, 200000)`);
  await client.query('delete from a where x % 2 = 0');
  const vacuums = `select from pg_stat_activity where backend_type = 'autovacuum worker' and query like '%VACUUM%.a%'`;
  await vi.waitFor(async () => expect((await client.query(vacuums)).rowCount).toBe(1), { timeout: 120_000 });

  await writeMigration('2_second', 'alter table b add y int; alter table a add y int;');
  const lines: string[] = [];
  await migrate(database.url, { prismaDirectory: prisma.path, log: (line) => lines.push(line) });
  expect(lines[0]).toMatch(/^the migration 2_second is waiting for process \d+ \(autovacuum worker\).*VACUUM/);
  expect(lines.at(-1)).toBe('applied the migration 2_second');
});

test('a migration gets past transactions that lock the same tables in a different order, and none of them fails', async () => {
  let goesOn = true;
  const failed: unknown[] = [];
  const orders = ['a b c', 'c b a', 'b a c'];
  const loops = orders.map(async (order) => {
    const client = await openClient(database.url);
    await client.query('set lock_timeout = 2000');
    while (goesOn) {
      try {
        await client.query('begin');
        for (const table of order.split(' ')) await client.query(`insert into ${table} values (1)`);
        await client.query('commit');
        await delay(10);
      } catch (error) {
        failed.push(error);
        await client.query('rollback');
      }
    }
    await client.end();
  });
  await writeMigration('2_second', 'alter table a add y int; alter table b add y int; alter table c add y int;');
  await migrated();
  goesOn = false;
  await Promise.all(loops);
  expect(failed).toEqual([]);
});

test("a migration gets past the service's background work and payments, and no request fails", async () => {
  const t = await startTestGateway();
  const receiver = await startReceiver();
  for (let made = 0; made < 3; made += 1) await createEndpoint(t.platform, { url: receiver.url });
  const scene = await t.platform.makeScene(1_000_000n);
  const folder = await prismaFolder();
  await cp('prisma', folder.path, { recursive: true });
  const tables = ['webhook_delivery', 'webhook_endpoint', 'outbox', 'transaction', 'account', 'posting', 'rail_order'];
  await folder.write(
    'migrations/29990101000000_more/migration.sql',
    tables.map((table) => `alter table ${table} add mine int;`).join('\n'),
  );
  let goesOn = true;
  const paid = Promise.withResolvers<void>();
  const paying = [1, 2].map(async () => {
    while (goesOn) {
      await t.platform.payOut(scene, 100n);
      paid.resolve();
    }
  });
  await paid.promise;
  const { applied } = await migrate(t.databaseUrl, { prismaDirectory: folder.path });
  goesOn = false;
  await Promise.all(paying);
  expect(applied).toEqual(['29990101000000_more']);
  await t.stop();
  await receiver.stop();
});

test('a migration whose process is killed is rolled back even while its statement is running, and the next run continues', async () => {
  const client = await session();
  await writeMigration('2_second', 'alter table b add y int;');
  await writeMigration('3_third', 'alter table c add z int; do $$ begin loop end loop; end $$;');
  const module = JSON.stringify(path.resolve('src/infra/database/migrations/migrate.ts'));
  const program = `import { migrate } from ${module}; await migrate(process.argv[1], { prismaDirectory: process.argv[2] });`;
  const command = spawn(process.execPath, ['--input-type=module', '-e', program, database.url, prisma.path]);
  const works = `select from pg_stat_activity where state = 'active' and query like '%end loop%' and pid <> pg_backend_pid()`;
  await vi.waitFor(async () => expect((await client.query(works)).rowCount).toBe(1), { timeout: 60_000 });
  command.kill('SIGKILL');
  await vi.waitFor(async () => expect((await client.query(works)).rowCount).toBe(0), { timeout: 60_000 });
  expect(await namesApplied(client)).toEqual(['1_first', '2_second']);

  await writeMigration('3_third', 'alter table c add z int;');
  expect(await migrated()).toEqual({ applied: ['3_third'] });
});

test('a migration killed after any statement leaves nothing half done, and the next run continues', async () => {
  const client = await session();
  const statements = [
    'create table d (x int)',
    'alter table a add y int',
    'create index on a (y)',
    'drop table b',
    'alter table c rename to e',
  ];
  await writeMigration('2_second', `${statements.join(';\n')};`);
  await client.query(`create sequence reached; create function die() returns event_trigger language plpgsql as $$ begin
    if nextval('reached') = current_setting('test.dies_at')::int then perform pg_terminate_backend(pg_backend_pid()); end if; end $$;
    create event trigger dies on ddl_command_end execute function die()`);
  const name = new URL(database.url).pathname.slice(1);
  const state = `select string_agg(relname, ' ' order by relname) as tables from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`;
  const before = (await client.query(state)).rows;
  // The migration's statements are numbered from 2, because number 1 creates the migrations table if it is missing.
  for (const dies of statements.keys()) {
    await client.query(`alter database ${name} set test.dies_at = ${dies + 2}`);
    await client.query(`select setval('reached', 1, false)`);
    await expect(migrated()).rejects.toThrow();
    expect((await client.query(state)).rows).toEqual(before);
    expect(await namesApplied(client)).toEqual(['1_first']);
  }
  await client.query(`alter database ${name} set test.dies_at = 0`);
  expect(await migrated()).toEqual({ applied: ['2_second'] });
});
