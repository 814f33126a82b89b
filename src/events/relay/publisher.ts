import type { Logger } from 'pino';
import type { Head } from '../listener.ts';
import type { FeedReads } from '../reads.ts';
import type { Relay, RelayedBatch } from './relay.ts';

/** Numbers of a feed: those after `after`, up to `upTo`. */
interface Span {
  /** The server that has announced them. */
  readonly server: string;
  readonly after: bigint;
  upTo: bigint;
}

/**
 * Publishes the events that the sequencer of this process has numbered, where another instance wants them: so each event is read
 * and published once. Reads of a platform follow each other, so that its events leave in the order of the feed.
 */
export class RelayPublisher {
  readonly #relay: Relay;
  readonly #reads: FeedReads;
  readonly #log: Logger;
  readonly #onRead: (batch: RelayedBatch) => void;
  /** The newest known number of each platform that another instance wants. */
  readonly #heads = new Map<string, bigint>();
  readonly #spans = new Map<string, Span[]>();

  /** @param onRead takes what was read for others, for the subscribers of this process */
  constructor(relay: Relay, reads: FeedReads, log: Logger, onRead: (batch: RelayedBatch) => void) {
    this.#relay = relay;
    this.#reads = reads;
    this.#log = log;
    this.#onRead = onRead;
  }

  /**
   * Notes what a sequencer has announced, and publishes it where it is for this process to do.
   * @param server the server that has announced it
   * @param isOwn whether the sequencer is that of this process
   * @returns whether the events come from an instance: this one or another
   */
  announced({ platformId, sequence }: Head, server: string | undefined, isOwn: boolean): boolean {
    const before = this.#heads.get(platformId);
    if (!this.#relay.isUp || !this.#relay.isWanted(platformId)) {
      this.#heads.delete(platformId);
      return !isOwn;
    }
    this.#heads.set(platformId, sequence);
    if (!isOwn) return true;
    if (before === undefined || server === undefined) return false;
    const spans = this.#spans.get(platformId);
    const last = spans?.at(-1);
    if (last?.upTo === before && last.server === server) last.upTo = sequence;
    else if (spans) spans.push({ server, after: before, upTo: sequence });
    else this.#publishAll(platformId, [{ server, after: before, upTo: sequence }]);
    return true;
  }

  #publishAll(platformId: string, spans: Span[]): void {
    this.#spans.set(platformId, spans);
    this.#run(platformId, spans)
      // Nobody misses anything: whoever waits reads it after a moment.
      .catch((error: unknown) => this.#log.warn({ err: error }, 'events could not be read for the relay'))
      .finally(() => this.#spans.delete(platformId));
  }

  async #run(platformId: string, spans: Span[]): Promise<void> {
    for (let span = spans[0]; span; span = spans[0]) {
      let { after } = span;
      while (after < span.upTo) {
        const events = await this.#reads.live(platformId, after, span.upTo);
        const last = events.at(-1);
        if (!last) break;
        after = last.sequence;
        const batch = { platformId, server: span.server, events };
        this.#relay.publish(batch);
        this.#onRead(batch);
      }
      spans.shift();
    }
  }
}
