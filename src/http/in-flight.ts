import { Waits } from './waits.ts';
import type { WatchedResponse } from './watched-response.ts';

export interface Room {
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
  readonly #room: Room;
  readonly #least: number;
  #count = 0;
  /** The moving average of how long answers took, in milliseconds. */
  #averageMs = 0;
  readonly #unread = new Waits(mostUnread);

  constructor(room: Room) {
    this.#room = room;
    this.#least = Math.ceil(room.most / share);
  }

  /** Takes a place until the response is complete or broken off. False when there is none left. */
  enter(response: WatchedResponse): boolean {
    if (this.#count >= (this.#averageMs > this.#room.slowMs ? this.#least : this.#room.most)) return false;
    this.#count += 1;
    const began = performance.now();
    let inside = true;
    const leave = (answered: boolean) => {
      if (!inside) return;
      inside = false;
      this.#count -= 1;
      if (answered) this.#averageMs += (performance.now() - began - this.#averageMs) / remembered;
    };
    let taken: (() => void) | undefined;
    response.once('close', () => {
      // How long a client waited before it broke off tells nothing of the answers.
      leave(false);
      taken?.();
    });
    if (response.closed) leave(false);
    response.onHead = (contentType) => {
      if (contentType.startsWith('text/event-stream')) leave(true);
    };
    response.onEnd = () => {
      leave(true);
      if (!response.closed) taken ??= this.#unread.begin(() => response.destroy());
    };
    return true;
  }
}
