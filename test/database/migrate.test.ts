import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { migrate } from '../../src/infra/database/migrations/migrate.ts';
import { readMigrations } from '../../src/infra/database/migrations/migration-files.ts';
import { withSchemaEngine } from '../../src/infra/database/migrations/new-migration.ts';
import type { ThrowawayDatabase } from '../../src/infra/database/migrations/throwaway.ts';
import { emptyDatabase } from '../setup/database.ts';
import { ownClient } from '../setup/gateway.ts';
import { type PrismaFolder, prismaFolder } from './prisma-folder.ts';

const first = 'create table a (x int);\ncreate table b (y int);\n';
const second = `create function three() returns int language plpgsql as $$ begin return 3; end $$;
insert into a select three();
`;

const filters = { externalTables: [], externalEnums: [] };

let prisma: PrismaFolder;
let database: ThrowawayDatabase;
let client: pg.Client;

beforeEach(async () => {
  prisma = await prismaFolder();
  database = await emptyDatabase();
  client = await ownClient(database.url);
  await prisma.write('migrations/20250101000000_first/migration.sql', first);
  await prisma.write('migrations/20250102000000_second/migration.sql', second);
});

const migrated = () => migrate(database.url, { prismaDirectory: prisma.path });

test('migrations are applied once, in the order of their names', async () => {
  const names = ['20250101000000_first', '20250102000000_second'];
  expect(await migrated()).toEqual({ applied: names });
  expect(await migrated()).toEqual({ applied: [] });
  expect(await rows('select x from a')).toEqual([{ x: 3 }]);

  await prisma.write('migrations/20250103000000_third/migration.sql', 'create table c (z int);');
  expect(await migrated()).toEqual({ applied: ['20250103000000_third'] });
});

test('an empty database with an encoding other than UTF8 is refused, and the error shows the command that creates a correct one', async () => {
  await client.query("create database bytes encoding 'SQL_ASCII' template template0 locale 'C'");
  const url = new URL(database.url);
  url.pathname = '/bytes';
  await expect(migrate(url.href, { prismaDirectory: prisma.path })).rejects.toThrow(
    'The database "bytes" has the encoding SQL_ASCII, but needs UTF8. Drop it, and create it again: createdb --encoding=UTF8 --template=template0 bytes',
  );
  await client.query('drop database bytes');
});

test('a migration that needs a lock lets other sessions through, and retries until it gets the lock', async () => {
  await migrated();
  await prisma.write('migrations/20250103000000_third/migration.sql', 'alter table a add column z int;');
  const reader = await ownClient(database.url);
  await reader.query(`set application_name = 'a dump'; begin; select from a`);
  const lines: string[] = [];
  const waited = Promise.withResolvers<void>();
  const migrating = migrate(database.url, {
    prismaDirectory: prisma.path,
    log: (line) => {
      lines.push(line);
      waited.resolve();
    },
  });
  await waited.promise;
  expect(lines[0]).toMatch(
    /^the migration 20250103000000_third is waiting for process \d+ \(a dump, login \w+\), whose transaction has been open for \d+ s: idle in transaction after ".*select from a" and will be tried again$/,
  );
  // If the migration stayed in the lock queue, this read would queue behind it until the test's time limit.
  expect(await rows('select x from a')).toEqual([{ x: 3 }]);
  await reader.query('commit');
  expect(await migrating).toEqual({ applied: ['20250103000000_third'] });
  expect(lines.at(-1)).toBe('applied the migration 20250103000000_third');

  await prisma.write('migrations/20250104000000_fourth/migration.sql', 'alter table a add column w int;');
  await reader.query('begin; select from a');
  await expect(migrate(database.url, { prismaDirectory: prisma.path, patienceMs: 1_000 })).rejects.toThrow(
    /20250104000000_fourth failed and was rolled back: canceling statement due to lock timeout\. It was waiting for process \d+ \(a dump, .*\. End whatever is blocking it and run the command again/,
  );
});

test('a second run changes nothing, and the first writes the rows that prisma migrate deploy expects', async () => {
  await migrated();
  const records = 'select * from _prisma_migrations order by migration_name';
  const written = await rows(records);
  await migrated();
  expect(await rows(records)).toEqual(written);

  // This is how `prisma migrate deploy` asks its engine whether anything is pending or wrong.
  const migrationsList = await prismaMigrationList(prisma.path);
  await withSchemaEngine(database.url, async (engine) => {
    const diagnosis = await engine.diagnoseMigrationHistory({ migrationsList, optInToShadowDatabase: false, filters });
    expect(diagnosis).toMatchObject({ hasMigrationsTable: true, editedMigrationNames: [], failedMigrationNames: [] });
    expect(diagnosis.history ?? null).toBe(null);
    expect(await engine.applyMigrations({ migrationsList, filters })).toEqual({ appliedMigrationNames: [] });
  });
  expect(await rows(records)).toEqual(written);
});

test("the migrations table and its rows are the same as those written by Prisma's own engine", async () => {
  const theirs = await emptyDatabase();
  const theirClient = await ownClient(theirs.url);
  // The engine runs only the first migration. It would split the second one's function at the semicolons.
  const all = await prismaMigrationList(prisma.path);
  const migrationsList = { ...all, migrationDirectories: all.migrationDirectories.slice(0, 1) };
  await withSchemaEngine(theirs.url, (engine) => engine.applyMigrations({ migrationsList, filters }));
  await migrated();

  const columns = `select column_name, ordinal_position, data_type, character_maximum_length, column_default, is_nullable
    from information_schema.columns where table_name = '_prisma_migrations' order by ordinal_position`;
  const row = `select migration_name, checksum, length(id) as id, finished_at >= started_at as finished,
    logs, rolled_back_at, applied_steps_count from _prisma_migrations where migration_name like '%_first'`;
  for (const sql of [columns, row]) expect(await rows(sql)).toEqual((await theirClient.query(sql)).rows);
  expect(await rows(row)).toMatchObject([{ checksum: createHash('sha256').update(first).digest('hex') }]);
});

test('if several instances start together, one of them migrates while the others wait', async () => {
  const results = await Promise.all(Array.from({ length: 5 }, () => migrated()));
  expect(results.flatMap(({ applied }) => applied)).toHaveLength(2);
  expect(await rows('select x from a')).toEqual([{ x: 3 }]);
});

test('a failed migration leaves nothing behind, says where it failed, and can be applied once it is fixed', async () => {
  const file = 'migrations/20250103000000_third/migration.sql';
  await prisma.write(file, 'create table c (z int);\n\ninsert into nowhere values (1);\n');
  await expect(migrated()).rejects.toThrow(
    'Migration 20250103000000_third failed and was rolled back: relation "nowhere" does not exist (SQLSTATE 42P01, migration.sql:3).',
  );
  expect(await rows("select to_regclass('b') as b, to_regclass('c') as c")).toEqual([{ b: 'b', c: null }]);
  await prisma.write(file, 'create table c (z int);');
  expect(await migrated()).toEqual({ applied: ['20250103000000_third'] });
});

test('a migration that has changed since it was applied is refused', async () => {
  await migrated();
  await prisma.write('migrations/20250101000000_first/migration.sql', `${first}-- changed\n`);
  await expect(migrated()).rejects.toThrow(/Migration 20250101000000_first was changed after this database applied it/);
});

test('a database with an earlier series of migrations is left unchanged, and the error says how to reset it', async () => {
  await prisma.write('migrations/20250103000000_third/migration.sql', 'create table c (z int);');
  await migrated();
  const later = await prismaFolder();
  await later.write('migrations/20250201000000_init/migration.sql', 'create table d (z int);');
  const options = { prismaDirectory: later.path };
  const refusal =
    'This database was created by an earlier series of migrations (starting with 20250101000000_first), which 20250201000000_init has replaced. It cannot be migrated to the current schema. To reset it (this deletes all data), ';
  await expect(migrate(database.url, options)).rejects.toThrow(
    `${refusal}drop the database "${client.database}", create it again and restart, or set DATABASE_URL to another.`,
  );
  await expect(migrate(database.url, { ...options, dataDirectory: '/data/postgres' })).rejects.toThrow(
    `${refusal}remove the folder /data/postgres and start again.`,
  );
  expect(await rows("select to_regclass('c') as c, to_regclass('d') as d")).toEqual([{ c: 'c', d: null }]);
});

test('a migration left unfinished by another tool stops the run until it is marked as rolled back', async () => {
  await migrated();
  await client.query(
    `insert into _prisma_migrations (id, migration_name, checksum) values ('1', '20250103000000_third', '')`,
  );
  await expect(migrated()).rejects.toThrow(/20250103000000_third was started by another tool/);
  await client.query(`update _prisma_migrations set rolled_back_at = now() where id = '1'`);
  await prisma.write('migrations/20250103000000_third/migration.sql', 'create table c (z int);');
  expect(await migrated()).toEqual({ applied: ['20250103000000_third'] });
});

test('migrations from a newer version of the service are left alone', async () => {
  await prisma.write('migrations/20250103000000_third/migration.sql', 'create table c (z int);');
  await migrated();
  const older = await prismaFolder();
  await older.write('migrations/20250101000000_first/migration.sql', first);
  expect(await migrate(database.url, { prismaDirectory: older.path })).toEqual({ applied: [] });
});

async function rows(sql: string): Promise<unknown[]> {
  return (await client.query(sql)).rows;
}

/** Returns the migrations as Prisma's command line passes them to its engine. */
async function prismaMigrationList(prismaDirectory: string) {
  const migrations = await readMigrations(prismaDirectory);
  return {
    baseDir: join(prismaDirectory, 'migrations'),
    lockfile: { path: 'migration_lock.toml', content: null },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value: sql } },
    })),
  };
}
