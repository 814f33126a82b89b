import { type IncomingMessage, ServerResponse } from 'node:http';

/** The observer of a response. */
export interface ResponseWatcher {
  /** Called when the headers are written, with the media type or 'undefined'. */
  onHeaders(contentType: string): void;
  /** Called when the response is complete, before the client has read it. */
  onEnd(): void;
}

/**
 * A response that reports when its headers are written and when it is complete. Node has no such events: 'finish' comes
 * when all has been sent, after other responses of the connection and as fast as the client reads.
 */
export class WatchedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** An object: functions in a field of each response survive V8's young collections with all they hold (bench/LOG.md). */
  watcher: ResponseWatcher | undefined;

  // Both pass all arguments on: one signature cannot express the overloads of Node's.
  override writeHead(...args: unknown[]): this {
    const result = (super.writeHead as (...args: unknown[]) => this).apply(this, args);
    this.watcher?.onHeaders(this.#contentType(args.at(-1)));
    return result;
  }

  override end(...args: unknown[]): this {
    this.watcher?.onEnd();
    return (super.end as (...args: unknown[]) => this).apply(this, args);
  }

  /** Returns the Content-Type, also of headers passed to writeHead, which getHeader does not know. */
  #contentType(headers: unknown): string {
    for (const name in Object(headers)) {
      if (name.toLowerCase() === 'content-type') return String((headers as Record<string, unknown>)[name]);
    }
    return String(this.getHeader('content-type'));
  }
}
