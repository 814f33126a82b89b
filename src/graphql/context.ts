import type { Viewer } from '../access/viewer.ts';
import type { Feed } from '../events/feed.ts';
import type { Payments } from '../payments/command.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** What every resolver is given: who asks, and what to answer from. The same on HTTP, SSE and WebSocket. */
export interface Context {
  readonly viewer: Viewer;
  readonly payments: Payments;
  readonly feed: Feed;
  readonly webhooks: Webhooks;
  /** The end of the feed as it was before the operation read anything else (graphql/use-feed-head.ts). */
  feedHead?: bigint;
}
