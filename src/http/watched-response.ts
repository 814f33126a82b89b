import { type IncomingMessage, ServerResponse } from 'node:http';

/**
 * A response that tells when its head is made and when it is complete. Node tells nobody: 'finish' comes when all has been
 * sent, behind other responses of its connection and as its client reads. By a class, since methods that are put onto every
 * single response keep what they hold through V8's young collections (bench/LOG.md).
 */
export class WatchedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Called with the media type, or 'undefined', once the head is made. */
  onHead: ((contentType: string) => void) | undefined;
  /** Called when all of the response is there. */
  onEnd: (() => void) | undefined;

  // Both pass on whatever they are given: the overloads of Node's cannot be spelled as one signature.
  override writeHead(...args: unknown[]): this {
    const done = (super.writeHead as (...args: unknown[]) => this).apply(this, args);
    this.onHead?.(this.#contentType(args.at(-1)));
    return done;
  }

  override end(...args: unknown[]): this {
    this.onEnd?.();
    return (super.end as (...args: unknown[]) => this).apply(this, args);
  }

  /** Headers given to writeHead itself are not among those that getHeader knows. */
  #contentType(headers: unknown): string {
    const given = Object.entries(Object(headers)).find(([name]) => name.toLowerCase() === 'content-type');
    return String(given?.[1] ?? this.getHeader('content-type'));
  }
}
