import type { IncomingMessage, ServerResponse } from 'node:http';
import { isAsyncIterable } from 'graphql-yoga';
import { withoutStatus } from '../failure.ts';
import { requestStatus } from '../server/http-answer.ts';
import type { Operations } from '../server/operations.ts';
import { readOperation } from '../server/read-operation.ts';
import type { StreamMessage } from '../server/stream-messages.ts';
import { beginEventStream, compressEvents, endStream, sendEvent } from './server-events.ts';

/** Serves a subscription that requests an event stream. Returns false for any other request, before execution. */
export type DistinctConnections = (
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
) => Promise<boolean>;

/**
 * How long a client waits before it reopens a stream, in milliseconds, so that not all do so together after a restart.
 */
const reconnect = { leastMs: 500, spreadMs: 2_000 } as const;

interface DistinctConnectionOptions {
  readonly operations: Operations;
  /** The interval between keep-alives of an open stream, in milliseconds. */
  readonly keepAliveMs: number;
  readonly compresses: boolean;
}

/**
 * Serves subscriptions as event streams with one connection each (the distinct connections mode of graphql-sse's
 * PROTOCOL.md). Each message has its cursor as `id`, and a request's Last-Event-ID resumes after it, so that clients of
 * the HTML standard resume by themselves.
 */
export function createDistinctConnections(options: DistinctConnectionOptions): DistinctConnections {
  const { operations, keepAliveMs, compresses } = options;
  return async (request, response, body) => {
    const { authorization, 'last-event-id': lastEventId } = request.headers;
    // Undefined if proxies or libraries send it more than once.
    const resumeAfter = typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : undefined;
    const farewell = (refusal: object) => void sendNext(response, JSON.stringify(refusal));
    const prepared = await operations.prepare({ authorization, response, resumeAfter, farewell }, () =>
      readOperation(request, body),
    );
    if (!('document' in prepared) || !prepared.isSubscription) return false;
    const stream = await operations.subscribe(prepared);
    if (!response.destroyed) {
      if (compresses) compressEvents(request, response);
      const status = isAsyncIterable(stream) ? 200 : (requestStatus(stream, 'application/json') ?? 200);
      const retryMs = reconnect.leastMs + Math.floor(Math.random() * reconnect.spreadMs);
      beginEventStream(response, status, { keepAliveMs, retryMs });
    }
    if (isAsyncIterable(stream)) await sendStream(response, stream);
    else {
      const { errors = [], ...rest } = stream;
      await sendNext(response, JSON.stringify({ ...rest, errors: errors.map(withoutStatus) }));
      await complete(response);
    }
    return true;
  };
}

function sendNext(response: ServerResponse, data: string, id?: string): Promise<void> {
  return sendEvent(response, { event: 'next', data, id });
}

async function sendStream(response: ServerResponse, stream: AsyncIterableIterator<StreamMessage>): Promise<void> {
  response.once('close', () => stream.return?.());
  if (response.destroyed) await stream.return?.();
  try {
    for await (const { text, cursor } of stream) await sendNext(response, text, cursor);
  } catch {
    // Clients take `complete` as the end, and a cut as a reason to resume.
    response.destroy();
    return;
  }
  await complete(response);
}

async function complete(response: ServerResponse): Promise<void> {
  await sendEvent(response, { event: 'complete', data: '' });
  endStream(response);
}
