import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { constants, gzip, gzipSync } from 'node:zlib';
import Negotiator from 'negotiator';

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Buffer;
}

/** The minimum size of a compressed response, in bytes before compression. Shorter ones fit in one packet anyway. */
const compressedFrom = 1_400;
/** Responses up to this size, in bytes, are compressed on this thread. Using another saves nothing (bench/LOG.md). */
const compressedAtOnce = 16 * 1024;

/** The fastest level compresses JSON nearly as well as the slower ones (bench/LOG.md). */
const options = { level: constants.Z_BEST_SPEED };
const compress = promisify(gzip) as (body: string | Buffer, settings: typeof options) => Promise<Buffer>;

/** Sends a whole response, compressed if it is long enough and the client accepts compression. */
export async function sendAnswer(response: ServerResponse, { status, headers, body }: Answer): Promise<void> {
  const length = Buffer.byteLength(body);
  if (length < compressedFrom || !acceptsGzip(response.req)) {
    response.writeHead(status, { ...headers, 'content-length': length }).end(body);
    return;
  }
  const bytes = length <= compressedAtOnce ? gzipSync(body, options) : await compress(body, options);
  if (response.destroyed) return;
  response.writeHead(status, { ...headers, 'content-encoding': 'gzip', 'content-length': bytes.length }).end(bytes);
}

/** Returns whether a client accepts a compressed response (RFC 9110, 12.5.3). */
export function acceptsGzip(request: IncomingMessage): boolean {
  return new Negotiator(request).encodings(['gzip']).includes('gzip');
}
