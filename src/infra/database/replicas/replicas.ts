import type { Logger } from 'pino';
import { replicaFallbacks, textReads } from '../../instruments/instruments.ts';
import { type Reader, type TextRead, withReader } from '../connections/read-scope.ts';
import { ReplicaBehind } from '../connections/text-query.ts';
import type { Database } from '../database.ts';
import { isDatabaseFault } from '../faults.ts';
import type { Position } from './position.ts';
import { PrimaryPosition } from './primary-position.ts';
import { hashOf, latest, ReadTokens } from './read-token.ts';
import { Replica, type ReplicaOptions } from './replica.ts';

export interface ReplicasOptions extends Pick<ReplicaOptions, 'poolSize' | 'maxLagMs'> {
  readonly urls: readonly string[];
  /** What encrypts the tokens of reads: the same on all instances, where there is one. */
  readonly secret: string | undefined;
  /** For tests only. */
  readonly waitMs?: number | undefined;
  readonly everyMs?: number | undefined;
}

/** How many milliseconds a read waits at most for a replica. */
const defaultWaitMs = 100;
/** How many milliseconds pass between two checks of the replicas. */
const defaultEveryMs = 1_000;

interface ReplicaSettings {
  readonly DATABASE_READ_URL: readonly string[];
  readonly DATABASE_READ_LAG_MS: number;
  readonly DATABASE_POOL: number;
  readonly CLIENT_TOKEN_KEY?: string | undefined;
}

/** Opens the replicas of the settings; undefined where they name none. */
export function openReplicas(
  database: Pick<Database, 'connectionFor'>,
  { DATABASE_READ_URL: urls, DATABASE_READ_LAG_MS: maxLagMs, DATABASE_POOL: poolSize, ...keys }: ReplicaSettings,
  log: Logger,
  pace: Pick<ReplicasOptions, 'waitMs' | 'everyMs'> = {},
): Replicas | undefined {
  const secret = keys.CLIENT_TOKEN_KEY;
  return urls.length === 0 ? undefined : new Replicas(database, { urls, maxLagMs, poolSize, secret, ...pace }, log);
}

export interface ReadScope {
  /** Makes all further reads as new as those of a request without a token. */
  requireLatest(): void;
}

/**
 * The standbys that answer reads. No read is older than what was committed and answered before it began, whoever committed it: the
 * primary says where its log ends, and the replica must have replayed that (decision 82). With a token, a read may be as old as the
 * token, but not older than what the platform has written through this instance. Where no replica has replayed it, the primary reads.
 */
export class Replicas {
  readonly all: readonly Replica[];
  readonly #primary: PrimaryPosition;
  readonly #ownWrites = new OwnWrites();
  readonly #tokens: ReadTokens;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;
  #turn = 0;

  constructor(database: Pick<Database, 'connectionFor'>, options: ReplicasOptions, log: Logger) {
    const { urls, secret, waitMs = defaultWaitMs, everyMs = defaultEveryMs, ...of } = options;
    this.all = urls.map((url, position) => new Replica({ ...of, url, waitMs, number: position + 1 }, log));
    this.#primary = new PrimaryPosition(database);
    this.#tokens = new ReadTokens(secret);
    this.#everyMs = everyMs;
  }

  /** Checks the replicas, now and then every second. One that does not answer stops no start. */
  async open(): Promise<void> {
    await this.check();
    this.#timer = setInterval(() => void this.check(), this.#everyMs).unref();
  }

  async check(): Promise<void> {
    await Promise.all(this.all.map((replica) => replica.check(() => this.#primary.now())));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([this.#primary.close(), ...this.all.map((replica) => replica.close())]);
  }

  /**
   * Runs the reads of a request, on a replica if one can answer them.
   * @param token the state that its first reads must include
   */
  reading<T>(platformId: string, token: string | undefined, work: (scope: ReadScope) => T): T {
    let after = token;
    const reader: Reader = {
      read: async (read, onPrimary) => this.#read(read, await this.#find(platformId, after), onPrimary),
    };
    const scope: ReadScope = {
      requireLatest() {
        after = undefined;
      },
    };
    return withReader(reader, () => work(scope));
  }

  /** Returns the token for what a platform has just written. Failures are no errors: its reads are as fresh without. */
  async afterWrite(platformId: string): Promise<string> {
    const position = await this.#primary.now().catch(() => undefined);
    if (!position) return latest;
    this.#ownWrites.note(platformId, position);
    return this.#tokens.seal(platformId, position);
  }

  async #read(
    read: TextRead,
    found: { readonly replica: Replica; readonly position: Position } | undefined,
    onPrimary: () => Promise<string>,
  ): Promise<string> {
    if (found) {
      try {
        const text = await found.replica.read(read, found.position);
        textReads.inc({ where: 'replica' });
        return text;
      } catch (error) {
        // The primary reports what is wrong with the statement itself.
        replicaFallbacks.inc({ reason: error instanceof ReplicaBehind ? 'behind' : 'failed' });
        if (isDatabaseFault(error)) void this.check();
      }
    }
    textReads.inc({ where: 'primary' });
    return onPrimary();
  }

  /** Finds a replica that has replayed what a read requires; undefined where the primary must read. */
  async #find(platformId: string, token: string | undefined) {
    const content = token && this.#positionOf(platformId, token);
    const candidates = this.#candidates((replica) => (content ? replica.isUsable : replica.keepsUp));
    if (candidates.length === 0) {
      replicaFallbacks.inc({ reason: this.all.some(({ isUsable }) => isUsable) ? 'behind' : 'lost' });
      return undefined;
    }
    const position = content ?? (await this.#primary.now().catch(() => undefined));
    if (!position) {
      replicaFallbacks.inc({ reason: 'unknown' });
      return undefined;
    }
    const replica = candidates.find((one) => one.has(position)) ?? candidates[0];
    if (replica && (await replica.reach(position))) return { replica, position };
    if (!content) replica?.noteBehind();
    replicaFallbacks.inc({ reason: 'behind' });
    return undefined;
  }

  /** Returns the replicas that a read may use, in turns. */
  #candidates(accepts: (replica: Replica) => boolean): Replica[] {
    this.#turn = (this.#turn + 1) % this.all.length;
    return [...this.all.slice(this.#turn), ...this.all.slice(0, this.#turn)].filter(accepts);
  }

  /**
   * Returns the position that a token requires; undefined where only the primary can say: for a foreign or newer one.
   */
  #positionOf(platformId: string, token: string): Position | undefined {
    const known = this.#primary.last;
    const opened = this.#tokens.open(platformId, token);
    if (!known || !opened || hashOf(known.history) !== opened.historyHash) return undefined;
    const { lsn } = opened;
    if (lsn > known.lsn) return undefined;
    const own = this.#ownWrites.of(platformId);
    if (own && own.history !== known.history) return undefined;
    return { history: known.history, lsn: own && own.lsn > lsn ? own.lsn : lsn };
  }
}

const maxPlatforms = 10_000;

/** Where the log ended after the last write of each platform through this instance. */
class OwnWrites {
  readonly #positions = new Map<string, Position>();
  /** The newest of the forgotten positions, used for platforms that are not in memory. */
  #floor: Position | undefined;

  note(platformId: string, position: Position): void {
    const newest = newer(position, this.#positions.get(platformId));
    // The last in the order of a Map is the one that was set last.
    this.#positions.delete(platformId);
    this.#positions.set(platformId, newest);
    if (this.#positions.size <= maxPlatforms) return;
    for (const [oldest, forgotten] of this.#positions) {
      this.#positions.delete(oldest);
      this.#floor = newer(forgotten, this.#floor);
      return;
    }
  }

  /** Returns a position that no write of the platform through this instance lies behind; undefined where it wrote nothing. */
  of(platformId: string): Position | undefined {
    return this.#positions.get(platformId) ?? this.#floor;
  }
}

/** Returns the newer of two positions, which simultaneous writes note in any order. */
function newer(noted: Position, before: Position | undefined): Position {
  return before && before.history === noted.history && before.lsn > noted.lsn ? before : noted;
}
