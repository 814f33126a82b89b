import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { acceptsEncoding } from '../../http/bodies/answer.ts';

/** Writes server-sent events (HTML standard) as in GraphQL over SSE: JSON messages, and comments as keep-alives. */

const compressors = new WeakMap<ServerResponse, Writable>();

/**
 * Uses little memory per stream, since messages mostly repeat recent ones. Each message is flushed, so that none
 * waits.
 */
const compression = { windowBits: 12, memLevel: 4, level: 6, flush: constants.Z_SYNC_FLUSH } as const;

/** Compresses the event stream that will begin on a response, if its client accepts that. */
export function compressEvents(request: IncomingMessage, response: ServerResponse): void {
  if (!acceptsEncoding(request, 'gzip')) return;
  const compressor = createGzip(compression);
  compressors.set(response, compressor);
  response.setHeader('content-encoding', 'gzip');
  compressor.pipe(response);
  response.once('close', () => compressor.destroy());
}

function bodyOf(response: ServerResponse): Writable {
  return compressors.get(response) ?? response;
}

/**
 * Begins an event stream and sends periodic keep-alives. A keep-alive is a comment line alone: some parsers would take
 * a blank line after it as an empty message.
 * @param status the status of the response
 * @param keepAliveMs the milliseconds between two keep-alives
 * @param retryMs how long a standard client waits before it reconnects, in milliseconds
 */
export function beginEventStream(
  response: ServerResponse,
  status: number,
  { keepAliveMs, retryMs }: { readonly keepAliveMs: number; readonly retryMs: number },
): void {
  response.writeHead(status, {
    'content-type': 'text/event-stream; charset=utf-8',
    // A proxy that compressed the stream would hold its messages back.
    'cache-control': 'no-store, no-transform',
    // Proxies that buffer a whole response would never pass on an event stream.
    'x-accel-buffering': 'no',
  });
  const body = bodyOf(response);
  body.write(`:\nretry: ${retryMs}\n`);
  const ping = setInterval(() => {
    if (!body.writableNeedDrain) body.write(':\n');
  }, keepAliveMs).unref();
  response.once('close', () => clearInterval(ping));
}

export interface ServerEvent {
  readonly event: 'next' | 'complete';
  /** JSON on one line, or '' for none. */
  readonly data: string;
  /** The Last-Event-ID that a client sends when it reconnects. */
  readonly id?: string | undefined;
}

/** Sends a message and waits until the connection accepts more, so that nothing runs ahead of the reader. */
export async function sendEvent(response: ServerResponse, { event, data, id }: ServerEvent): Promise<void> {
  if (response.destroyed) return;
  const body = bodyOf(response);
  if (body.write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`)) return;
  await new Promise<void>((resolve) => {
    const resume = () => {
      body.off('drain', resume);
      response.off('close', resume);
      resolve();
    };
    body.on('drain', resume);
    response.on('close', resume);
  });
}

/** Ends a stream after the messages that have been sent. */
export function endStream(response: ServerResponse): void {
  bodyOf(response).end();
}
