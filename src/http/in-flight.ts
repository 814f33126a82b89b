import { Waits } from './waits.ts';
import type { ResponseWatcher, WatchedResponse } from './watched-response.ts';

export interface Admission {
  /** How many requests may be answered at once. */
  readonly most: number;
  /** How long answers may take on average, in milliseconds, before there is less room. */
  readonly slowMs: number;
}

/** While answers take too long, one in so many of the places is left. */
const share = 8;
/** How many answers the average time of an answer remembers, about. */
const remembered = 32;
/** How many whole answers may wait for clients to take them; each is kept until then. */
const mostUnread = 256;

/**
 * How many requests are being answered at once, and whether one more may be. Beyond it a request is refused at once: with
 * every request kept waiting, all would come too late. How many are too many depends on the machine and on what is asked,
 * so it is the time of the answers that decides: while they take longer than `slowMs`, only an eighth of the places is
 * given, and what is inside gets done. A few at once are never refused, however slow the machine. A place is about work
 * that is done here: a request takes it when its body is there and gives it back when its answer is, whether or not its
 * client takes that. A stream gives it back when it begins, since from then on it only waits.
 */
export class InFlight {
  readonly #room: Admission;
  readonly #least: number;
  readonly #load: Load = { count: 0, averageMs: 0 };
  readonly #unread = new Waits(mostUnread);

  constructor(admission: Admission) {
    this.#room = admission;
    this.#least = Math.ceil(admission.most / share);
  }

  /** Takes a place until the response is complete or broken off. False when there is none left. */
  enter(response: WatchedResponse): boolean {
    const { count, averageMs } = this.#load;
    if (count >= (averageMs > this.#room.slowMs ? this.#least : this.#room.most)) return false;
    response.watcher = new Place(response, this.#load, this.#unread);
    return true;
  }
}

interface Load {
  /** How many requests have a place. */
  count: number;
  /** The moving average of how long answers took, in milliseconds. */
  averageMs: number;
}

/** The place of one request. */
class Place implements ResponseWatcher {
  readonly #response: WatchedResponse;
  readonly #load: Load;
  readonly #unread: Waits;
  readonly #began = performance.now();
  #isTaken = true;
  /** Ends the wait for the client to take the answer. */
  #read: (() => void) | undefined;

  constructor(response: WatchedResponse, load: Load, unread: Waits) {
    this.#response = response;
    this.#load = load;
    this.#unread = unread;
    load.count += 1;
    response.once('close', () => this.#close());
    if (response.closed) this.#close();
  }

  headMade(contentType: string): void {
    if (contentType.startsWith('text/event-stream')) this.#leaveAnswered();
  }

  ended(): void {
    this.#leaveAnswered();
    const response = this.#response;
    if (!response.closed) this.#read ??= this.#unread.begin(() => response.destroy());
  }

  #close(): void {
    // How long a client waited before it broke off tells nothing of the answers.
    this.#leave();
    this.#read?.();
  }

  #leaveAnswered(): void {
    if (this.#isTaken) this.#load.averageMs += (performance.now() - this.#began - this.#load.averageMs) / remembered;
    this.#leave();
  }

  #leave(): void {
    if (this.#isTaken) this.#load.count -= 1;
    this.#isTaken = false;
  }
}
