import type { ServerResponse } from 'node:http';
import type { ClientTokens } from '../access/client-tokens.ts';
import type { Viewer } from '../access/viewer.ts';
import type { Feed } from '../events/feed.ts';
import type { Payments } from '../payments/command.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** What every resolver is given: who asks, and what to answer from. The same on HTTP, SSE and WebSocket. */
export interface Context {
  readonly viewer: Viewer;
  readonly payments: Payments;
  readonly feed: Feed;
  readonly clientTokens: ClientTokens;
  /** How far back a cursor may lie, in days. */
  readonly retentionDays: number;
  /** Ends the connection because its reader does not keep up, or cannot be served: it is to come back and resume. */
  readonly closeForRetry: () => void;
  /**
   * Whether nobody waits for the answer any more: its client has gone, or its time is over. Then nothing more is read, and no
   * further mutation of the document begins; a command that has begun is carried out.
   */
  isAbandoned: () => boolean;
  /** The most that a read may add to an answer, in bytes. */
  readonly maxAnswerBytes: number;
  /** The answer of an event stream that has a connection of its own. */
  readonly eventStream?: ServerResponse | undefined;
  readonly webhooks: Webhooks;
  /** The end of the feed as it was before the operation read anything else (graphql/server/read-feed-head.ts). */
  feedHead?: bigint;
  /** Whether the answer says what the document costs. */
  reportsCost?: boolean;
}
