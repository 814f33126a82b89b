import type { ServerResponse } from 'node:http';
import type { ExecutionArgs, OperationDefinitionNode } from 'graphql';
import type { Viewer } from '../../domain/access/caller.ts';
import type { ClientTokens } from '../../domain/access/tokens/credentials.ts';
import type { Session } from '../../domain/access/tokens/sessions.ts';
import type { Payments } from '../../domain/commands/command.ts';
import type { FeedPosition } from '../../domain/events/cursor.ts';
import type { Feed } from '../../domain/events/feed.ts';
import type { ResumePoint } from '../../domain/events/resume-points.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** Tells the client of an event stream why its connection is about to be cut. */
export type Farewell = (refusal: { readonly errors: readonly object[] }) => void;

/** An operation's connection: its credentials, its state, and the functions that close it. */
export interface Transport {
  /** The value of the Authorization header or, on a socket, of `authorization` in the first message. */
  readonly authorization?: string | undefined;
  readonly session?: Session | undefined;
  /** Closes the connection if the client falls behind or a stream fails, so that the client reconnects and resumes. */
  readonly closeForRetry?: () => void;
  /** Whether the client has disconnected or ended the operation, for a transport without `response`. */
  readonly isGone?: () => boolean;
  /** The cursor after which an event stream resumes (Last-Event-ID). */
  readonly resumeAfter?: string | undefined;
  readonly farewell?: Farewell | undefined;
  /** The response, for HTTP and for SSE with one connection per operation. */
  readonly response?: ServerResponse | undefined;
}

/** The context of every resolver on every transport: the caller, its connection and the data sources. */
export interface Context
  extends Pick<Transport, 'session' | 'response' | 'farewell'>,
    Required<Pick<Transport, 'closeForRetry'>> {
  readonly viewer: Viewer;
  readonly payments: Payments;
  readonly feed: Feed;
  readonly clientTokens: ClientTokens;
  /** The maximum age of a stream's cursor, in days. */
  readonly retentionDays: number;
  /** Whether the client is gone or the operation timed out. If so, no new work starts; a running command completes. */
  isAbandoned: () => boolean;
  /** The maximum number of bytes that one read may add to a response. */
  readonly maxAnswerBytes: number;
  /** A cursor or position from which a stream resumes. If `after` is given as well, the later of the two applies. */
  readonly resumeAfter?: string | FeedPosition | undefined;
  /** The cursor in the request's `extensions.after`: undefined if absent, null if the client has none yet. */
  sentAfter?: string | null | undefined;
  readonly resumePoint?: ResumePoint | undefined;
  readonly webhooks: Webhooks;
  /** The feed's last position, read before anything else in the operation (graphql/server/operations.ts). */
  feedHead?: FeedPosition;
  /** Whether graphql-js executes the operation using only Prisma (graphql/reading/stock.ts). */
  readonly isStock?: boolean;
  /** Set if the last mutation was only validated or was refused; undefined if it took effect. */
  outcome?: 'VALIDATED' | 'REFUSED';
  reportsCost?: boolean;
}

/** An operation that may run: parsed, valid and authenticated. */
export interface Prepared extends ExecutionArgs {
  readonly contextValue: Context;
  readonly operation: OperationDefinitionNode;
}
