import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { withAdvisoryLock, withClient } from '../advisory-lock.ts';
import { type Blocker, blockersOf, lockSessions } from '../blockers.ts';
import { OperatorError, sqlState } from '../faults.ts';
import type { Queryable } from '../statement.ts';
import { transactionOn } from '../transaction.ts';
import { type Migration, projectPrisma, readMigrations } from './migration-files.ts';

// Applies migrations without Prisma's native engine, which is a separate download. Its WebAssembly build splits a
// script at every semicolon, even inside function bodies, so a failure leaves a half-migrated database that refuses all
// further migrations. Here, a migration and its record commit together or not at all. The records are exactly those of
// `prisma migrate deploy`, so that command can be used on the same database.

const PRISMA_MIGRATE_LOCK = 72707369;

/** The definition of Prisma's migrations table, as Prisma writes it. */
const createMigrationsTable = `create table if not exists public._prisma_migrations (
  id varchar(36) primary key not null,
  checksum varchar(64) not null,
  finished_at timestamptz,
  migration_name varchar(255) not null,
  logs text,
  rolled_back_at timestamptz,
  started_at timestamptz not null default now(),
  applied_steps_count integer not null default 0
)`;

/** Switches to the role that may read Prisma's migrations table, if the login itself may not. */
const readAsServing = `select set_config('role', 'gateway_serving', false) from pg_class c
  where c.relname = '_prisma_migrations' and c.relnamespace = 'public'::regnamespace
    and not (has_schema_privilege(c.relnamespace, 'usage') and has_table_privilege(c.oid, 'select'))`;

export interface MigrateOptions {
  readonly prismaDirectory?: string;
  /** The embedded server's folder, if it holds the database. Errors name it as the folder to remove for a reset. */
  readonly dataDirectory?: string | undefined;
  readonly log?: (line: string) => void;
  /** How long to wait, across all attempts, for locks that other sessions hold, in milliseconds. For tests only. */
  readonly patienceMs?: number;
}

/**
 * How long a migration waits for a lock, in milliseconds: much less than the two seconds that a request waits, because
 * every later statement, even a read, queues behind the waiting migration.
 */
const lockMs = 200;
/** How long a migration keeps waiting after deadlock_timeout, which is when Postgres cancels a blocking autovacuum. */
const graceMs = 500;
/** The pause before the next attempt, in milliseconds, if a blocking transaction has been open for `longSeconds`. */
const pauseMs = 4_000;
const longSeconds = 5;

/**
 * Applies the migrations that the database lacks. If several processes start together, one migrates while the others
 * wait. Migrations that exist only in the database, from a newer version of the program, are ignored.
 * @returns the names of the migrations that were applied
 * @throws OperatorError if a migration fails (it is rolled back), or the database's history contradicts the files
 */
export async function migrate(databaseUrl: string, options: MigrateOptions = {}): Promise<{ applied: string[] }> {
  const { log = () => undefined, patienceMs = 240_000 } = options;
  return withClient(databaseUrl, async (watcher) => {
    const missing = await pending(watcher, options).catch((cause: unknown) => {
      if (sqlState(cause) !== '42501') throw cause;
      const advice = "use a connection URL for the tables' owner (DATABASE_OWNER_URL)";
      throw new OperatorError(`The login ${watcher.user} may not apply migrations: ${advice}.`, { cause });
    });
    if (missing.length === 0) return { applied: [] };
    const apply = async (client: pg.Client) => {
      const found = await pending(client, options);
      for (const migration of found) {
        await applyPatiently(migration, client, watcher, { patienceMs, log });
        log(`applied the migration ${migration.name}`);
      }
      return { applied: found.map(({ name }) => name) };
    };
    return withAdvisoryLock(databaseUrl, PRISMA_MIGRATE_LOCK, apply, 'migrate');
  });
}

/** Checks that all of this program's migrations have been applied to the database. @throws OperatorError */
export async function verifyMigrations(databaseUrl: string, options: MigrateOptions = {}): Promise<void> {
  const missing = await withClient(databaseUrl, async (client) => {
    await client.query(readAsServing);
    return pending(client, options);
  });
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(', ');
  const remedy =
    options.dataDirectory === undefined
      ? `Run "npm run migrate" with a connection URL for the tables' owner in DATABASE_OWNER_URL, or start with MIGRATE=on.`
      : '"npm start" applies them.';
  throw new OperatorError(`The database lacks the migrations ${names}. ${remedy}`);
}

/** Returns the migrations that the database lacks. @throws OperatorError if its history contradicts the files */
async function pending(client: pg.Client, { prismaDirectory = projectPrisma, dataDirectory }: MigrateOptions) {
  const migrations = await readMigrations(prismaDirectory);
  const records = new Map((await readRecords(client)).map((record) => [record.name, record]));
  const [oldest] = records.keys();
  if (oldest === undefined) {
    await requireUnicode(client);
    return migrations;
  }
  const unfinished = [...records.values()].find(({ finished }) => !finished);
  if (unfinished) {
    throw new OperatorError(
      `Migration ${unfinished.name} was started by another tool and did not finish. Repair the database by hand, then run "prisma migrate resolve".`,
    );
  }
  const reset =
    dataDirectory === undefined
      ? `drop the database "${client.database}", create it again and restart, or set DATABASE_URL to another`
      : `remove the folder ${dataDirectory} and start again`;
  const [first] = migrations;
  if (first && !records.has(first.name)) {
    throw new OperatorError(
      `This database was created by an earlier series of migrations (starting with ${oldest}), which ${first.name} has replaced. It cannot be migrated to the current schema. To reset it (this deletes all data), ${reset}.`,
    );
  }
  const changed = migrations.find(({ name, checksum }) => checksum !== (records.get(name)?.checksum ?? checksum));
  if (changed) {
    throw new OperatorError(
      `Migration ${changed.name} was changed after this database applied it. Restore the file and put the change into a new migration (npm run migration -- NAME). Or, in development, reset the database (this deletes all data): ${reset}.`,
    );
  }
  return migrations.filter(({ name }) => !records.has(name));
}

/** Refuses a database whose encoding is not UTF8, since it might reject names or count bytes instead of characters. */
async function requireUnicode(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('show server_encoding');
  const encoding = rows[0]?.server_encoding;
  if (encoding === 'UTF8') return;
  throw new OperatorError(
    `The database "${client.database}" has the encoding ${encoding}, but needs UTF8. Drop it, and create it again: createdb --encoding=UTF8 --template=template0 ${client.database}`,
  );
}

/** Returns whether a newer version of the program has migrated the database. */
export async function hasNewerMigrations(on: Queryable): Promise<boolean> {
  const known = new Set((await readMigrations(projectPrisma)).map(({ name }) => name));
  return (await readRecords(on)).some(({ name }) => !known.has(name));
}

async function readRecords(client: Queryable) {
  try {
    const { rows } = await client.query<{ name: string; checksum: string; finished: boolean }>(
      `select migration_name as name, checksum, finished_at is not null as finished
       from public._prisma_migrations where rolled_back_at is null order by 1`,
    );
    return rows;
  } catch (error) {
    // The table does not exist yet.
    if (sqlState(error) === '42P01') return [];
    throw error;
  }
}

/** Applies a migration, and retries while other sessions hold locks that it needs. `watcher` finds these sessions. */
async function applyPatiently(
  migration: Migration,
  client: pg.Client,
  watcher: pg.Client,
  { patienceMs, log }: Required<Pick<MigrateOptions, 'patienceMs' | 'log'>>,
): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const until = performance.now() + patienceMs;
  let blockers: readonly Blocker[] = [];
  let said = '';
  for (;;) {
    const awaitsVacuum = blockers.some(({ yields }) => yields);
    const attempt = apply(client, migration, awaitsVacuum).catch((reason: unknown) => reason);
    while (!(await Promise.race([attempt.then(() => true), delay(25, false)]))) {
      const sessions = await lockSessions(watcher);
      const waits = sessions.some(({ pid, blockedBy }) => pid === rows[0]?.pid && blockedBy.length > 0);
      const found = waits ? await blockersOf(watcher, sessions) : [];
      // If an attempt ends before its blockers are found, as in a deadlock, those of the previous attempt are used.
      if (found.length > 0) blockers = found;
    }
    const error = await attempt;
    if (error === undefined) return;
    // Another session holds a lock that the migration needs, or is waiting for one of the migration's locks.
    if (!['55P03', '40P01'].includes(sqlState(error) ?? '')) throw migrationFailure(migration, error);
    const others = blockers.map(({ name }) => name).join('; ') || 'others';
    if (performance.now() >= until)
      throw migrationFailure(
        migration,
        error,
        `It was waiting for ${others}. End whatever is blocking it and run the command again`,
      );
    // Names cannot be compared, because a blocker's name contains its transaction's age.
    const who = blockers.map(({ id }) => id).join();
    if (who !== said) log(`the migration ${migration.name} is waiting for ${others} and will be tried again`);
    said = who;
    const isLong = blockers.some(({ yields, openSeconds }) => !yields && openSeconds > longSeconds);
    await delay(isLong ? pauseMs : Math.random() * 100);
  }
}

async function apply(client: pg.Client, migration: Migration, awaitsVacuum: boolean): Promise<void> {
  await transactionOn(client, async () => {
    await client.query(
      `select set_config('lock_timeout', ($1::int + case when $2 then setting::int else 0 end)::text, true)
       from pg_settings where name = 'deadlock_timeout'`,
      [awaitsVacuum ? graceMs : lockMs, awaitsVacuum],
    );
    // The first setting ends the running statement and releases its locks if this process dies. The second puts the
    // tables into the schema `public`, whatever search path the login, the database or PGOPTIONS sets.
    await client.query(
      `select set_config('client_connection_check_interval', '1s', true) where version() !~* 'mingw|visual c|windows';
       set local search_path = public`,
    );
    await client.query(createMigrationsTable);
    await client.query(migration.sql);
    await client.query(
      `insert into public._prisma_migrations (id, migration_name, checksum, finished_at, applied_steps_count)
       values (gen_random_uuid()::text, $1, $2, clock_timestamp(), 1)`,
      [migration.name, migration.checksum],
    );
  });
}

function migrationFailure({ name, sql }: Migration, cause: unknown, advice?: string): Error {
  if (!(cause instanceof pg.DatabaseError)) return new OperatorError(`Migration ${name} failed: ${cause}`, { cause });
  const line = cause.position ? `:${sql.slice(0, Number(cause.position)).split('\n').length}` : '';
  const detail = [cause.message, cause.detail, cause.hint, advice].filter(Boolean).join('. ');
  const place = `SQLSTATE ${cause.code}, migration.sql${line}`;
  return new OperatorError(`Migration ${name} failed and was rolled back: ${detail} (${place}).`, { cause });
}
