import type { FeedPosition } from '../../../domain/events/cursor.ts';
import type { ResumePoint } from '../../../domain/events/resume-points.ts';

/** A ping is sent after this many milliseconds or messages, to learn what the client has received. */
const askMs = 250;
const askMessages = 50;

/**
 * Tracks which messages a socket's client has received, for streams that can be resumed with a key. A
 * graphql-transport-ws client passes all earlier messages on to the app before it answers a ping with a pong that has
 * the same payload. The pong thus acknowledges them without any code in the app. At most one ping is outstanding.
 */
export class Acknowledgements {
  readonly #sendPing: (payload: object) => void;
  /** Messages sent since the last ping. */
  #sent = new Map<ResumePoint, FeedPosition>();
  #messages = 0;
  /** For each stream, the last message that the outstanding ping covers. */
  #asked: ReadonlyMap<ResumePoint, FeedPosition> | undefined;
  #question = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(sendPing: (payload: object) => void) {
    this.#sendPing = sendPing;
  }

  noteSent(point: ResumePoint, position: FeedPosition): void {
    point.noteSent(position.sequence);
    this.#sent.set(point, position);
    this.#messages += 1;
    this.#ask();
  }

  take(payload: Readonly<Record<string, unknown>> | undefined): void {
    if (!this.#asked || payload?.acknowledge !== String(this.#question)) return;
    for (const [point, position] of this.#asked) point.acknowledge(position);
    this.#asked = undefined;
    this.#ask();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#sent.clear();
  }

  #ask(): void {
    if (this.#asked || this.#sent.size === 0) return;
    const waitMs = this.#messages >= askMessages ? 0 : this.#askedAt + askMs - performance.now();
    if (waitMs > 0) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#ask();
      }, waitMs).unref();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#asked = this.#sent;
    this.#sent = new Map();
    this.#messages = 0;
    this.#question += 1;
    this.#askedAt = performance.now();
    // Sent as text, because a client might not return a number unchanged.
    this.#sendPing({ acknowledge: String(this.#question) });
  }
}
