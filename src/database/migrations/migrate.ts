import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { withAdvisoryLock, withClient } from '../advisory-lock.ts';
import { sqlState } from '../faults.ts';
import { transactionOn } from '../transaction.ts';
import { givingWay, HeldUpOthers } from './give-way.ts';
import { type Migration, projectPrisma, readMigrations } from './migration-files.ts';

// Applies migrations without Prisma's native engine, which is a separate download, and without its WebAssembly build.
// That one uses adapter-pg, whose `executeScript` cuts a script at every semicolon, also inside function bodies, and runs
// the pieces one by one: a failure leaves a half-made database that refuses all further migrations. Here a migration and
// its record commit together or not at all. The records are exactly those of `prisma migrate deploy`, which can be used
// on the same database.

/** The advisory lock that Prisma's own commands take while they migrate. */
const PRISMA_MIGRATE_LOCK = 72707369;

/** The definition of Prisma's table of migrations, as Prisma writes it. */
const createMigrationsTable = `create table if not exists _prisma_migrations (
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
export class MigrationError extends Error {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'MigrationError';
  }
}

export interface MigrateOptions {
  readonly prismaDirectory?: string;
  /** The folder of the embedded server, if the database is on one: errors name it as the folder to remove for a reset. */
  readonly dataDirectory?: string | undefined;
  /** Takes a line about what is done. */
  readonly log?: (line: string) => void;
  /** How long and how often it waits for locks, and others for its locks: for tests only. */
  readonly patience?: Patience;
}

/**
 * How a migration and those who use the tables wait for each other. Either way the migration is the one that ends: it is rolled
 * back and tried again. Both times are much shorter than the second after which Postgres looks for deadlocks, since it would end a
 * request as well as the migration, and than the two seconds that a request waits for a lock.
 */
interface Patience {
  /** How many milliseconds a statement waits for a lock. All that comes after it waits behind it, also reads. */
  readonly lockMs: number;
  /** How many milliseconds others may wait for the locks that the migration holds or waits for. */
  readonly othersMs: number;
  /** How many milliseconds pass before the next attempt. */
  readonly pauseMs: number;
  readonly attempts: number;
}

const usualPatience: Patience = { lockMs: 200, othersMs: 500, pauseMs: 4_000, attempts: 60 };

interface MigrationRecord {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished_at: Date | null;
}

/**
 * Applies the migrations that the database does not have yet. Of several processes that start at once, one migrates and
 * the others wait. Migrations that only the database knows are ignored: a newer version of the program has applied them.
 *
 * @returns the names of the migrations applied now, none when the database was up to date
 * @throws MigrationError when a migration fails (it is rolled back), or the database's history contradicts the files
 */
export async function migrate(
  databaseUrl: string,
  {
    prismaDirectory = projectPrisma,
    dataDirectory,
    log = () => undefined,
    patience = usualPatience,
  }: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  const migrations = await readMigrations(prismaDirectory);
  const missing = await withClient(databaseUrl, (client) => pending(client, migrations, dataDirectory));
  if (missing.length === 0) return { applied: [] };
  return withAdvisoryLock(databaseUrl, PRISMA_MIGRATE_LOCK, async (client) => {
    const applied: string[] = [];
    const found = await pending(client, migrations, dataDirectory);
    if (found.length === migrations.length) await requireUnicode(client);
    await withClient(databaseUrl, async (watching) => {
      for (const migration of found) {
        await applyPatiently({ client, watching }, migration, patience, log);
        applied.push(migration.name);
        log(`applied the migration ${migration.name}`);
      }
    });
    return { applied };
  });
}

/**
 * Checks that the database has all migrations of this program.
 * @throws MigrationError when one is missing, or as `migrate` does
 */
export async function verifyMigrations(
  databaseUrl: string,
  { prismaDirectory = projectPrisma, dataDirectory }: Omit<MigrateOptions, 'patience' | 'log'> = {},
): Promise<void> {
  const migrations = await readMigrations(prismaDirectory);
  const missing = await withClient(databaseUrl, async (client) => {
    await client.query(readAsServing);
    return pending(client, migrations, dataDirectory);
  });
  if (missing.length === 0) return;
  if (dataDirectory !== undefined) {
    throw new MigrationError(`The database in ${dataDirectory} lacks migrations: "npm start" applies them.`);
  }
  throw new MigrationError(
    `The database lacks ${missing.length === 1 ? 'the migration' : 'the migrations'} ${missing.map(({ name }) => name).join(', ')}. Run "npm run migrate" with the address of the tables' owner in DATABASE_OWNER_URL, or start with MIGRATE=on.`,
  );
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
  const records = new Map((await readRecords(client)).map((record) => [record.migration_name, record]));
  for (const { migration_name, finished_at } of records.values()) {
    if (finished_at === null) {
      throw new MigrationError(
        `Migration ${migration_name} was begun by another tool and did not finish. Repair the database by hand and tell it so with "prisma migrate resolve".`,
      );
    }
  }
  const [first] = migrations;
  const [firstRecord] = [...records.keys()].sort();
  const reset = resetAdvice(client, dataDirectory);
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

/** Says how to start again with an empty database. */
function resetAdvice({ database }: pg.Client, dataDirectory: string | undefined): string {
  if (dataDirectory !== undefined) return `remove the folder ${dataDirectory} and start again`;
  return `drop the database "${database}", create it anew and start again, or set DATABASE_URL to another`;
}

async function readRecords(client: pg.Client): Promise<MigrationRecord[]> {
  try {
    const { rows } = await client.query<MigrationRecord>(
      'select migration_name, checksum, finished_at from _prisma_migrations where rolled_back_at is null',
    );
    return rows;
  } catch (error) {
    if (sqlState(error) === UNDEFINED_TABLE) return [];
    throw error;
  }
}

const UNDEFINED_TABLE = '42P01';

/** The connections of a migration: one that it runs on, and one from which its locks are watched. */
interface Connections {
  readonly client: pg.Client;
  readonly watching: pg.Client;
}

/**
 * Applies a migration, and again when it has waited for a lock for too long, or others for its locks: each attempt is rolled back
 * whole.
 * @throws MigrationError
 */
async function applyPatiently(
  connections: Connections,
  migration: Migration,
  patience: Patience,
  log: (line: string) => void,
): Promise<void> {
  const { attempts, pauseMs } = patience;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply(connections, migration, patience);
    } catch (error) {
      const waited = waitIn(error);
      if (!waited) throw migrationFailure(migration, error);
      if (attempt === attempts) throw migrationFailure(migration, error, withoutOthers);
      log(`the migration ${migration.name} ${waited} (attempt ${attempt} of ${attempts})`);
      await delay(pauseMs);
    }
  }
}

const withoutOthers = 'End the transactions that stay open, or stop the instances, and run it again';

/** Says what the failure of an attempt has waited for; undefined where waiting does not help. */
function waitIn(error: unknown): string | undefined {
  if (error instanceof HeldUpOthers) return 'makes way for other sessions, which wait for what it has locked';
  return LOCK_STATES.has(sqlState(error) ?? '') ? 'waits for a lock that another session holds' : undefined;
}

/** The SQLSTATEs of a lock timeout and a deadlock. */
const LOCK_STATES = new Set(['55P03', '40P01']);

async function apply(
  { client, watching }: Connections,
  { name, sql, checksum }: Migration,
  { lockMs, othersMs }: Patience,
): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const way = { pid: rows[0]?.pid ?? 0, othersMs, exceptLock: PRISMA_MIGRATE_LOCK };
  await givingWay(watching, way, () =>
    transactionOn(client, async () => {
      await client.query(`set local lock_timeout = ${lockMs}`);
      await client.query(createMigrationsTable);
      await client.query(sql);
      await client.query(
        `insert into _prisma_migrations (id, migration_name, checksum, finished_at, applied_steps_count)
         values (gen_random_uuid()::text, $1, $2, clock_timestamp(), 1)`,
        [name, checksum],
      );
    }),
  );
}

function migrationFailure({ name, sql }: Migration, error: unknown, advice?: string): Error {
  const cause = error instanceof HeldUpOthers ? error.cause : error;
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
