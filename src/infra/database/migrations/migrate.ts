import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { withAdvisoryLock, withClient } from '../advisory-lock.ts';
import { sqlState } from '../faults.ts';
import type { Queryable } from '../statement.ts';
import { transactionOn } from '../transaction.ts';
import { type Migration, projectPrisma, readMigrations } from './migration-files.ts';

// Applies migrations without Prisma's native engine, which is a separate download, and without its WebAssembly build.
// That one uses adapter-pg, whose `executeScript` cuts a script at every semicolon, also inside function bodies, and runs
// the pieces one by one: a failure leaves a half-made database that refuses all further migrations. Here a migration and
// its record commit together or not at all. The records are exactly those of `prisma migrate deploy`, which can be used
// on the same database.

/** The advisory lock that Prisma's own commands take while they migrate. */
const PRISMA_MIGRATE_LOCK = 72707369;

/** The definition of Prisma's table of migrations, as Prisma writes it. */
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

/** Takes the role that reads the table of migrations, where the login itself may not. */
const readAsServing = `select set_config('role', 'gateway_serving', false) from pg_class c
  where c.relname = '_prisma_migrations' and c.relnamespace = 'public'::regnamespace
    and not (has_schema_privilege(c.relnamespace, 'usage') and has_table_privilege(c.oid, 'select'))`;

/**
 * Says why the database cannot be migrated and what to do about it. The message is for the person who started the
 * program; it is printed without a stack.
 */
export class MigrationError extends Error {}

export interface MigrateOptions {
  readonly prismaDirectory?: string;
  /** The folder of the embedded server, if the database is on one: errors name it as the folder to remove for a reset. */
  readonly dataDirectory?: string | undefined;
  /** Takes a line about what is done. */
  readonly log?: (line: string) => void;
  /** How long and how often it waits for locks: for tests only. */
  readonly patience?: Patience;
}

/**
 * How a migration waits for locks that others hold. Its statements wait much less than the second after which Postgres looks for
 * deadlocks, in which it might end a request, and than the two seconds that a request waits for a lock: all that comes after a
 * waiting statement waits behind it, also reads.
 */
interface Patience {
  /** How many milliseconds a statement waits for a lock. */
  readonly lockMs: number;
  /** How many milliseconds pass before the next attempt. */
  readonly pauseMs: number;
  readonly attempts: number;
}

const usualPatience: Patience = { lockMs: 200, pauseMs: 4_000, attempts: 60 };

/**
 * Applies the migrations that the database does not have yet. Of several processes that start at once, one migrates and
 * the others wait. Migrations that only the database knows are ignored: a newer version of the program has applied them.
 *
 * @returns the names of the migrations applied now, none when the database was up to date
 * @throws MigrationError when a migration fails (it is rolled back), or the database's history contradicts the files
 */
export async function migrate(databaseUrl: string, options: MigrateOptions = {}): Promise<{ applied: string[] }> {
  const { prismaDirectory = projectPrisma, dataDirectory, log = () => undefined, patience = usualPatience } = options;
  const migrations = await readMigrations(prismaDirectory);
  const missing = await withClient(databaseUrl, (client) => pending(client, migrations, dataDirectory));
  if (missing.length === 0) return { applied: [] };
  return withAdvisoryLock(databaseUrl, PRISMA_MIGRATE_LOCK, async (client) => {
    const found = await pending(client, migrations, dataDirectory);
    if (found.length === migrations.length) await requireUnicode(client);
    for (const migration of found) {
      await applyPatiently(client, migration, patience, log);
      log(`applied the migration ${migration.name}`);
    }
    return { applied: found.map(({ name }) => name) };
  });
}

/**
 * Checks that the database has all migrations of this program.
 * @throws MigrationError when one is missing, or as `migrate` does
 */
export async function verifyMigrations(
  databaseUrl: string,
  { prismaDirectory = projectPrisma, dataDirectory }: MigrateOptions = {},
): Promise<void> {
  const migrations = await readMigrations(prismaDirectory);
  const missing = await withClient(databaseUrl, async (client) => {
    await client.query(readAsServing);
    return pending(client, migrations, dataDirectory);
  });
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(', ');
  const remedy =
    dataDirectory === undefined
      ? `Run "npm run migrate" with the address of the tables' owner in DATABASE_OWNER_URL, or start with MIGRATE=on.`
      : '"npm start" applies them.';
  throw new MigrationError(`The database lacks the migrations ${names}. ${remedy}`);
}

/**
 * Refuses an empty database whose encoding cannot hold all names, or counts their bytes. On a machine without a locale it is
 * SQL_ASCII unless somebody chooses.
 */
async function requireUnicode(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('show server_encoding');
  const encoding = rows[0]?.server_encoding;
  if (encoding === 'UTF8') return;
  throw new MigrationError(
    `The database "${client.database}" has the encoding ${encoding}, and needs UTF8. Drop it, and make it anew: createdb --encoding=UTF8 --template=template0 ${client.database}`,
  );
}

async function pending(
  client: pg.Client,
  migrations: readonly Migration[],
  dataDirectory: string | undefined,
): Promise<Migration[]> {
  const records = new Map((await readRecords(client)).map((record) => [record.name, record]));
  const unfinished = [...records.values()].find(({ finished }) => !finished);
  if (unfinished) {
    throw new MigrationError(
      `Migration ${unfinished.name} was begun by another tool and did not finish. Repair the database by hand and tell it so with "prisma migrate resolve".`,
    );
  }
  const [first] = migrations;
  const [firstRecord] = records.keys();
  const reset =
    dataDirectory === undefined
      ? `drop the database "${client.database}", create it anew and start again, or set DATABASE_URL to another`
      : `remove the folder ${dataDirectory} and start again`;
  if (first && firstRecord !== undefined && !records.has(first.name)) {
    throw new MigrationError(
      `This database was made by an earlier series of migrations (it begins with ${firstRecord}), which ${first.name} has replaced, and cannot be brought to the present schema. To reset it, which deletes all that it holds, ${reset}.`,
    );
  }
  return migrations.filter(({ name, checksum }) => {
    const record = records.get(name);
    if (record && record.checksum !== checksum) {
      throw new MigrationError(
        `Migration ${name} was changed after this database applied it. Restore the file and put the change into a new migration (npm run migration -- NAME). Or, in development, reset the database, which deletes all that it holds, ${reset}.`,
      );
    }
    return !record;
  });
}

/** Says whether a newer version of the program has migrated the database. */
export async function hasNewerMigrations(on: Queryable): Promise<boolean> {
  const known = new Set((await readMigrations(projectPrisma)).map(({ name }) => name));
  return (await readRecords(on)).some(({ name }) => !known.has(name));
}

/** Reads what `_prisma_migrations` says was applied; nothing where there is no such table yet. */
async function readRecords(client: Queryable) {
  try {
    const { rows } = await client.query<{ name: string; checksum: string; finished: boolean }>(
      `select migration_name as name, checksum, finished_at is not null as finished
       from public._prisma_migrations where rolled_back_at is null order by 1`,
    );
    return rows;
  } catch (error) {
    if (sqlState(error) === UNDEFINED_TABLE) return [];
    throw error;
  }
}

const UNDEFINED_TABLE = '42P01';

/**
 * Applies a migration, and again when it has waited for a lock for too long: each attempt is rolled back whole.
 * @throws MigrationError
 */
async function applyPatiently(
  client: pg.Client,
  migration: Migration,
  { lockMs, pauseMs, attempts }: Patience,
  log: (line: string) => void,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transactionOn(client, async () => {
        await client.query(`set local lock_timeout = ${lockMs}`);
        // Whatever the login, the database or PGOPTIONS say: the tables belong there.
        await client.query('set local search_path = public');
        await client.query(createMigrationsTable);
        await client.query(migration.sql);
        await client.query(
          `insert into public._prisma_migrations (id, migration_name, checksum, finished_at, applied_steps_count)
           values (gen_random_uuid()::text, $1, $2, clock_timestamp(), 1)`,
          [migration.name, migration.checksum],
        );
      });
    } catch (error) {
      if (!LOCK_STATES.has(sqlState(error) ?? '')) throw migrationFailure(migration, error);
      const others = await oldestTransaction(client);
      if (attempt === attempts)
        throw migrationFailure(migration, error, `End ${others}, or stop the instances, and run it again`);
      log(
        `the migration ${migration.name} waits for a lock of another session, perhaps ${others} (attempt ${attempt} of ${attempts})`,
      );
      await delay(pauseMs);
    }
  }
}

/** The SQLSTATEs of a lock timeout and a deadlock. */
const LOCK_STATES = new Set(['55P03', '40P01']);

/** Names the transaction that has been open for longest, of those that this login may see: the likely holder of a lock. */
async function oldestTransaction(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; application: string; since: string }>(
    `select pid, application_name as application, to_char(xact_start, 'HH24:MI:SS TZ') as since from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
       and xact_start is not null and wait_event_type is distinct from 'Lock'
     order by xact_start limit 1`,
  );
  const [oldest] = rows;
  if (!oldest) return 'a transaction that stays open';
  return `the transaction of process ${oldest.pid} (${oldest.application || 'no application name'}), open since ${oldest.since}`;
}

function migrationFailure({ name, sql }: Migration, cause: unknown, advice?: string): Error {
  if (!(cause instanceof pg.DatabaseError)) {
    return new MigrationError(`Migration ${name} failed: ${cause}`, { cause });
  }
  const line = cause.position && `:${sql.slice(0, Number(cause.position)).split('\n').length}`;
  const detail = [cause.message, cause.detail, cause.hint, advice].filter(Boolean).join('. ');
  return new MigrationError(
    `Migration ${name} failed and was rolled back: ${detail} (SQLSTATE ${cause.code}, migration.sql${line ?? ''}).`,
    { cause },
  );
}
