import { randomUUID } from 'node:crypto';
import DataLoader from 'dataloader';
import type { Logger } from 'pino';
import { boundedCache } from '../../core/bounded-cache.ts';
import { FaultStates } from '../../core/fault-states.ts';
import { asPlatform } from '../../infra/database/connections/platform-scope.ts';
import type { Database } from '../../infra/database/database.ts';
import { statement } from '../../infra/database/statement.ts';
import type { FeedPosition } from './cursor.ts';

export interface ResumeKey {
  readonly platformId: string;
  readonly subject: string;
  /** The digest of the client's key, its platform and subject, and the operation. */
  readonly digest: Buffer;
  /** The maximum number of keys per subject. Beyond it, the least recently used keys are dropped. */
  readonly most: number;
}

interface Found {
  /** The position up to which the client has received everything; null if the stream starts over. */
  readonly position: FeedPosition | null;
  /** The sequence up to which the client may have received events. */
  readonly sent: bigint;
  /** Whether the stream ended properly. If not, the client may have received later events on another connection. */
  readonly hasEnded: boolean;
}

/** How long a key remains valid after its stream was last seen, as an SQL interval. */
export const resumeKeyLife = `interval '1 hour'`;

const keys = 'unnest($2::text[], $3::bytea[], $4::uuid[])';

const openStatement = statement<{
  key: Buffer;
  position: bigint | null;
  epoch: number | null;
  sent: bigint | null;
  head: bigint;
}>(
  'open_resume_points',
  `update resume_point r set stream_id = was.new_id, sent = null, seen_at = clock_timestamp()
   from (select o.*, w.new_id from ${keys} w(subject, key, new_id)
         join resume_point o on o.platform_id = $1 and o.subject = w.subject and o.key = w.key
         where o.seen_at > clock_timestamp() - ${resumeKeyLife} order by o.subject, o.key for update of o) was
   where r.platform_id = $1 and r.subject = was.subject and r.key = was.key
   returning r.key, was.position, was.epoch, was.sent, coalesce((select sequence from feed_head where platform_id = $1), 0) as head`,
);

const beginStatement = statement<{ key: Buffer }>(
  'begin_resume_points',
  `insert into resume_point as r (platform_id, subject, key, stream_id, position, epoch)
   select $1, subject, key, stream_id, position,
     (select e.epoch from event e where e.platform_id = $1 and e.sequence = w.position)
   from unnest($2::text[], $3::bytea[], $4::uuid[], $5::bigint[]) w(subject, key, stream_id, position) order by subject, key
   on conflict (platform_id, subject, key) do update
     set stream_id = excluded.stream_id, position = excluded.position, epoch = excluded.epoch, sent = null, seen_at = clock_timestamp()
   returning key`,
);

/**
 * Stores acknowledgements from any of the client's connections. An abandoned connection may be accepted after its
 * successor and take over the key, so the events sent on a connection do not show what the client has received.
 */
const writeStatement = statement<{ key: Buffer }>(
  'write_resume_points',
  `update resume_point r set position = greatest(r.position, w.position), seen_at = clock_timestamp(),
     epoch = case when w.position > coalesce(r.position, -1) then w.epoch else r.epoch end,
     sent = case when r.stream_id = w.stream_id then w.sent else r.sent end
   from unnest($2::text[], $3::bytea[], $4::uuid[], $5::bigint[], $6::int[], $7::bigint[]) w(subject, key, stream_id, position, epoch, sent)
   where r.platform_id = $1 and r.subject = w.subject and r.key = w.key
   returning r.key`,
);

const endStatement = statement<{ key: Buffer }>(
  'end_resume_points',
  `delete from resume_point r using ${keys} w(subject, key, stream_id)
   where r.platform_id = $1 and r.subject = w.subject and r.key = w.key and r.stream_id = w.stream_id
   returning r.key`,
);

const limitStatement = statement<{ key: Buffer }>(
  'limit_resume_points',
  `delete from resume_point where (platform_id, subject, key) in (
     select platform_id, subject, key from resume_point where platform_id = $1 and subject = $2
     order by seen_at desc offset $3 for update skip locked
   ) returning key`,
);

/** The interval at which clients' acknowledgements are stored, in milliseconds. */
const writeMs = 1_000;
/** The interval at which open streams are marked as seen even if they have no events, in milliseconds. */
const seenMs = 900_000;
/** Streams opened within this time, in milliseconds, share a statement. */
const collectMs = 3;
const maxBatch = 500;
/** How many new streams cause a subject's keys to be counted, as a fraction of the maximum number of keys. */
const countedPart = 0.1;

/** The resume points of this process's streams. Streams that open together share a statement, as do updates. */
export class ResumePoints {
  readonly #database: Pick<Database, 'pool'>;
  readonly #log: Logger;
  /** The points of open streams, which are written periodically. */
  readonly #open = new Set<ResumePoint>();
  readonly #opening: DataLoader<Stream, Found | undefined>;
  readonly #beginning: DataLoader<ResumePoint, true>;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #begun = boundedCache<number>(10_000);
  #changed = new Set<ResumePoint>();
  #writing: Promise<void> = Promise.resolve();
  #isWriteDue = false;

  constructor(database: Pick<Database, 'pool'>, log: Logger) {
    this.#database = database;
    this.#log = log;
    const batchScheduleFn = (run: () => void) => void setTimeout(run, collectMs);
    const options = { cache: false, maxBatchSize: maxBatch, batchScheduleFn };
    this.#opening = new DataLoader((streams) => this.#find(streams), options);
    this.#beginning = new DataLoader((points) => this.#begin(points), options);
    this.#timers = [
      setInterval(() => this.#writeChanged(), writeMs).unref(),
      setInterval(() => {
        for (const point of this.#open) this.#changed.add(point);
      }, seenMs).unref(),
    ];
  }

  async open(key: ResumeKey): Promise<ResumePoint> {
    const streamId = randomUUID();
    const point = new ResumePoint(this, { key, streamId }, await this.#opening.load({ key, streamId }));
    if (point.isResumed) this.#open.add(point);
    return point;
  }

  async begin(point: ResumePoint): Promise<void> {
    await this.#beginning.load(point);
    if (point.state === 'open') this.#open.add(point);
    else this.release(point);
  }

  write(point: ResumePoint): void {
    this.#changed.add(point);
  }

  /** Stores an ended stream's point promptly, because the client may reconnect immediately. */
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

  async #find(streams: readonly Stream[]): Promise<(Found | undefined)[]> {
    // Flush first, so that a reconnecting client sees its last position.
    if (this.#isWriteDue) this.#writeChanged();
    await this.#writing;
    const found = new Map<string, Found>();
    for (const [platformId, group] of byPlatform(distinct(streams))) {
      const rows = await asPlatform(platformId, () =>
        openStatement(this.#database.pool, platformId, ...columns(group)),
      );
      for (const { key, position, epoch, sent, head } of rows) {
        const at = position === null ? null : { sequence: position, epoch };
        found.set(key.toString('hex'), { position: at, sent: sent ?? head, hasEnded: sent !== null });
      }
    }
    return streams.map(({ key }) => found.get(key.digest.toString('hex')));
  }

  async #begin(points: readonly ResumePoint[]): Promise<true[]> {
    for (const [platformId, group] of byPlatform(distinct(points))) {
      const positions = group.map(({ begun }) => begun);
      await asPlatform(platformId, () => beginStatement(this.#database.pool, platformId, ...columns(group), positions));
    }
    await this.#limit(points);
    return points.map(() => true);
  }

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
    this.#writing = this.#writing.then(() => FaultStates.of(this.#log).watch('resume points', this.#writeAll()));
  }

  async #writeAll(): Promise<void> {
    const changed = this.#changed;
    this.#changed = new Set();
    try {
      for (const [platformId, group] of byPlatform(changed)) await this.#writeGroup(platformId, group);
    } catch (error) {
      for (const point of changed) this.#changed.add(point);
      throw error;
    }
  }

  async #writeGroup(platformId: string, points: readonly ResumePoint[]): Promise<void> {
    const { pool } = this.#database;
    for (let from = 0; from < points.length; from += maxBatch) {
      const batch = points.slice(from, from + maxBatch);
      const ended = batch.filter(({ state }) => state === 'ended');
      const others = batch.filter(({ state }) => state !== 'ended');
      const written = ([0, 1, 2] as const).map((column) => others.map((point) => point.written[column]));
      await asPlatform(platformId, async () => {
        if (ended.length > 0) await endStatement(pool, platformId, ...columns(ended));
        if (others.length > 0) await writeStatement(pool, platformId, ...columns(others), ...written);
      });
    }
  }
}

type Stream = Pick<ResumePoint, 'key' | 'streamId'>;

/** A client's progress in a stream that it can resume with a key. A crash may lose the most recent progress. */
export class ResumePoint {
  readonly key: ResumeKey;
  readonly streamId: string;
  readonly #store: ResumePoints;
  readonly #found: Found | undefined;
  state: 'open' | 'closed' | 'ended' = 'open';
  /** The position after which the stream began; null if it resumes an earlier one or would start over if reopened. */
  begun: bigint | null = null;
  #isBegun: boolean;
  #acknowledged: FeedPosition | null = null;
  #sent: bigint | null;
  /** Whether it is certain that none of the client's other connections has received more. */
  #isNewest: boolean;

  /** @param found the stored point that the stream resumes, if any */
  constructor(store: ResumePoints, { key, streamId }: Stream, found: Found | undefined) {
    this.#store = store;
    this.key = key;
    this.streamId = streamId;
    this.#found = found;
    this.#isBegun = this.isResumed;
    this.#sent = found?.sent ?? null;
    this.#isNewest = found?.hasEnded ?? true;
  }

  get resumeAfter(): FeedPosition | undefined {
    return this.#found?.position ?? undefined;
  }

  get isResumed(): boolean {
    return this.resumeAfter !== undefined;
  }

  mayRepeat(sequence: bigint): boolean {
    return this.isResumed && this.#found !== undefined && sequence <= this.#found.sent;
  }

  /**
   * Stores the start of a stream, unless it resumes an earlier one. If the client reopens the stream without having
   * acknowledged anything, the stream continues after `position`, or starts over if `position` is null.
   */
  async begin(position: bigint | null): Promise<void> {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.begun = position;
    await this.#store.begin(this);
  }

  noteSent(sequence: bigint): void {
    if (this.#sent === null || sequence > this.#sent) this.#sent = sequence;
  }

  acknowledge(position: FeedPosition): void {
    // The client is using this connection, so it no longer uses an older one.
    this.#isNewest = true;
    const before = this.#acknowledged?.sequence ?? this.begun;
    if (before !== null && position.sequence <= before) return;
    this.#acknowledged = position;
    this.#store.write(this);
  }

  /** Ends the stream permanently or, if its connection was dropped, until the client reconnects. */
  close(isForGood: boolean): void {
    if (this.state !== 'open') return;
    this.state = isForGood ? 'ended' : 'closed';
    if (this.#isBegun) this.#store.release(this);
  }

  /** The state to store. `sent` is set once it is certain that none of the client's other connections received more. */
  get written(): readonly [position: bigint | null, epoch: number | null, sent: bigint | null] {
    const isKnown = this.state !== 'open' && this.#isNewest;
    const { sequence = null, epoch = null } = this.#acknowledged ?? {};
    return [sequence, epoch, isKnown ? this.#sent : null];
  }
}

const byPlatform = <Of extends Stream>(streams: Iterable<Of>) => Map.groupBy(streams, ({ key }) => key.platformId);

/** A statement can insert a row only once, so this keeps the last stream for each key. */
function distinct<Of extends Stream>(streams: readonly Of[]): Iterable<Of> {
  return new Map(streams.map((stream) => [stream.key.digest.toString('hex'), stream])).values();
}

function columns(points: readonly Stream[]): readonly [string[], Buffer[], string[]] {
  return [
    points.map(({ key }) => key.subject),
    points.map(({ key }) => key.digest),
    points.map(({ streamId }) => streamId),
  ];
}
