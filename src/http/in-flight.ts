import type { ServerResponse } from 'node:http';

/**
 * How many requests are being answered at once, and the most that may be. Beyond it a request is refused at once: with
 * every request kept waiting, all would come too late. A stream gives its place back when it begins, since from then on
 * it only waits.
 */
export class InFlight {
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a place until the response is sent or broken off. False when there is none left. */
  enter(response: ServerResponse): boolean {
    if (this.#count >= this.#most) return false;
    this.#count += 1;
    let inside = true;
    const leave = () => {
      if (inside) this.#count -= 1;
      inside = false;
    };
    response.once('close', leave);
    onHead(response, (contentType) => {
      if (contentType.startsWith('text/event-stream')) leave();
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
