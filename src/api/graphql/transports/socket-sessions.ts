import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { InexactJson } from '../../../core/json.ts';
import type { Slots } from '../../../core/slots.ts';
import type { Viewer } from '../../../domain/access/caller.ts';
import { RateLimited, type TokenCap } from '../../../domain/access/limits/rate-limits.ts';
import type { Connection, Session } from '../../../domain/access/tokens/sessions.ts';
import type { ResumePoints } from '../../../domain/events/resume-points.ts';
import type { ClientFacts } from '../../../infra/instruments/request-facts.ts';
import { within } from '../../../infra/instruments/within.ts';
import type { Operations } from '../server/operations.ts';
import type { GraphqlOptions } from '../server/server.ts';
import type { Acknowledgements } from './acknowledgements.ts';

/** The time limit for looking up credentials, in milliseconds. */
const lookUpMs = 10_000;

export const socketLimits = {
  operations: 20,
  frameBytes: 64 * 1024,
  initSeconds: 3,
  /** How long a client may take to acknowledge the close of its socket. */
  closeMs: 1_000,
  /** The maximum number of bytes buffered for one reader. */
  bufferedBytes: 1024 * 1024,
} as const;

/**
 * "Try again later": the reader was too slow, the token has too many sockets or requests, the database is unreachable,
 * or the server is stopping. Stock clients reconnect after this code and after 1012, but treat 4429 (too many requests)
 * as final.
 */
export const closeTryAgain = 1013;
export const closeRestart = 1012;
/** The token is invalid, has expired or has been revoked, so the client needs a different one. */
const closeForbidden = 4403;

export type Extra = {
  readonly socket: WebSocket;
  /** The TCP connection. The request that opened it is not kept, because it would take as much memory as the socket. */
  readonly connection: Socket;
  /** The client address that rate limits are keyed on. */
  readonly address: string;
  authorization?: string;
  session?: Session;
  /** The name and version that the client reported. */
  client?: ClientFacts | undefined;
  /** The operation slots. An operation that the client completes keeps its slot until the service ends it as well. */
  readonly places: Slots;
  readonly leave: Map<string, () => void>;
  /** Whether a subscription resumes when its client sends it again, with the same id, on another socket. */
  resumes?: boolean;
  acknowledgements?: Acknowledgements;
  /** Possible reasons to refuse the operation that is starting: it is one too many, or its JSON is inexact. */
  begun?: { readonly isTooMany: boolean; readonly inexact: InexactJson | undefined };
  /** Whether the socket is about to be closed because its client has violated the protocol. */
  isRefused?: boolean;
};

export interface SocketOptions
  extends Pick<GraphqlOptions, 'sessions' | 'streams' | 'takeTurn' | 'credentials' | 'limits' | 'pace' | 'log'> {
  readonly operations: Operations;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly sockets: TokenCap;
  readonly resumePoints: ResumePoints;
  /** Records that a connection's client has presented valid credentials. */
  readonly noteKnown: (socket: Socket) => void;
  readonly acceptsOrigin: (request: IncomingMessage) => boolean;
  /** How often a client must show that it is alive, in milliseconds. */
  readonly keepAliveMs: number;
  readonly compresses: boolean;
}

/** Opens a socket's session. If this fails, the socket closes with 4403 (renew the credentials) or 1013 (try again). */
export async function openSession(
  options: SocketOptions,
  extra: Extra,
  authorization: string | undefined,
): Promise<boolean> {
  const { credentials, sessions, pace } = options;
  let failure: string | undefined;
  const looking = credentials.authenticateFrom(extra.address, authorization);
  const viewer = await within(lookUpMs, looking).catch((error: unknown) => {
    failure = error instanceof RateLimited ? error.message : 'try again';
    return undefined;
  });
  if (!viewer) {
    await pace.wait(`address ${extra.address}`);
    // If only the lookup failed, the credentials may be valid. Clients retry after 1013, but not after 4403 or 4500.
    if (failure !== undefined) extra.socket.close(closeTryAgain, failure);
    return false;
  }
  options.noteKnown(extra.connection);
  const refusal = admitSocket(options, extra.socket, viewer);
  if (refusal) {
    await pace.wait(viewer.platformId);
    extra.socket.close(closeTryAgain, refusal.message);
    return false;
  }
  extra.authorization = authorization ?? '';
  if (extra.socket.readyState === extra.socket.OPEN)
    extra.session = sessions.open(viewer, superviseSocket(extra.socket));
  return true;
}

function admitSocket({ limits, sockets }: SocketOptions, socket: WebSocket, viewer: Viewer): RateLimited | undefined {
  const { refusal } = limits.count(viewer);
  if (refusal) return refusal;
  const end = sockets.open(viewer);
  if (end instanceof RateLimited) return end;
  if (socket.readyState === socket.OPEN) socket.once('close', end);
  else end();
  return undefined;
}

/** Counts an operation against its token's limits. If it exceeds one, waits and then returns the error. */
export async function countOperation(
  { limits, pace }: SocketOptions,
  { session }: Extra,
): Promise<RateLimited | undefined> {
  const refusal = session && limits.count(session.viewer).refusal;
  if (refusal) await pace.wait(session.viewer.platformId);
  return refusal;
}

/**
 * Renews a socket's session with the credentials in a ping. Closes the socket if they are invalid, belong to another
 * subject, or do not permit an open operation. If they cannot be checked now, the old credentials remain in effect.
 */
export async function renewSession(
  { credentials }: SocketOptions,
  extra: Extra,
  authorization: string | undefined,
): Promise<void> {
  if (authorization === undefined || !extra.session) return;
  const looking = credentials.authenticateFrom(extra.address, authorization);
  const viewer = await within(lookUpMs, looking).catch(() => null);
  if (viewer === null) return;
  if (viewer && (await extra.session.renew(viewer))) extra.authorization = authorization;
  else
    extra.socket.close(
      closeForbidden,
      'the new token is invalid, belongs to another subject, or does not permit an open operation',
    );
}

function superviseSocket(socket: WebSocket): Connection {
  return {
    forbid: ({ message }) => socket.close(closeForbidden, message),
    leave: () => socket.close(closeRestart, 'the server is restarting: resume with `after`'),
    check: () => {
      if (socket.bufferedAmount > socketLimits.bufferedBytes)
        socket.close(closeTryAgain, 'too slow: resume with `after`');
    },
  };
}

/**
 * Removes the credentials (`authorization`, in any letter case) from a message's payload and returns them. graphql-ws
 * keeps the payload of the first message, and returns a ping's payload in the pong, where logs may record it.
 */
export function takeAuthorization(payload: Record<string, unknown> | undefined): string | undefined {
  let authorization: string | undefined;
  for (const [name, value] of Object.entries(payload ?? {})) {
    if (name.toLowerCase() !== 'authorization') continue;
    if (typeof value === 'string') authorization ??= value;
    delete payload?.[name];
  }
  return authorization;
}
