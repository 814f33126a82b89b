import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { projectPrisma } from '../../src/database/migrations/migration-files.ts';
import { emptyDatabase } from '../setup/database.ts';

const tables = ['idempotency_record', 'webhook_delivery', 'webhook_attempt'];

/** A copy of the migrations before those that make partitions. */
async function migrationsBefore(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'payments-before-partitions-'));
  for (const name of await readdir(join(projectPrisma, 'migrations'))) {
    if (!/^\d+_/.test(name)) continue;
    if (name.endsWith('_late_attempts')) break;
    await cp(join(projectPrisma, 'migrations', name), join(folder, 'migrations', name), { recursive: true });
  }
  return folder;
}

/** The files of the tables and their indexes, wherever they are. */
const filesOf = (schema: string, suffix: string) => `
  select array_agg(distinct pg_relation_filenode(oid) order by pg_relation_filenode(oid)) as files from (
    select unnest(array[c.oid, i.indexrelid]) as oid from pg_class c join pg_index i on i.indrelid = c.oid
    where c.relnamespace = '${schema}'::regnamespace and c.relname = any(array['${tables.map((name) => name + suffix).join("','")}'])) f`;

test('a table that becomes partitioned is the first partition as it is, and its rows are found and unique as before', async () => {
  const database = await emptyDatabase();
  const before = await migrationsBefore();
  await migrate(database.url, { prismaDirectory: before });
  const client = new pg.Client(database.url);
  await client.connect();
  const platform = '01900000-0000-7000-8000-000000000000';
  const delivery = '01900000-0000-7000-8000-000000000001';
  await client.query(`
    insert into platform (id, name, environment, uma_domain, currencies) values ('${platform}', 'old', 'SANDBOX', 'old.example', '{}');
    insert into feed_head (platform_id, sequence) values ('${platform}', 5);
    insert into webhook_endpoint (platform_id, id, url, event_types, secret, position) values ('${platform}', '${platform}', '', '{TEST}', '', 5);
    insert into idempotency_record (platform_id, operation, key, request_hash) values ('${platform}', 'op', 'key', '');
    set session_replication_role = 'replica';
    insert into webhook_delivery (platform_id, id, endpoint_id, event_sequence) values ('${platform}', '${delivery}', '${platform}', 3);
    insert into webhook_attempt values ('${platform}', '${delivery}', 1, now(), 1);
    set session_replication_role = 'origin'`);
  const { rows: files } = await client.query(filesOf('public', ''));

  const { applied } = await migrate(database.url);
  expect(applied.map((name) => name.replace(/^\d+_/, ''))).toEqual(
    expect.arrayContaining(['partition_bounds', 'partition_bounds_proved', 'partitions']),
  );
  const { rows: firsts } = await client.query(filesOf('partitions', '_first'));
  // Only the index of late attempts is new.
  expect(firsts[0].files).toEqual(expect.arrayContaining(files[0].files));
  expect(firsts[0].files).toHaveLength(files[0].files.length + 1);
  const { rows: bounds } = await client.query(
    `select table_name, starts, ends > clock_timestamp() + interval '27 days' as lasts from partitions()
     where name like '%first' order by 1`,
  );
  expect(bounds).toEqual(tables.toSorted().map((table_name) => ({ table_name, starts: null, lasts: true })));
  for (const table of tables) expect((await client.query(`select from ${table}`)).rowCount).toBe(1);

  // The statement of the version before.
  const claim = `insert into idempotency_record (platform_id, operation, key, request_hash) values ('${platform}', 'op', $1, '')
    on conflict do nothing returning 1`;
  expect((await client.query(claim, ['key'])).rowCount).toBe(0);
  expect((await client.query(claim, ['other'])).rowCount).toBe(1);
  await client.query(`delete from webhook_endpoint`);
  expect((await client.query('select from webhook_delivery')).rowCount).toBe(0);
  expect((await client.query('select from webhook_attempt')).rowCount).toBe(0);
  await client.end();
  await database.drop();
  await rm(before, { recursive: true });
});
