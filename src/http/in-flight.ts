import type { ServerResponse } from 'node:http';
import { Waits } from './waits.ts';

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
  enter(response: ServerResponse): boolean {
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
    // How long a client waited before it broke off tells nothing of the answers.
    response.once('close', () => leave(false));
    if (response.closed) leave(false);
    onHead(response, (contentType) => {
      if (contentType.startsWith('text/event-stream')) leave(true);
    });
    onEnd(response, () => {
      leave(true);
      if (!response.closed)
        response.once(
          'close',
          this.#unread.begin(() => response.destroy()),
        );
    });
    return true;
  }
}

/** Node tells nobody when a response's head is complete, so writeHead is listened to. */
function onHead(response: ServerResponse, tell: (contentType: string) => void): void {
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse;
  // Passes on whatever it is given: the overloads of writeHead cannot be spelled as one signature.
  response.writeHead = ((...args: unknown[]) => {
    const done = writeHead(...args);
    // Headers given to writeHead itself are not among those that getHeader knows.
    const given = Object.entries(Object(args.at(-1))).find(([name]) => name.toLowerCase() === 'content-type');
    tell(String(given?.[1] ?? response.getHeader('content-type')));
    return done;
  }) as typeof response.writeHead;
}

/** Nor when it is complete: 'finish' comes when it has been sent, behind others of its connection and as its client reads. */
function onEnd(response: ServerResponse, tell: () => void): void {
  const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
  response.end = ((...args: unknown[]) => {
    tell();
    return end(...args);
  }) as typeof response.end;
}
