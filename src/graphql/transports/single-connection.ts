import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLError, GraphQLFormattedError } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { z } from 'zod';
import type { Credentials } from '../../access/credentials.ts';
import type { Session, Sessions } from '../../access/sessions.ts';
import type { Viewer } from '../../access/viewer.ts';
import { bodyText, unsupportedBody } from '../../bodies/body.ts';
import { parseJson } from '../../bodies/json.ts';
import type { OperationParams, Operations, Prepared } from '../server/operations.ts';
import { unauthenticated } from '../server/server.ts';
import { superviseStream } from '../server/supervise-stream.ts';
import { maxOperations, tooManyOperations, withoutStatus } from './operation.ts';

/** A reserved stream that nobody opens is forgotten after so long. */
const openWithinMs = 30_000;

const tokenHeader = 'x-graphql-event-stream-token';

const operation = z.object({
  query: z.string(),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  extensions: z.looseObject({ operationId: z.string().min(1).max(200) }),
});

/** What a client calls a reserved stream by, or undefined when the request names none. */
export function streamToken(request: IncomingMessage): string | undefined {
  const header = request.headers[tokenHeader];
  const query = new URL(request.url ?? '/', 'http://localhost').searchParams.get('token');
  return (Array.isArray(header) ? header[0] : header) ?? query ?? undefined;
}

/** One event stream that carries several operations. */
interface Stream {
  readonly viewer: Viewer;
  readonly operations: Map<string, AsyncIterator<unknown> | undefined>;
  /** The open response; undefined until the client opens it. */
  response: ServerResponse | undefined;
  session: Session | undefined;
  readonly opened: Promise<void>;
  readonly open: () => void;
  ended: boolean;
  forget: NodeJS.Timeout;
}

/** Answers a request at /graphql/stream whose body has been read. */
export type SingleConnections = (request: IncomingMessage, response: ServerResponse, body: Buffer) => Promise<void>;

/**
 * The single-connection mode of GraphQL over SSE (graphql-sse PROTOCOL.md) at /graphql/stream: PUT reserves a stream, GET
 * opens it, POST starts an operation whose results travel on it, DELETE ends one. As on a socket: every operation goes
 * the same way (server/operations.ts), at most `maxOperations` at once, and a reader who does not keep up is cut.
 */
export function createSingleConnections(options: {
  readonly operations: Operations;
  readonly credentials: Credentials;
  readonly sessions: Sessions;
  readonly keepAliveMs: number;
}): SingleConnections {
  const { operations, credentials, sessions, keepAliveMs } = options;
  const streams = new Map<string, Stream>();

  function reserve(viewer: Viewer, response: ServerResponse): void {
    const token = randomUUID();
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const forget = setTimeout(() => end(token), openWithinMs).unref();
    streams.set(token, {
      viewer,
      operations: new Map(),
      response: undefined,
      session: undefined,
      opened,
      open,
      ended: false,
      forget,
    });
    response.writeHead(201, { 'content-type': 'text/plain; charset=utf-8' }).end(token);
  }

  function open(token: string, stream: Stream, response: ServerResponse): void {
    if (stream.response) {
      refuse(response, 409, 'CONFLICT', 'the stream is already open');
      return;
    }
    clearTimeout(stream.forget);
    stream.response = response;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    response.write(':\n\n');
    const beat = setInterval(() => {
      if (!response.writableNeedDrain) response.write(':\n\n');
    }, keepAliveMs).unref();
    stream.session = superviseStream(sessions, stream.viewer, response);
    response.once('close', () => {
      clearInterval(beat);
      end(token);
    });
    stream.open();
  }

  function end(token: string): void {
    const stream = streams.get(token);
    if (!stream) return;
    streams.delete(token);
    clearTimeout(stream.forget);
    stream.ended = true;
    stream.open();
    for (const operation of stream.operations.values()) operation?.return?.();
    stream.operations.clear();
  }

  async function start(stream: Stream, viewer: Viewer, request: Requested, response: ServerResponse): Promise<void> {
    const parsed = operation.safeParse(request.json);
    if (!parsed.success) return refuse(response, 400, 'INVALID_INPUT', 'the body has query and extensions.operationId');
    const params = parsed.data;
    const id = params.extensions.operationId;
    if (viewer.platformId !== stream.viewer.platformId || viewer.subject !== stream.viewer.subject) {
      return refuse(response, 403, 'FORBIDDEN', 'the stream was reserved by somebody else');
    }
    if (stream.operations.has(id)) return refuse(response, 409, 'CONFLICT', `operation ${id} is under way`);
    stream.session?.renew(viewer);
    response.writeHead(202).end();
    if (stream.operations.size >= maxOperations) {
      await send(stream, 'next', { id, payload: { errors: [withoutStatus(tooManyOperations())] } });
      return send(stream, 'complete', { id });
    }
    stream.operations.set(id, undefined);
    await run(stream, id, params, request.authorization);
  }

  async function run(stream: Stream, id: string, params: OperationParams, authorization: string): Promise<void> {
    const next = (payload: object) => send(stream, 'next', { id, payload: asTravels(payload) });
    try {
      const closeForRetry = () => stream.response?.destroy();
      const prepared = await operations.prepare({ authorization, closeForRetry }, params);
      const result = isErrors(prepared)
        ? { errors: prepared }
        : await (prepared.isSubscription ? operations.subscribe(prepared) : operations.execute(prepared));
      await (isAsyncIterable<object>(result) ? follow(stream, id, result, next) : next(result));
    } finally {
      stream.operations.delete(id);
    }
    await send(stream, 'complete', { id });
  }

  return async (request, response, body) => {
    const token = streamToken(request);
    const stream = token === undefined ? undefined : streams.get(token);
    if (request.method === 'GET' && token !== undefined && stream) return open(token, stream, response);

    const authorization = request.headers.authorization ?? '';
    const viewer = await credentials.authenticate(authorization);
    if (!viewer) return answer(response, 401, { errors: [withoutStatus(unauthenticated())] });
    if (request.method === 'PUT') return reserve(viewer, response);
    if (!stream) return refuse(response, 404, 'NOT_FOUND', 'no such stream: PUT reserves one');
    if (request.method === 'POST') {
      const { 'content-type': type, 'content-encoding': encoding } = request.headers;
      const unsupported = unsupportedBody({ type, encoding });
      if (unsupported) {
        response.setHeaders(new Map(Object.entries(unsupported.headers)));
        return refuse(response, 415, 'UNSUPPORTED_MEDIA_TYPE', unsupported.message);
      }
      return start(stream, viewer, { json: jsonIn(body), authorization }, response);
    }
    if (request.method === 'DELETE') {
      const id = new URL(request.url ?? '/', 'http://localhost').searchParams.get('operationId') ?? '';
      stream.operations.get(id)?.return?.();
      response.writeHead(200).end();
      return;
    }
    refuse(response, 405, 'METHOD_NOT_ALLOWED', 'PUT, GET, POST or DELETE');
  };
}

interface Requested {
  readonly json: unknown;
  readonly authorization: string;
}

/** Passes on what a subscription brings, until it ends or the stream does. */
async function follow(
  stream: Stream,
  id: string,
  results: AsyncIterable<object>,
  next: (payload: object) => Promise<void>,
): Promise<void> {
  const iterator = results[Symbol.asyncIterator]();
  stream.operations.set(id, iterator);
  if (stream.ended) await iterator.return?.();
  for (;;) {
    const { done, value } = await iterator.next();
    if (done) return;
    await next(value);
  }
}

/** Writes a message and waits until the reader's end has taken it: so an operation never runs ahead of its reader. */
async function send(stream: Stream, event: 'next' | 'complete', data: object): Promise<void> {
  await stream.opened;
  const { response } = stream;
  if (!response || response.destroyed || stream.ended) return;
  if (response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

function isErrors(prepared: Prepared | readonly GraphQLError[]): prepared is readonly GraphQLError[] {
  return Array.isArray(prepared);
}

function asTravels(payload: object): object {
  if (!('errors' in payload) || !Array.isArray(payload.errors)) return payload;
  return {
    ...payload,
    errors: payload.errors.map((error: GraphQLError | GraphQLFormattedError) => withoutStatus(error)),
  };
}

/** The body's JSON, or undefined where it is none, or not in UTF-8. */
function jsonIn(body: Buffer): unknown {
  try {
    return parseJson(bodyText(body) ?? '');
  } catch {
    return undefined;
  }
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  answer(response, status, { errors: [{ message, extensions: { code } }] });
}

function answer(response: ServerResponse, status: number, json: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(json));
}
