import { randomUUID } from 'node:crypto';
import type { FeedPosition } from './cursor.ts';

export interface ResumeKey {
  readonly platformId: string;
  readonly subject: string;
  /** The digest of the client's key, its platform and subject, and the operation. */
  readonly digest: Buffer;
  /** The maximum number of keys of the subject; beyond it, only the most recently seen are kept. */
  readonly most: number;
}

export interface Found {
  /** The position up to which the client has received everything; null if the stream starts over. */
  readonly position: FeedPosition | null;
  /** The sequence up to which the client may have received events. */
  readonly sent: bigint;
  /** Whether the stream ended in an orderly way; if not, it may not even have been the last one. */
  readonly hasEnded: boolean;
}

export interface PointStore {
  /** Finds the state of an earlier stream with a point's key, and transfers the key to the point. */
  find(point: ResumePoint): Promise<Found | undefined>;
  begin(point: ResumePoint): Promise<void>;
  /** Writes a point periodically, for as long as its stream is open. */
  hold(point: ResumePoint): void;
  write(point: ResumePoint): void;
  /** Stores an ended point promptly, since its client may reconnect at once. */
  release(point: ResumePoint): void;
}

type State = 'open' | 'closed' | 'ended';

/** A client's progress in a stream that it resumes by a key: stored for all instances, slightly behind after a kill. */
export class ResumePoint {
  readonly key: ResumeKey;
  readonly streamId = randomUUID();
  readonly #store: PointStore;
  #found: Found | undefined;
  #isBegun = false;
  #state: State = 'open';
  #begun: bigint | null = null;
  #acknowledged: FeedPosition | null = null;
  #sent: bigint | null = null;
  /** Whether no other connection of the client can have been sent more. */
  #isNewest = true;

  constructor(store: PointStore, key: ResumeKey) {
    this.#store = store;
    this.key = key;
  }

  /** The position after which the stream resumes; undefined if it starts over. */
  get resumeAfter(): FeedPosition | undefined {
    return this.#found?.position ?? undefined;
  }

  get isResumed(): boolean {
    return this.#found !== undefined && this.#found.position !== null;
  }

  mayRepeat(sequence: bigint): boolean {
    return this.#found !== undefined && this.isResumed && sequence <= this.#found.sent;
  }

  /** Finds the state of an earlier stream with the key, and takes over the key. */
  async open(): Promise<void> {
    this.#found = await this.#store.find(this);
    this.#sent = this.#found?.sent ?? null;
    this.#isNewest = this.#found?.hasEnded ?? true;
    this.#isBegun = this.isResumed;
    if (this.#isBegun) this.#store.hold(this);
  }

  /**
   * Stores the start of a stream that does not resume: the sequence after which it continues until the client has
   * acknowledged something, or null if it then starts over.
   */
  async begin(position: bigint | null): Promise<void> {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#begun = position;
    await this.#store.begin(this);
  }

  noteSent(sequence: bigint): void {
    if (this.#sent === null || sequence > this.#sent) this.#sent = sequence;
  }

  acknowledge(position: FeedPosition): void {
    // The client is connected here, and so not on an older connection.
    this.#isNewest = true;
    const before = this.#acknowledged?.sequence ?? this.#begun;
    if (before !== null && position.sequence <= before) return;
    this.#acknowledged = position;
    this.#store.write(this);
  }

  /** Ends the stream: permanently, or (if its connection is cut) until the client reconnects. */
  close(isForGood: boolean): void {
    if (this.#state !== 'open') return;
    this.#state = isForGood ? 'ended' : 'closed';
    if (this.#isBegun) this.#store.release(this);
  }

  get state(): State {
    return this.#state;
  }

  get begun(): string | null {
    return asText(this.#begun);
  }

  /**
   * The stored state: the position up to which the client has received everything, and the sequence up to which it may
   * have received events, if known.
   */
  get written(): readonly [position: string | null, epoch: number | null, sent: string | null] {
    const isKnown = this.#state !== 'open' && this.#isNewest;
    const { sequence = null, epoch = null } = this.#acknowledged ?? {};
    return [asText(sequence), epoch, isKnown ? asText(this.#sent) : null];
  }
}

function asText(sequence: bigint | null): string | null {
  return sequence === null ? null : String(sequence);
}
