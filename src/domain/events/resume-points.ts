import DataLoader from 'dataloader';
import type { Logger } from 'pino';
import { boundedCache } from '../../core/bounded-cache.ts';
import { FaultStates } from '../../core/fault-states.ts';
import { asPlatform } from '../../infra/database/connections/platform-scope.ts';
import type { Database } from '../../infra/database/database.ts';
import { type Found, type PointStore, type ResumeKey, ResumePoint } from './resume-point.ts';
import {
  beginStatement,
  endStatement,
  limitStatement,
  openStatement,
  writeStatement,
} from './resume-point-statements.ts';

/** How often acknowledgements of clients are stored, in milliseconds. */
const writeMs = 1_000;
/** How often a stream without events is marked as seen, in milliseconds. */
const seenMs = 900_000;
/** How long streams that open at the same time are collected for one statement, in milliseconds, and how many of them. */
const collectMs = 3;
const maxBatch = 500;
/** The keys of a subject are counted when it has begun this fraction of the maximum. */
const countedPart = 0.1;

/** The resume points of this process' streams. Streams that open together share a statement, and so do changes. */
export class ResumePoints implements PointStore {
  readonly #database: Pick<Database, 'pool'>;
  readonly #log: Logger;
  readonly #open = new Set<ResumePoint>();
  readonly #opening: DataLoader<ResumePoint, Found | undefined>;
  readonly #beginning: DataLoader<ResumePoint, boolean>;
  readonly #timers: readonly NodeJS.Timeout[];
  /** How many keys subjects have begun since the last count. */
  readonly #begun = boundedCache<number>(10_000);
  #changed = new Set<ResumePoint>();
  #writing: Promise<void> = Promise.resolve();
  #isWriteDue = false;

  constructor(database: Pick<Database, 'pool'>, log: Logger) {
    this.#database = database;
    this.#log = log;
    const options = {
      cache: false,
      maxBatchSize: maxBatch,
      batchScheduleFn: (run: () => void) => void setTimeout(run, collectMs),
    };
    this.#opening = new DataLoader((points) => this.#find(points), options);
    this.#beginning = new DataLoader(async (points) => {
      await this.#begin(points);
      return points.map(() => true);
    }, options);
    this.#timers = [
      setInterval(() => this.#writeChanged(), writeMs).unref(),
      setInterval(() => {
        for (const point of this.#open) this.#changed.add(point);
      }, seenMs).unref(),
    ];
  }

  async open(key: ResumeKey): Promise<ResumePoint> {
    const point = new ResumePoint(this, key);
    await point.open();
    return point;
  }

  find(point: ResumePoint): Promise<Found | undefined> {
    return this.#opening.load(point);
  }

  async begin(point: ResumePoint): Promise<void> {
    await this.#beginning.load(point);
    this.hold(point);
  }

  hold(point: ResumePoint): void {
    if (point.state === 'open') this.#open.add(point);
    else this.release(point);
  }

  write(point: ResumePoint): void {
    this.#changed.add(point);
  }

  release(point: ResumePoint): void {
    this.#open.delete(point);
    this.#changed.add(point);
    if (this.#isWriteDue) return;
    this.#isWriteDue = true;
    setImmediate(() => this.#writeChanged());
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#writeChanged();
    await this.#writing;
  }

  async #find(points: readonly ResumePoint[]): Promise<(Found | undefined)[]> {
    // Flush first, so that a reconnecting client sees its last position.
    if (this.#isWriteDue) this.#writeChanged();
    await this.#writing;
    const found = new Map<string, Found>();
    for (const [platformId, group] of byPlatform(distinct(points))) {
      const rows = await asPlatform(platformId, () =>
        openStatement(this.#database.pool, platformId, ...columns(group)),
      );
      for (const { key, position, epoch, sent, head } of rows) {
        const at = position === null ? null : { sequence: position, epoch };
        found.set(key.toString('hex'), { position: at, sent: sent ?? head, hasEnded: sent !== null });
      }
    }
    return points.map(({ key }) => found.get(key.digest.toString('hex')));
  }

  async #begin(points: readonly ResumePoint[]): Promise<void> {
    for (const [platformId, group] of byPlatform(distinct(points))) {
      const positions = group.map(({ begun }) => begun);
      await asPlatform(platformId, () => beginStatement(this.#database.pool, platformId, ...columns(group), positions));
    }
    await this.#limit(points);
  }

  /** Deletes the oldest keys of subjects that have too many. */
  async #limit(points: readonly ResumePoint[]): Promise<void> {
    for (const { key } of points) {
      const { platformId, subject, most } = key;
      const name = `${platformId} ${subject}`;
      const begun = (this.#begun.get(name) ?? most) + 1;
      const isCounted = begun >= most * countedPart;
      this.#begun.set(name, isCounted ? 0 : begun);
      if (isCounted) await asPlatform(platformId, () => limitStatement(this.#database.pool, platformId, subject, most));
    }
  }

  #writeChanged(): void {
    this.#isWriteDue = false;
    this.#writing = this.#writing.then(async () => {
      if (this.#changed.size === 0) return;
      const changed = this.#changed;
      this.#changed = new Set();
      try {
        for (const [platformId, group] of byPlatform(changed)) await this.#writeGroup(platformId, group);
        FaultStates.of(this.#log).succeeded('resume points');
      } catch (error) {
        FaultStates.of(this.#log).failed('resume points', error);
        for (const point of changed) this.#changed.add(point);
      }
    });
  }

  async #writeGroup(platformId: string, points: readonly ResumePoint[]): Promise<void> {
    const { pool } = this.#database;
    for (let from = 0; from < points.length; from += maxBatch) {
      const batch = points.slice(from, from + maxBatch);
      const [ended, others] = [batch.filter(isEnded), batch.filter((point) => !isEnded(point))];
      const written = others.map((point) => point.written);
      await asPlatform(platformId, async () => {
        if (ended.length > 0) await endStatement(pool, platformId, ...columns(ended));
        if (others.length > 0) {
          const [positions, epochs] = [written.map(([position]) => position), written.map(([, epoch]) => epoch)];
          const sent = written.map(([, , until]) => until);
          await writeStatement(pool, platformId, ...columns(others), positions, epochs, sent);
        }
      });
    }
  }
}

function isEnded({ state }: ResumePoint): boolean {
  return state === 'ended';
}

function byPlatform(points: Iterable<ResumePoint>): Map<string, ResumePoint[]> {
  return Map.groupBy(points, ({ key }) => key.platformId);
}

/** Returns one point of each key, the last one: a statement inserts a row once. */
function distinct(points: readonly ResumePoint[]): Iterable<ResumePoint> {
  return new Map(points.map((point) => [point.key.digest.toString('hex'), point])).values();
}

function columns(points: readonly ResumePoint[]): readonly [string[], Buffer[], string[]] {
  return [
    points.map(({ key }) => key.subject),
    points.map(({ key }) => key.digest),
    points.map(({ streamId }) => streamId),
  ];
}
