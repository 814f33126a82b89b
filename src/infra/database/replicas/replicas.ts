import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { replicaFallbacks, textReads } from '../../instruments/instruments.ts';
import { type Reader, type TextRead, withReader } from '../connections/read-scope.ts';
import { ReplicaBehind } from '../connections/text-query.ts';
import type { Database } from '../database.ts';
import { isDatabaseFault } from '../faults.ts';
import { type Position, PrimaryPosition } from './primary-position.ts';
import { hashOf, latest, ReadTokens } from './read-token.ts';
import { Replica } from './replica.ts';

/** For tests only. */
interface Pace {
  /** The maximum time that a read waits for a replica, in milliseconds. */
  readonly waitMs?: number | undefined;
  /** The interval between checks, in milliseconds. */
  readonly everyMs?: number | undefined;
}

interface ReplicaSettings {
  readonly DATABASE_READ_URL: readonly string[];
  readonly DATABASE_READ_LAG_MS: number;
  readonly DATABASE_POOL: number;
  readonly CLIENT_TOKEN_KEY?: string | undefined;
}

/** Opens the replicas listed in the settings; undefined if there are none. */
export function openReplicas(
  database: Pick<Database, 'connectionFor'>,
  settings: ReplicaSettings,
  log: Logger,
  pace?: Pace,
): Replicas | undefined {
  return settings.DATABASE_READ_URL.length === 0 ? undefined : new Replicas(database, settings, log, pace);
}

export interface ReadScope {
  /** Makes all further reads as fresh as if the request had no token. */
  requireLatest(): void;
}

/**
 * Serves reads from standbys. A read includes everything that was acknowledged before it began, to any client, because
 * the replica must have replayed the log up to the end that the primary reports (decision 82). With a token, a read may
 * be as old as the token, but includes the platform's writes through this instance.
 */
export class Replicas {
  readonly all: readonly Replica[];
  readonly #primary: PrimaryPosition;
  readonly #ownWrites = new OwnWrites();
  readonly #tokens: ReadTokens;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;
  #turn = 0;

  constructor(
    database: Pick<Database, 'connectionFor'>,
    settings: ReplicaSettings,
    log: Logger,
    { waitMs = 100, everyMs = 1_000 }: Pace = {},
  ) {
    const { DATABASE_READ_LAG_MS: maxLagMs, DATABASE_POOL: poolSize } = settings;
    this.#primary = new PrimaryPosition(database);
    this.all = settings.DATABASE_READ_URL.map(
      (url, position) => new Replica({ url, number: position + 1, poolSize, maxLagMs, waitMs }, this.#primary, log),
    );
    this.#tokens = new ReadTokens(settings.CLIENT_TOKEN_KEY);
    this.#everyMs = everyMs;
  }

  /** Checks the replicas immediately, then every second. A replica that does not respond does not block startup. */
  async open(): Promise<void> {
    await this.check();
    this.#timer = setInterval(() => void this.check(), this.#everyMs).unref();
  }

  async check(): Promise<void> {
    await Promise.all(this.all.map((replica) => replica.check()));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([this.#primary.close(), ...this.all.map((replica) => replica.close())]);
  }

  /** Runs a request's reads, on a replica if one can serve them. The reads must be at least as recent as `token`. */
  reading<T>(platformId: string, token: string | undefined, work: (scope: ReadScope) => T): T {
    let after = token;
    const reader: Reader = async (read, onPrimary) => this.#read(read, await this.#find(platformId, after), onPrimary);
    const scope: ReadScope = {
      requireLatest() {
        after = undefined;
      },
    };
    return withReader(reader, () => work(scope));
  }

  /** Returns the token for a platform's latest write. If the position is unavailable, the token is `latest`. */
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
        // If the statement itself is at fault, the primary reports that.
        replicaFallbacks.inc({ reason: error instanceof ReplicaBehind ? 'behind' : 'failed' });
        if (isDatabaseFault(error)) void this.check();
      }
    }
    textReads.inc({ where: 'primary' });
    return onPrimary();
  }

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

  #candidates(accepts: (replica: Replica) => boolean): Replica[] {
    this.#turn = (this.#turn + 1) % this.all.length;
    return [...this.all.slice(this.#turn), ...this.all.slice(0, this.#turn)].filter(accepts);
  }

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

/** Records the end of the log after the last write of each platform through this instance. */
class OwnWrites {
  readonly #positions = new LRUCache<string, Position>({
    // `max` would allocate all of it up front (core/bounded-cache.ts).
    maxSize: 10_000,
    sizeCalculation: () => 1,
    dispose: (position, _platformId, reason) => {
      if (reason === 'evict') this.#floor = newer(position, this.#floor);
    },
  });
  /** The newest evicted position, used for platforms that are no longer in memory. */
  #floor: Position | undefined;

  note(platformId: string, position: Position): void {
    this.#positions.set(platformId, newer(position, this.#positions.get(platformId)));
  }

  /** Returns a position at or after every write of the platform through this instance; undefined if there is none. */
  of(platformId: string): Position | undefined {
    return this.#positions.get(platformId) ?? this.#floor;
  }
}

/** Returns the newer of two positions, because simultaneous writes may record theirs in either order. */
function newer(noted: Position, before: Position | undefined): Position {
  return before && before.history === noted.history && before.lsn > noted.lsn ? before : noted;
}
