import type { IncomingMessage, ServerResponse } from 'node:http';
import { BoundedWaits } from './bounded-waits.ts';
import type { Callers } from './callers.ts';
import { endGently, lingerMs } from './connections.ts';

/** The maximum size of a request body, in bytes. */
export const bodyBytes = 100 * 1024;

/** How many bodies from platforms and from unknown callers are read at once. Together they take at most 100 MB. */
export const maxReads = 900;
export const maxStrangers = 100;

/** How many chunks are joined at a time. Small chunks take far more memory than their content until they are joined. */
const maxChunks = 64;

/** A request's whole body, or why it is missing: it is too long, or reading it was abandoned in favor of others. */
export type Body = Buffer | 'TOO_LONG' | 'EVICTED';

const empty = Buffer.alloc(0);

export function isTooLong({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > bodyBytes;
}

/**
 * Leaves the body of a refused request unread until `discardRest` is called, unless it is already being read. A body
 * whose declared length is too large is not read to its end, so the connection ends after the response.
 */
export function holdBody(response: ServerResponse): void {
  const { req: request } = response;
  if (!request.complete) request.socket.pause();
  if (isTooLong(request)) endWithResponse(response);
}

/**
 * Reads and discards the rest of a body, so that the client receives the response and can send the next request over
 * the connection. If the rest exceeds the body limit, the connection is closed soon after the response.
 */
export function discardRest(response: ServerResponse): void {
  const { socket } = response.req;
  const cut = () => setTimeout(() => socket.destroy(), lingerMs).unref();
  let bytes = 0;
  let isOver = false;
  socket.resume();
  response.req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (isOver || bytes <= bodyBytes) return;
    isOver = true;
    // The pause is deferred, because the stream resumes reading when this function returns.
    setImmediate(() => socket.pause());
    if (response.writableFinished) cut();
    else response.once('finish', cut);
  });
}

/** Ends the connection after the response, because the rest of an overlong body is still arriving. */
function endWithResponse(response: ServerResponse): void {
  response.setHeader('connection', 'close');
  endGently(response.req.socket);
}

/**
 * Reads whole request bodies. Slow bodies do not delay others. If too many reads are for unknown callers, the oldest of
 * them is evicted. If too many are for platforms, the oldest read of the platform with the most reads is evicted.
 */
export class BodyReader {
  readonly #reads = new BoundedWaits(maxReads);
  readonly #ofStrangers = new BoundedWaits(maxStrangers);
  readonly #senders: Pick<Callers, 'known' | 'lookUp'>;

  constructor(senders: Pick<Callers, 'known' | 'lookUp'>) {
    this.#senders = senders;
  }

  /** Reads a body. Discards the rest if it is too long or evicted. Throws if the client aborts the request. */
  async read(response: ServerResponse): Promise<Body> {
    const { req: request } = response;
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
    if (length === '0' && encoding === undefined) return empty;
    const body = isTooLong(request) ? 'TOO_LONG' : await this.#readAll(request);
    if (typeof body === 'string') discardRest(response);
    if (body === 'TOO_LONG') endWithResponse(response);
    return body;
  }

  #readAll(request: IncomingMessage): Promise<Body> {
    return new Promise((resolve, reject) => {
      let chunks: Buffer[] = [];
      let bytes = 0;
      let isOver = false;
      const end = (body?: Body) => {
        // 'close' is also emitted after a complete body.
        if (isOver) return;
        isOver = true;
        endWait();
        chunks = [];
        request.off('data', take);
        // A request that closes before its body is complete was aborted by its client.
        if (body === undefined) reject(new Error('the request was aborted'));
        else resolve(body);
      };
      const take = (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > bodyBytes) return end('TOO_LONG');
        chunks.push(chunk);
        if (chunks.length === maxChunks) chunks = [Buffer.concat(chunks)];
      };
      const evict = () => end('EVICTED');
      const known = this.#senders.known(request);
      let endWait = known === undefined ? this.#ofStrangers.begin(evict) : this.#reads.begin(evict, known);
      // The sender is looked up in the database only if the body does not arrive in one piece.
      if (known === undefined && request.headers.authorization !== undefined) {
        setImmediate(async () => {
          const platform = isOver ? undefined : await this.#senders.lookUp(request).catch(() => undefined);
          if (isOver || platform === undefined) return;
          endWait();
          endWait = this.#reads.begin(evict, platform);
        });
      }
      request
        .on('data', take)
        .on('end', () => end(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
        .on('error', () => end())
        .on('close', () => end());
    });
  }
}
