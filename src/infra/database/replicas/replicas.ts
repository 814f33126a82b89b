import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { replicaFallbacks, textReads } from '../../instruments/instruments.ts';
import { singleFlight } from '../../instruments/single-flight.ts';
import { serversOf } from '../connections/address.ts';
import { OwnConnection } from '../connections/own-connection.ts';
import { currentReader, type Reader, type TextRead } from '../connections/read-scope.ts';
import { ServingPool } from '../connections/serving-pool.ts';
import { ReplicaBehind, TextReads } from '../connections/text-reads.ts';
import { connectionConfig, type Database, openPool } from '../database.ts';
import { isDatabaseFault } from '../faults.ts';
import { statement } from '../statement.ts';
import { lsnOf, type Position, PrimaryPosition } from './primary-position.ts';

/** For tests only. */
interface Pace {
  /** The maximum time that a read waits for a replica, in milliseconds. */
  readonly waitMs?: number | undefined;
  /** The interval between checks, in milliseconds. */
  readonly everyMs?: number | undefined;
}

interface ReplicaSettings {
  readonly DATABASE_READ_URL: readonly string[];
  readonly DATABASE_POOL: number;
}

export type Replicas = NonNullable<ReturnType<typeof openReplicas>>;

/**
 * Opens the replicas listed in the settings, which serve reads. Returns undefined if there are none. A read includes
 * every change that was acknowledged to any client before the read began. So a replica serves a read only once it has
 * replayed the log up to the end that the primary reports. If no replica has done so, the primary serves the read.
 */
export function openReplicas(
  database: Pick<Database, 'connectionFor'>,
  { DATABASE_READ_URL: urls, DATABASE_POOL: poolSize }: ReplicaSettings,
  log: Logger,
  { waitMs = 100, everyMs = 1_000 }: Pace = {},
) {
  if (urls.length === 0) return undefined;
  const primary = new PrimaryPosition(database);
  const all = urls.map((url, at) => new Replica({ url, number: at + 1, poolSize, waitMs }, primary, log));
  let timer: NodeJS.Timeout | undefined;
  let turn = 0;
  const check = () => Promise.all(all.map((replica) => replica.check()));

  /** Returns the result of a read on a replica; undefined if the primary must serve the read. */
  async function onReplica(read: TextRead): Promise<string | undefined> {
    const fallBack = (reason: string) => void replicaFallbacks.inc({ reason });
    turn = (turn + 1) % all.length;
    const candidates = [...all.slice(turn), ...all.slice(0, turn)].filter(({ keepsUp }) => keepsUp);
    const [first] = candidates;
    if (!first) return fallBack(all.some(({ isUsable }) => isUsable) ? 'behind' : 'lost');
    const position = await primary.now();
    if (!position) return fallBack('unknown');
    const replica = candidates.find((one) => one.has(position)) ?? first;
    if (!(await replica.reach(position))) return fallBack('behind');
    try {
      return await replica.read(read, position);
    } catch (error) {
      if (isDatabaseFault(error)) void check();
      // If the statement itself is invalid, it will also fail on the primary.
      return fallBack(error instanceof ReplicaBehind ? 'behind' : 'failed');
    }
  }

  const reader: Reader = async (read, onPrimary) => {
    const text = await onReplica(read);
    textReads.inc({ where: text === undefined ? 'primary' : 'replica' });
    return text ?? onPrimary();
  };

  return {
    all,
    check,
    /** Checks the replicas immediately, then every second. A replica that does not respond does not block startup. */
    async open(): Promise<void> {
      await check();
      timer = setInterval(() => void check(), everyMs).unref();
    },
    /** Runs a request. Its reads run on a replica if one can serve them. */
    reading: <T>(work: () => T): T => currentReader.run(reader, work),
    async close(): Promise<void> {
      clearInterval(timer);
      await Promise.all([primary.close(), ...all.map((replica) => replica.close())]);
    },
  };
}

interface ReplicaOptions {
  readonly url: string;
  /** The replica's position in DATABASE_READ_URL, starting at 1, for logs and metrics. */
  readonly number: number;
  readonly poolSize: number;
  /** The maximum time that a read waits for the replica to replay a position, in milliseconds. */
  readonly waitMs: number;
}

const notChecked = 'it has not been compared with the primary yet';

/** How long a replica may take to report its position, or a read may wait for a connection to it, in milliseconds. */
const answerMs = 1_000;

/** The statement timeout on a replica, in ms. With 2 s of grace, this leaves the primary half of the deadline. */
const statementMs = 3_000;

/** A replica's additional session settings. Each read needs its own snapshot, taken after the position is checked. */
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
class Replica {
  readonly number: number;
  /** Checks the replica's identity and position, one check at a time. */
  readonly check = singleFlight(() => this.#check());
  readonly #options: ReplicaOptions;
  readonly #primary: PrimaryPosition;
  readonly #log: Logger;
  readonly #running = new Set<(error: Error) => void>();
  #reads: TextReads;
  readonly #connection: OwnConnection;
  readonly #poll = singleFlight(() => this.#ask());
  #replayed = 0n;
  /** The bytes of WAL that the replica had not replayed at the last check; undefined if it did not respond. */
  lagBytes: number | undefined;
  /** Why the replica serves no reads; undefined if it serves them. */
  trouble: string | undefined = notChecked;
  /** Whether a wait for the replica has timed out. No read waits again until a check finds that it has caught up. */
  #isBehind = false;
  #closed = false;

  constructor(options: ReplicaOptions, primary: PrimaryPosition, log: Logger) {
    const { url, number } = options;
    this.#options = options;
    this.#primary = primary;
    this.number = number;
    this.#log = log.child({ replica: number, host: serversOf(url)[0]?.host });
    this.#reads = openReads(options);
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

  /** Waits until the replica has replayed a position, but no longer than a read may wait. Returns whether it has. */
  async reach(position: Position): Promise<boolean> {
    const deadline = performance.now() + this.#options.waitMs;
    while (!this.has(position)) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || !this.isUsable) {
        this.#isBehind = true;
        return false;
      }
      await Promise.race([this.#poll(), delay(leftMs, undefined, { ref: false })]);
    }
    return true;
  }

  /** Runs a read on the replica, which checks its own position first. @throws ReplicaBehind */
  async read(read: TextRead, { text: lsn, history }: Position): Promise<string> {
    const { promise: lost, reject } = Promise.withResolvers<never>();
    this.#running.add(reject);
    try {
      return await Promise.race([this.#reads.read(read, { lsn, history }), lost]);
    } finally {
      this.#running.delete(reject);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#connection.close();
    await this.#reads.pool.end();
  }

  async #check(): Promise<void> {
    const position = await this.#primary.now();
    // Without the primary's position, there is nothing to compare with, so the state stays as it is.
    if (this.#closed || !position) return;
    try {
      const [state] = await stateStatement(await this.#connection.get(), position.history);
      this.#report(this.#judge(position, state));
    } catch (error) {
      this.#lose(error);
    }
    if (this.isUsable && (await this.reach(position))) this.#isBehind = false;
  }

  #judge({ lsn }: Position, state?: { lsn: string | null; follows: boolean }): string | undefined {
    if (!state || state.lsn === null || !state.follows) {
      this.lagBytes = undefined;
      return 'it is not a standby of this database, follows a different timeline, or has not replayed the current epoch of the feed yet';
    }
    this.#replayed = lsnOf(state.lsn);
    this.lagBytes = Math.max(0, Number(lsn - this.#replayed));
    return undefined;
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
    this.lagBytes = undefined;
    // The pool's connections may be dead although they look open.
    this.#reads.pool.end().catch(() => undefined);
    this.#reads = openReads(this.#options);
    this.#report(`it does not answer: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function openReads({ url, poolSize }: ReplicaOptions): TextReads {
  const role = 'gateway_serving';
  const connection = connectionConfig({ url, role, use: 'replica', statementMs, settings });
  const pool = openPool(connection, { role, poolSize, statementMs, acquireTimeoutMs: answerMs });
  if (pool instanceof ServingPool) pool.leaveOneToOthers();
  return new TextReads(pool);
}
