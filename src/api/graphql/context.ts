import type { ServerResponse } from 'node:http';
import type { ExecutionArgs, OperationDefinitionNode } from 'graphql';
import type { ClientTokens } from '../../domain/access/tokens/client-tokens.ts';
import type { Session } from '../../domain/access/tokens/sessions.ts';
import type { Viewer } from '../../domain/access/viewer.ts';
import type { Payments } from '../../domain/commands/command.ts';
import type { FeedPosition } from '../../domain/events/cursor.ts';
import type { Feed } from '../../domain/events/feed.ts';
import type { ResumePoint } from '../../domain/events/resume-points.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** The context of every resolver on every transport: the caller and the data sources. */
export interface Context {
  readonly viewer: Viewer;
  readonly payments: Payments;
  readonly feed: Feed;
  readonly clientTokens: ClientTokens;
  /** The maximum age of a stream's cursor, in days. */
  readonly retentionDays: number;
  /** Closes the connection of a client that falls behind or whose stream fails, so that it reconnects and resumes. */
  readonly closeForRetry: () => void;
  /** Whether the client disconnected or the operation timed out. If so, only a command already running completes. */
  isAbandoned: () => boolean;
  /** The maximum number of bytes that one read may add to a response. */
  readonly maxAnswerBytes: number;
  readonly session?: Session | undefined;
  readonly eventStream?: ServerResponse | undefined;
  /** Sends the reason to the client before the stream's connection is cut. */
  readonly farewell?: ((refusal: { readonly errors: readonly object[] }) => void) | undefined;
  /** A cursor or position from which a stream resumes. If `after` is given as well, the later of the two applies. */
  readonly resumeAfter?: string | FeedPosition | undefined;
  /** The cursor in the request's `extensions.after`: undefined if absent, null if the client has none yet. */
  sentAfter?: string | null | undefined;
  readonly resumePoint?: ResumePoint | undefined;
  readonly webhooks: Webhooks;
  /** The feed's last position, read before anything else in the operation (graphql/server/replica-reads.ts). */
  feedHead?: FeedPosition;
  /** The token that determines which writes the operation's reads must include; if omitted, they include all writes. */
  readAfter?: string | undefined;
  /** Whether graphql-js executes the operation using only Prisma (graphql/reading/stock.ts). */
  readonly isStock?: boolean;
  /** Whether the last mutation was only validated, or was refused; undefined if it took effect. */
  outcome?: 'VALIDATED' | 'REFUSED';
  reportsCost?: boolean;
}

/** An operation that may run: parsed, valid and authenticated. */
export interface Prepared extends ExecutionArgs {
  readonly contextValue: Context;
  readonly operation: OperationDefinitionNode;
}
