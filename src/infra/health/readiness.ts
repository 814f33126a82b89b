import type pg from 'pg';
import type { Logger } from 'pino';
import { OwnConnection } from '../database/connections/own-connection.ts';
import type { Database } from '../database/database.ts';
import { sqlState } from '../database/faults.ts';
import { projectPrisma, readMigrations } from '../database/migrations/migration-files.ts';
import { statement } from '../database/statement.ts';
import { inRolledBackTransaction } from '../database/transaction.ts';
import { singleFlight } from '../instruments/single-flight.ts';
import { within } from '../instruments/within.ts';

/** The state of the database, as found by a check. */
export interface Readiness {
  readonly database: boolean;
  readonly writable: boolean;
  /** Whether the database has all of this program's migrations. */
  readonly schema: boolean;
  /** Whether the feed advances: false if an event has waited in the outbox for too long. */
  readonly feed: boolean;
}

export interface ReadinessLimits {
  /** The time limit of a check, in milliseconds, including the time to connect. */
  readonly answerMs: number;
  /** How long the same event may remain the oldest in the outbox, in milliseconds. */
  readonly standstillMs: number;
  /** The interval between the instance's own checks, in milliseconds. */
  readonly everyMs: number;
  /** How long a session is used, in ms. A new one then shows whether the server still accepts sessions. */
  readonly sessionMs: number;
}

const readinessLimits: ReadinessLimits = { answerMs: 1_000, standstillMs: 15_000, everyMs: 5_000, sessionMs: 30_000 };

const away: Readiness = { database: false, writable: false, schema: false, feed: false };

const stateStatement = statement<{ writable: boolean; applied: number; oldest: bigint | null }>(
  'readiness',
  `select not (pg_is_in_recovery() or current_setting('transaction_read_only')::boolean) as writable,
     (select count(*)::int from unnest($1::text[], $2::text[]) as mine (name, checksum)
      where exists (select from public._prisma_migrations m
        where m.migration_name = mine.name and m.checksum = mine.checksum
          and m.finished_at is not null and m.rolled_back_at is null)) as applied,
     oldest_waiting() as oldest`,
);

/** Calls the functions that all authenticated requests and all commands need. The calls change nothing. */
const requestStatement = statement<object>(
  'readiness_of_requests',
  `select (select count(*) from find_api_token('')),
     commit_batches('[[[{"platform": "00000000-0000-0000-0000-000000000000", "plan": {}}]]]')`,
);

const patienceStatement = statement<object>('readiness_patience', `select set_config('lock_timeout', '200', true)`);

/** The SQLSTATE of a lock timeout. Requests that need the locked table are refused; all other requests are served. */
const locked = '55P03';

/** The SQLSTATEs of a missing table, column or function, or a missing privilege on one. */
const schemaStates = new Set(['42P01', '42703', '42883', '42501']);

/** Checks the database every few seconds and on request, on its own connection, because the pools may be exhausted. */
export class ReadinessWatch {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #limits: ReadinessLimits;
  readonly #migrations = readMigrations(projectPrisma);
  readonly #connection: OwnConnection;
  /** Checks now, or awaits the check in progress, for at most the time limit. */
  readonly check = singleFlight(() => this.#checkNow());
  /** Whether the instance has started and is not stopping. Otherwise, it is not ready. */
  isServing = false;
  /** The result of the last check. */
  last: Readiness = { database: true, writable: true, schema: true, feed: true };
  #oldest: { readonly id: bigint; readonly since: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(database: Database, log: Logger, limits: Partial<ReadinessLimits> = {}) {
    this.#database = database;
    this.#log = log;
    this.#limits = { ...readinessLimits, ...limits };
    const { answerMs, sessionMs } = this.#limits;
    const settings = { connectionTimeoutMillis: answerMs, query_timeout: answerMs };
    const config = () => ({ ...database.connectionLikePool('readiness'), ...settings });
    this.#connection = new OwnConnection(config, undefined, sessionMs);
    // Without this handler, an unreadable migrations folder would crash the process before a check awaits this promise.
    this.#migrations.catch(() => undefined);
  }

  open(): void {
    this.#timer = setInterval(() => void this.check(), this.#limits.everyMs).unref();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    // Drop the connection first: the server might not respond, or the connection might still be opening.
    this.#connection.drop();
    void this.#connection.close();
  }

  async answer(): Promise<{ readonly status: 200 | 503; readonly body: object }> {
    const readiness = await this.check();
    const ready = this.isServing && isReady(readiness);
    const status = !ready ? 'unavailable' : readiness.feed ? 'ok' : 'degraded';
    return { status: ready ? 200 : 503, body: { status, ...readiness } };
  }

  async #checkNow(): Promise<Readiness> {
    let failure: unknown;
    const readiness = await within(this.#limits.answerMs, this.#read()).catch((error: unknown) => {
      failure = error;
      this.#connection.drop();
      return schemaStates.has(sqlState(error) ?? '') ? { ...away, database: true } : away;
    });
    // A read-only session stays read-only, even if new sessions can write.
    if (!readiness.writable) {
      this.#database.connectionLikePool('readiness').hosts?.suspect();
      this.#connection.drop();
    }
    if (!this.#closed) this.#report(readiness, failure);
    this.last = readiness;
    return readiness;
  }

  async #read(): Promise<Readiness> {
    const migrations = await this.#migrations;
    const client = await this.#connection.get();
    const names = migrations.map(({ name }) => name);
    const checksums = migrations.map(({ checksum }) => checksum);
    const [state] = await stateStatement(client, names, checksums);
    if (!state) throw new Error('readiness returned no row');
    const schema = state.applied === migrations.length;
    // If the database is read-only or lacks the schema, the trial request would only fail for the same reason.
    if (state.writable && schema) await tryRequest(client);
    return { database: true, writable: state.writable, schema, feed: this.#moves(state.oldest) };
  }

  /** Returns whether the feed advances: false if the oldest event in the outbox has been the same for too long. */
  #moves(oldest: bigint | null): boolean {
    const now = performance.now();
    if (oldest === null) this.#oldest = undefined;
    else if (this.#oldest?.id !== oldest) this.#oldest = { id: oldest, since: now };
    return this.#oldest === undefined || now - this.#oldest.since < this.#limits.standstillMs;
  }

  #report(now: Readiness, failure: unknown): void {
    const before = this.last;
    const log = this.#log.child({ readiness: now });
    if (before.database !== now.database) {
      if (now.database) log.info('the database answers again');
      else log.error({ err: failure }, 'the database does not answer');
    }
    if (!now.database) return;
    if (before.schema && !now.schema)
      log.error(
        { err: failure },
        'the database lacks migrations or rights that this version needs: `npm run ops -- doctor` names them',
      );
    if (before.writable && !now.writable && now.schema) log.error('the database is read-only');
    if (before.feed && !now.feed && now.schema)
      log.error({ oldest: this.#oldest?.id.toString() }, 'the feed is stalled: events wait in the outbox');
    if (!before.feed && now.feed) log.info('the feed advances again');
    if (!isReady(before) && isReady(now)) log.info('the database is ready for this instance');
  }
}

async function tryRequest(client: pg.Client): Promise<void> {
  try {
    await inRolledBackTransaction(client, async () => {
      await patienceStatement(client);
      await requestStatement(client);
    });
  } catch (error) {
    if (sqlState(error) !== locked) throw error;
  }
}

/** Returns whether an instance can serve requests. A stalled feed blocks no request, so it does not count. */
function isReady({ database, writable, schema }: Readiness): boolean {
  return database && writable && schema;
}
