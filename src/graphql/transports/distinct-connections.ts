import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { bodyText, unsupportedBody } from '../../bodies/body.ts';
import { withoutStatus } from '../failure.ts';
import type { Operations } from '../server/operations.ts';
import { operationOf, readOperation } from '../server/read-operation.ts';
import type { SentOperation } from '../server/sent-documents.ts';
import type { StreamMessage } from '../server/stream-messages.ts';
import { readQuery } from '../server/use-requests.ts';
import { statusOf } from './json-requests.ts';
import { beginMultipart, errorsPart, multipartEnd, resultPart } from './multipart.ts';
import { beginEventStream, compressEvents, endStream, sendEvent, sendText } from './server-events.ts';

/** Answers a subscription that asks for an event stream, or for a multipart response. Returns false for any other request, before anything is executed. */
export type DistinctConnections = (
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
) => Promise<boolean>;

/** A client waits this long before it opens a stream again, in milliseconds: not all at once after a restart. */
const reconnect = { leastMs: 500, spreadMs: 2_000 } as const;

interface DistinctConnectionOptions {
  readonly operations: Operations;
  /** How often an open stream sends a sign of life, in milliseconds. */
  readonly keepAliveMs: number;
  /** Whether event streams are compressed for clients that take it. */
  readonly compresses: boolean;
}

/**
 * Serves subscriptions as event streams with a connection each (the distinct connections mode of graphql-sse's PROTOCOL.md),
 * or as multipart responses (multipart.ts). Each message of an event stream has its cursor as `id`, and a request's
 * Last-Event-ID resumes after it, so that clients of the HTML standard resume by themselves.
 */
export function createDistinctConnections(options: DistinctConnectionOptions): DistinctConnections {
  const { operations, keepAliveMs, compresses } = options;
  return async (request, response, body) => {
    const params = readParams(request, body);
    if (!params) return false;
    const { authorization, 'last-event-id': lastEventId } = request.headers;
    // Undefined where proxies or libraries send it more than once.
    const resumeAfter = typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : undefined;
    const messages = wantsEvents(request)
      ? eventMessages(response, keepAliveMs)
      : multipartMessages(response, keepAliveMs);
    const { farewell } = messages;
    const prepared = await operations.prepare({ authorization, response, resumeAfter, farewell }, params);
    if (!('document' in prepared) || !prepared.isSubscription) return false;
    const stream = await operations.subscribe(prepared);
    if (!response.destroyed) {
      if (compresses && wantsEvents(request)) compressEvents(request, response);
      const status = isAsyncIterable(stream) ? 200 : statusOf(stream, 'application/json');
      messages.begin(status);
    }
    await (isAsyncIterable(stream) ? sendStream(response, messages, stream) : sendRefusal(response, messages, stream));
    return true;
  };
}

/** Tells whether a request is for an event stream. */
export function wantsEvents({ headers: { accept } }: IncomingMessage): boolean {
  return accept?.includes('text/event-stream') ?? false;
}

/** How the messages of a stream are written. */
interface Messages {
  begin(status: number): void;
  next(message: StreamMessage): Promise<void>;
  refuse(refusal: object, errors: readonly object[]): Promise<void>;
  complete(): Promise<void>;
  /** Writes what is said before the connection is cut. */
  readonly farewell: (refusal: { readonly errors: readonly object[] }) => void;
}

function eventMessages(response: ServerResponse, keepAliveMs: number): Messages {
  const next = (data: string, id?: string) => sendEvent(response, { event: 'next', data, id });
  return {
    begin(status) {
      const retryMs = reconnect.leastMs + Math.floor(Math.random() * reconnect.spreadMs);
      beginEventStream(response, status, { keepAliveMs, retryMs });
    },
    next: ({ text, cursor }) => next(text, cursor),
    refuse: (refusal) => next(JSON.stringify(refusal)),
    complete: () => sendEvent(response, { event: 'complete', data: '' }),
    farewell: (refusal) => void next(JSON.stringify(refusal)),
  };
}

function multipartMessages(response: ServerResponse, keepAliveMs: number): Messages {
  return {
    begin: (status) => beginMultipart(response, status, keepAliveMs),
    next: ({ text }) => sendText(response, resultPart(text)),
    refuse: (_refusal, errors) => sendText(response, errorsPart(errors)),
    complete: () => sendText(response, multipartEnd),
    farewell: ({ errors }) => void sendText(response, errorsPart(errors)),
  };
}

/** Reads the operation of a request. Undefined where it is malformed. */
function readParams(request: IncomingMessage, body: Buffer): SentOperation | undefined {
  if (request.method === 'GET') {
    try {
      return operationOf(readQuery(new URL(request.url ?? '/', 'http://localhost').searchParams));
    } catch {
      return undefined;
    }
  }
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  const text = request.method !== 'POST' || unsupportedBody({ type, encoding }) ? undefined : bodyText(body);
  return text === undefined ? undefined : readOperation(text);
}

async function sendStream(
  response: ServerResponse,
  messages: Messages,
  stream: AsyncIterableIterator<StreamMessage>,
): Promise<void> {
  response.once('close', () => stream.return?.());
  if (response.destroyed) await stream.return?.();
  try {
    for await (const message of stream) await messages.next(message);
  } catch {
    // Clients take `complete` as the end, and a cut as a reason to resume.
    response.destroy();
    return;
  }
  await messages.complete();
  endStream(response);
}

async function sendRefusal(
  response: ServerResponse,
  messages: Messages,
  { errors = [], ...rest }: ExecutionResult,
): Promise<void> {
  const presented = errors.map(withoutStatus);
  await messages.refuse({ ...rest, errors: presented }, presented);
  await messages.complete();
  endStream(response);
}
