import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { isAsyncIterable } from 'graphql-yoga';
import { acceptsGzip } from '../../http/bodies/answer.ts';
import { withoutStatus } from '../failure.ts';
import { requestStatus } from '../server/http-answer.ts';
import { readOperation } from '../server/read-operation.ts';
import type { StreamMessage } from '../server/streams.ts';
import type { SocketOptions } from './socket-sessions.ts';

export type DistinctConnections = ReturnType<typeof createDistinctConnections>;

/** How long a client waits before it reopens a stream. Random, so that clients do not all reconnect at once. */
const reconnect = { leastMs: 500, spreadMs: 2_000 } as const;

/**
 * Serves subscriptions as event streams with one connection each (the distinct connections mode of graphql-sse's
 * PROTOCOL.md). The `id` of each message is its cursor, and a stream resumes after the request's Last-Event-ID. For any
 * other request, the returned function executes nothing and returns false.
 */
export function createDistinctConnections({
  operations,
  keepAliveMs,
  compresses,
}: Pick<SocketOptions, 'operations' | 'keepAliveMs' | 'compresses'>) {
  return async (response: ServerResponse, body: Buffer): Promise<boolean> => {
    const { authorization, 'last-event-id': lastEventId } = response.req.headers;
    const resumeAfter = typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : undefined;
    const farewell = (refusal: object) => void sendEvent(response, 'next', JSON.stringify(refusal));
    const prepared = await operations.prepare({ authorization, response, resumeAfter, farewell }, () =>
      readOperation(response.req, body),
    );
    if (!('document' in prepared) || prepared.operation.operation !== 'subscription') return false;
    const stream = await operations.subscribe(prepared);
    if (!response.destroyed) {
      if (compresses) compressEvents(response);
      const status = isAsyncIterable(stream) ? 200 : (requestStatus(stream, 'application/json') ?? 200);
      const retryMs = reconnect.leastMs + Math.floor(Math.random() * reconnect.spreadMs);
      beginEventStream(response, status, keepAliveMs, retryMs);
    }
    if (isAsyncIterable(stream) && response.req.method === 'HEAD') {
      await stream.return?.();
      bodyOf(response).end();
    } else if (isAsyncIterable(stream)) await sendStream(response, stream);
    else {
      const { errors = [], ...rest } = stream;
      await sendEvent(response, 'next', JSON.stringify({ ...rest, errors: errors.map(withoutStatus) }));
      await complete(response);
    }
    return true;
  };
}

async function sendStream(response: ServerResponse, stream: AsyncIterableIterator<StreamMessage>): Promise<void> {
  response.once('close', () => stream.return?.());
  if (response.destroyed) await stream.return?.();
  try {
    for await (const { text, cursor } of stream) await sendEvent(response, 'next', text, cursor);
  } catch {
    // Clients treat `complete` as the end of the stream, but resume after a dropped connection.
    response.destroy();
    return;
  }
  await complete(response);
}

async function complete(response: ServerResponse): Promise<void> {
  await sendEvent(response, 'complete', '');
  bodyOf(response).end();
}

const compressors = new WeakMap<ServerResponse, Writable>();

/** Little memory per stream suffices, because most messages resemble recent ones. Each message is flushed. */
const compression = { windowBits: 12, memLevel: 4, level: 6, flush: constants.Z_SYNC_FLUSH } as const;

function compressEvents(response: ServerResponse): void {
  if (!acceptsGzip(response.req)) return;
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
 * Begins an event stream and periodically sends a comment line as a keep-alive. No blank line follows it, because some
 * parsers would take one for an empty message. A standard client waits for `retryMs` before it reconnects.
 */
function beginEventStream(response: ServerResponse, status: number, keepAliveMs: number, retryMs: number): void {
  response.writeHead(status, {
    'content-type': 'text/event-stream; charset=utf-8',
    // A proxy that compressed the stream would delay its messages.
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

/**
 * Sends a message and waits until the connection accepts more, so that the stream does not run ahead of its reader.
 * @param id the Last-Event-ID that a client sends when it reconnects
 */
async function sendEvent(response: ServerResponse, event: 'next' | 'complete', data: string, id?: string) {
  if (response.destroyed) return;
  const body = bodyOf(response);
  if (body.write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`)) return;
  const waiting = new AbortController();
  const { signal } = waiting;
  await Promise.race([once(body, 'drain', { signal }), once(response, 'close', { signal })]).catch(() => undefined);
  waiting.abort();
}
