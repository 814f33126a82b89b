import { type IncomingMessage, ServerResponse } from 'node:http';

/** Who is told of a response. */
export interface ResponseWatcher {
  /** Its head is made, with this media type or 'undefined'. */
  headMade(contentType: string): void;
  /** All of it is there. */
  ended(): void;
}

/**
 * A response that tells when its head is made and when it is complete. Node tells nobody: 'finish' comes when all has been
 * sent, behind other responses of its connection and as its client reads.
 */
export class WatchedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** An object, since functions in a field of each response survive V8's young collections, with all they hold (bench/LOG.md). */
  watcher: ResponseWatcher | undefined;

  // Both pass on whatever they are given: the overloads of Node's cannot be spelled as one signature.
  override writeHead(...args: unknown[]): this {
    const done = (super.writeHead as (...args: unknown[]) => this).apply(this, args);
    this.watcher?.headMade(this.#contentType(args.at(-1)));
    return done;
  }

  override end(...args: unknown[]): this {
    this.watcher?.ended();
    return (super.end as (...args: unknown[]) => this).apply(this, args);
  }

  /** Headers given to writeHead itself are not among those that getHeader knows. */
  #contentType(headers: unknown): string {
    for (const name in Object(headers)) {
      if (name.toLowerCase() === 'content-type') return String((headers as Record<string, unknown>)[name]);
    }
    return String(this.getHeader('content-type'));
  }
}
