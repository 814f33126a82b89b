import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { singleFlight } from '../../instruments/single-flight.ts';
import { serversOf } from '../connections/address.ts';
import { OwnConnection } from '../connections/own-connection.ts';
import type { TextRead } from '../connections/read-scope.ts';
import { ServingPool } from '../connections/serving-pool.ts';
import { TextReads } from '../connections/text-reads.ts';
import { connectionConfig, openPool } from '../database.ts';
import { statement } from '../statement.ts';
import { lsnOf, lsnText, type Position, type PrimaryPosition } from './primary-position.ts';

interface ReplicaOptions {
  readonly url: string;
  /** Its number in the setting, starting at 1, for logs and metrics. */
  readonly number: number;
  readonly poolSize: number;
  /** The maximum lag behind the primary in milliseconds. A replica that lags more serves no reads. */
  readonly maxLagMs: number;
  /** The maximum time that a read waits for the replica to replay a position, in milliseconds. */
  readonly waitMs: number;
}

const notChecked = 'it has not been compared with the primary yet';

/** How long a replica may take to report its position, or a read may wait for a connection to it, in milliseconds. */
const answerMs = 1_000;

/** The statement timeout on a replica, in milliseconds. Even 2 s later, half the deadline is left for the primary. */
const statementMs = 3_000;

/** A replica's additional session settings, which give each statement its own snapshot, later than the guard's. */
const settings = ['default_transaction_isolation=read\\ committed'];

const stateStatement = statement<{ lsn: string | null; follows: boolean }>(
  'replica_state',
  "select pg_last_wal_replay_lsn()::text as lsn, has_replayed('0/0', $1) as follows",
);
const replayStatement = statement<{ lsn: string | null }>(
  'replica_position',
  'select pg_last_wal_replay_lsn()::text as lsn',
);

/** Serves reads from one standby. */
export class Replica {
  readonly number: number;
  /** Checks the identity and the position of the replica, one check at a time. */
  readonly check = singleFlight(() => this.#check());
  readonly #options: ReplicaOptions;
  readonly #primary: PrimaryPosition;
  readonly #log: Logger;
  readonly #running = new Set<(error: Error) => void>();
  readonly #meter = new LagMeter();
  #pool: pg.Pool;
  #reads: TextReads;
  readonly #connection: OwnConnection;
  readonly #poll = singleFlight(() => this.#ask());
  #replayed = 0n;
  /** Its lag behind the primary at the last check; undefined if it did not respond. */
  lag: Lag | undefined;
  /** Why it serves no reads; undefined if it does. */
  trouble: string | undefined = notChecked;
  /** Whether it failed to catch up in time. It then serves only reads that require an older position. */
  #isBehind = false;
  #closed = false;

  constructor(options: ReplicaOptions, primary: PrimaryPosition, log: Logger) {
    const { url, number } = options;
    this.#options = options;
    this.#primary = primary;
    this.number = number;
    this.#log = log.child({ replica: number, host: serversOf(url)[0]?.host });
    this.#pool = poolOf(options);
    this.#reads = new TextReads(this.#pool);
    const limits = { connectionTimeoutMillis: answerMs, query_timeout: answerMs };
    const config = () => connectionConfig({ url, role: 'gateway_serving', use: 'replica-watch' });
    this.#connection = new OwnConnection(() => ({ ...config(), ...limits }));
  }

  get isUsable(): boolean {
    return this.trouble === undefined;
  }

  get keepsUp(): boolean {
    return this.isUsable && !this.#isBehind;
  }

  has({ lsn }: Position): boolean {
    return this.#replayed >= lsn;
  }

  /** Waits until the replica has replayed a position, for as long as a read may wait. Returns whether it has. */
  async reach(position: Position): Promise<boolean> {
    const deadline = performance.now() + this.#options.waitMs;
    while (!this.has(position)) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || !this.isUsable) return false;
      await Promise.race([this.#poll(), delay(leftMs, undefined, { ref: false })]);
    }
    return true;
  }

  /** Records that a read's wait for the replica timed out. No other read waits until the replica has caught up. */
  noteBehind(): void {
    this.#isBehind = true;
  }

  /** Runs a read, for which the replica itself checks the position. @throws ReplicaBehind */
  async read(read: TextRead, { lsn, history }: Position): Promise<string> {
    const required = { lsn: lsnText(lsn), history };
    const { promise: lost, reject } = Promise.withResolvers<never>();
    this.#running.add(reject);
    try {
      return await Promise.race([this.#reads.read(read, required), lost]);
    } finally {
      this.#running.delete(reject);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#connection.close();
    await this.#pool.end();
  }

  async #check(): Promise<void> {
    const position = await this.#primary.now().catch(() => undefined);
    if (this.#closed) return;
    // Without the primary's position, nothing can be compared, and the state stays as it is.
    if (!position) return;
    const at = performance.now();
    try {
      const [state] = await stateStatement(await this.#connection.get(), position.history);
      this.#report(this.#judge(position, at, state));
    } catch (error) {
      this.#lose(error);
    }
    if (this.isUsable) this.#isBehind = !(await this.reach(position).catch(() => false));
  }

  #judge(position: Position, at: number, state?: { lsn: string | null; follows: boolean }): string | undefined {
    if (!state || state.lsn === null || !state.follows) {
      this.lag = undefined;
      return 'it is not a standby of this database, or follows another timeline, or has not replayed the current epoch of the feed yet';
    }
    this.#replayed = lsnOf(state.lsn);
    this.lag = this.#meter.measure(position, this.#replayed, at);
    const { maxLagMs } = this.#options;
    return this.lag.seconds * 1_000 > maxLagMs ? `it is more than ${maxLagMs} ms behind` : undefined;
  }

  #report(trouble: string | undefined): void {
    const before = this.trouble;
    this.trouble = trouble;
    // The results of reads in progress may never arrive.
    if (trouble !== undefined)
      for (const reject of this.#running) reject(new Error(`the replica cannot be used: ${trouble}`));
    if (this.#closed || (before !== notChecked && (before === undefined) === (trouble === undefined))) return;
    if (trouble === undefined) this.#log.info('the replica is used for reads');
    else this.#log.warn({ trouble }, 'the replica is not used: its reads go to the primary');
  }

  async #ask(): Promise<void> {
    try {
      const [row] = await replayStatement(await this.#connection.get());
      const replayed = row?.lsn ? lsnOf(row.lsn) : 0n;
      // The replica has made no progress, so it is not queried again immediately.
      if (replayed === this.#replayed) await delay(1);
      this.#replayed = replayed;
    } catch (error) {
      this.#lose(error);
    }
  }

  #lose(error: unknown): void {
    if (this.#closed) return;
    this.#connection.drop();
    this.lag = undefined;
    // Its connections may look open but be dead.
    this.#pool.end().catch(() => undefined);
    this.#pool = poolOf(this.#options);
    this.#reads = new TextReads(this.#pool);
    this.#report(`it does not answer: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function poolOf({ url, poolSize }: ReplicaOptions): pg.Pool {
  const role = 'gateway_serving';
  const connection = connectionConfig({ url, role, use: 'replica', statementMs, settings });
  const pool = openPool(connection, { role, poolSize, statementMs, acquireTimeoutMs: answerMs });
  if (pool instanceof ServingPool) pool.leaveOneToOthers();
  return pool;
}

interface Lag {
  readonly bytes: number;
  readonly seconds: number;
}

const maxSamples = 3_600;

/** Measures how long ago the primary was at a replica's position. Postgres' own measure grows even without writes. */
class LagMeter {
  #samples: { readonly at: number; readonly lsn: bigint }[] = [];
  #history: string | undefined;

  /** @param primary the primary's position at the time `at` (milliseconds), read before `replayed` */
  measure(primary: Position, replayed: bigint, at: number): Lag {
    if (primary.history !== this.#history) this.#samples = [];
    this.#history = primary.history;
    this.#samples.push({ at, lsn: primary.lsn });
    const passed = this.#samples.findLastIndex(({ lsn }) => lsn <= replayed);
    if (passed > 0) this.#samples.splice(0, passed);
    if (this.#samples.length > maxSamples) this.#samples.splice(1, 1);
    const [since] = this.#samples;
    const bytes = primary.lsn > replayed ? Number(primary.lsn - replayed) : 0;
    return { bytes, seconds: bytes === 0 || !since ? 0 : (at - since.at) / 1_000 };
  }
}
