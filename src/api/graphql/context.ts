import type { ServerResponse } from 'node:http';
import type { ExecutionArgs } from 'graphql';
import type { ClientTokens } from '../../domain/access/tokens/client-tokens.ts';
import type { Session } from '../../domain/access/tokens/sessions.ts';
import type { Viewer } from '../../domain/access/viewer.ts';
import type { Payments } from '../../domain/commands/command.ts';
import type { FeedPosition } from '../../domain/events/cursor.ts';
import type { Feed } from '../../domain/events/feed.ts';
import type { ResumePoint } from '../../domain/events/resume-point.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** The context of every resolver: the caller, and the sources of its answers. The same on HTTP, SSE and WebSocket. */
export interface Context {
  readonly viewer: Viewer;
  readonly payments: Payments;
  readonly feed: Feed;
  readonly clientTokens: ClientTokens;
  /** How old a stream's cursor may be, in days. */
  readonly retentionDays: number;
  /** Closes the connection of a reader that does not keep up or cannot be served, so that it reconnects and resumes. */
  readonly closeForRetry: () => void;
  /** Whether the client is gone or the time is up: nothing more is read, no mutation begins; a begun command still ends. */
  isAbandoned: () => boolean;
  /** The most that a read may add to an answer, in bytes. */
  readonly maxAnswerBytes: number;
  /** The session of a connection that carries several operations. */
  readonly session?: Session | undefined;
  /** The response of an event stream that has a connection of its own. */
  readonly eventStream?: ServerResponse | undefined;
  /** Writes why the connection of that stream is cut. */
  readonly farewell?: ((refusal: { readonly errors: readonly object[] }) => void) | undefined;
  /** The cursor or position after which a stream resumes, in addition to its `after`: the later of the two applies. */
  readonly resumeAfter?: string | FeedPosition | undefined;
  /** The progress of the client of a stream that resumes by a key. */
  readonly resumePoint?: ResumePoint | undefined;
  readonly webhooks: Webhooks;
  /** The end of the feed, read before the operation read anything else (graphql/server/replica-reads.ts). */
  feedHead?: FeedPosition;
  /** What the reads of the operation must include; everything, if left out. */
  readAfter?: string | undefined;
  /** Whether graphql-js executes the operation with Prisma alone (graphql/reading/stock.ts). */
  readonly isStock?: boolean;
  /** Whether the answer has the document's cost. */
  reportsCost?: boolean;
}

/** Returns the context of an operation, whose type graphql leaves open: this service gives every operation one of these. */
export function contextIn({ contextValue }: Pick<ExecutionArgs, 'contextValue'>): Context {
  return contextValue as Context;
}
