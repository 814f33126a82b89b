import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLError } from 'graphql';
import { z } from 'zod';
import { RateLimited } from '../../access/limits/rate-limits.ts';
import type { TokenCap } from '../../access/limits/token-caps.ts';
import type { Credentials } from '../../access/tokens/credentials.ts';
import type { Sessions } from '../../access/tokens/sessions.ts';
import { mayDoAllThat, type Viewer } from '../../access/viewer.ts';
import { bodyText, unsupportedBody } from '../../bodies/body.ts';
import { parseJson } from '../../bodies/json.ts';
import { inTurn, type TakeTurn } from '../../core/turn.ts';
import { rateLimited, withoutStatus } from '../failure.ts';
import type { Operations, Prepared } from '../server/operations.ts';
import type { SentOperation } from '../server/sent-documents.ts';
import { unauthenticated } from '../server/server.ts';
import { EventStream } from './event-stream.ts';
import { maxOperations, tooManyOperations } from './operation.ts';
import { compressEvents } from './server-events.ts';

const tokenHeader = 'x-graphql-event-stream-token';

const operationBody = z.object({
  query: z.string().nullish(),
  documentId: z.string().nullish(),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  extensions: z.looseObject({ operationId: z.string().min(1).max(200) }),
});

/** Returns the token of the stream that a request names, from its header or its URL; undefined where it names none. */
export function streamToken(request: IncomingMessage): string | undefined {
  const header = request.headers[tokenHeader];
  const query = searchParams(request).get('token');
  return (Array.isArray(header) ? header[0] : header) ?? query ?? undefined;
}

/** Answers a request at /graphql/stream whose body has been read. */
export type SingleConnections = (request: IncomingMessage, response: ServerResponse, body: Buffer) => Promise<void>;

interface SingleConnectionOptions {
  readonly operations: Operations;
  readonly credentials: Credentials;
  readonly sessions: Sessions;
  /** How many streams each token may have reserved or open. */
  readonly reservations: TokenCap;
  /** The name of this instance in the tokens of its streams: another one does not know them. */
  readonly instance: string;
  readonly takeTurn: TakeTurn;
  readonly keepAliveMs: number;
  /** Whether event streams are compressed for clients that take it. */
  readonly compresses: boolean;
}

/**
 * Serves the single-connection mode of GraphQL over SSE (graphql-sse PROTOCOL.md) at /graphql/stream: PUT reserves a stream, GET
 * opens it, POST starts an operation whose results are sent on it, DELETE ends one. As on a socket, operations are run by
 * server/operations.ts, at most `maxOperations` at once, and a reader that does not keep up is disconnected.
 *
 * The handler of graphql-sse (2.6.1) is not used: its queue of messages for a reader has no bound, a reservation that nobody
 * opens is never forgotten, nothing outside of it can end a stream whose token is revoked, and its pings come every 12 s.
 */
export function createSingleConnections(options: SingleConnectionOptions): SingleConnections {
  const handler = new Handler(options);
  return (request, response, body) => handler.answer(request, response, body);
}

class Handler {
  readonly #options: SingleConnectionOptions;
  readonly #streams = new Map<string, EventStream>();

  constructor(options: SingleConnectionOptions) {
    this.#options = options;
  }

  async answer(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const token = streamToken(request);
    const stream = token === undefined ? undefined : this.#streams.get(token);
    // The token is enough to open a stream: only the client that reserved it has been given it.
    if (request.method === 'GET' && stream) return this.#open(stream, request, response);

    const viewer = await this.#options.credentials.authenticate(request.headers.authorization ?? '');
    if (!viewer) return answer(response, 401, { errors: [withoutStatus(unauthenticated())] });
    if (request.method === 'PUT') return this.#reserve(viewer, response);
    if (!stream) return refuse(response, 404, 'NOT_FOUND', this.#reasonOfAbsence(token));
    if (request.method === 'POST') return this.#start(stream, viewer, { request, response, body });
    if (request.method === 'DELETE') {
      if (!isOwner(stream, viewer)) return refuseStranger(response);
      stream.stop(searchParams(request).get('operationId') ?? '');
      response.writeHead(200).end();
      return;
    }
    refuse(response, 405, 'METHOD_NOT_ALLOWED', 'PUT, GET, POST or DELETE');
  }

  #open(stream: EventStream, request: IncomingMessage, response: ServerResponse): void {
    if (stream.isOpen) {
      refuse(response, 409, 'CONFLICT', 'the stream is already open');
      return;
    }
    if (this.#options.compresses) compressEvents(request, response);
    stream.open(response);
  }

  /** Says why there is no stream with a token, and what to do. */
  #reasonOfAbsence(token: string | undefined): string {
    const [instance, id] = token?.split('.') ?? [];
    if (id === undefined) return 'no such stream: PUT reserves one';
    return instance === this.#options.instance
      ? 'the stream has ended: PUT reserves another'
      : 'the stream was reserved on another instance, or before a restart: PUT reserves another here. All requests of a stream go to one instance; with several of them route by x-graphql-event-stream-token, or use a connection for each operation';
  }

  #reserve(viewer: Viewer, response: ServerResponse): void {
    const { sessions, reservations, instance, keepAliveMs } = this.#options;
    const release = reservations.open(viewer);
    if (release instanceof RateLimited) {
      response.setHeader('retry-after', String(release.retryAfter));
      answer(response, 429, { errors: [rateLimited(release)] });
      return;
    }
    const token = `${instance}.${randomUUID()}`;
    const onEnd = () => {
      this.#streams.delete(token);
      release();
    };
    this.#streams.set(token, new EventStream({ viewer, sessions, keepAliveMs, onEnd }));
    response.writeHead(201, { 'content-type': 'text/plain; charset=utf-8' }).end(token);
  }

  async #start(stream: EventStream, viewer: Viewer, { request, response, body }: Exchange): Promise<void> {
    const { 'content-type': type, 'content-encoding': encoding, authorization = '' } = request.headers;
    const unsupported = unsupportedBody({ type, encoding });
    if (unsupported) {
      response.setHeaders(new Map(Object.entries(unsupported.headers)));
      return refuse(response, 415, 'UNSUPPORTED_MEDIA_TYPE', unsupported.message);
    }
    const parsed = operationBody.safeParse(parseBody(body));
    if (!parsed.success)
      return refuse(response, 400, 'INVALID_INPUT', 'the body has query or documentId, and extensions.operationId');
    const params = parsed.data;
    const id = params.extensions.operationId;
    if (!isOwner(stream, viewer)) return refuseStranger(response);
    if (stream.hasOperation(id)) return refuse(response, 409, 'CONFLICT', `operation ${id} is under way`);
    stream.renew(viewer);
    response.writeHead(202).end();
    if (stream.operationCount >= maxOperations) return stream.refuse(id, tooManyOperations());
    await stream.run(id, (isGone) => this.#run(stream, params, { authorization, isGone }));
  }

  async #run(
    stream: EventStream,
    params: SentOperation,
    caller: { readonly authorization: string; readonly isGone: () => boolean },
  ): Promise<object> {
    const { operations, takeTurn } = this.#options;
    const closeForRetry = () => stream.closeForRetry();
    // The request has been answered, and its turn has ended with that.
    return inTurn(await takeTurn(stream.viewer.platformId), async () => {
      const prepared = await operations.prepare({ ...caller, closeForRetry }, params);
      if (isErrors(prepared)) return { errors: prepared };
      return prepared.isSubscription ? operations.subscribe(prepared) : operations.execute(prepared);
    });
  }
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
}

/** Says whether a viewer is who reserved the stream, and may do what that one might. */
function isOwner({ viewer: owner }: EventStream, viewer: Viewer): boolean {
  const isSame = owner.platformId === viewer.platformId && owner.subject === viewer.subject;
  return isSame && mayDoAllThat(viewer, owner);
}

function refuseStranger(response: ServerResponse): void {
  refuse(response, 403, 'FORBIDDEN', 'the stream was reserved by somebody else');
}

function isErrors(prepared: Prepared | readonly GraphQLError[]): prepared is readonly GraphQLError[] {
  return Array.isArray(prepared);
}

function searchParams(request: IncomingMessage): URLSearchParams {
  return new URL(request.url ?? '/', 'http://localhost').searchParams;
}

/** Parses the body's JSON. Undefined where it is none, or not in UTF-8. */
function parseBody(body: Buffer): unknown {
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
