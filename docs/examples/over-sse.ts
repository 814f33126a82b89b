import { createClient } from 'graphql-sse';
import { follow } from '../../src/apps/client/follow.ts';
import { openPayments } from '../../src/apps/client/payments.ts';
import { type App, type Following, followed } from './follow-transactions.ts';

/**
 * Follows transactions over server-sent events with graphql-sse. The events arrive in an ordinary HTTP response, which
 * also passes through proxies that block WebSockets. A token cannot be renewed on an open stream: when it expires, the
 * server closes the stream, and the client reconnects with a new token.
 */
export function followOverSse(app: App): Following {
  const payments = openPayments({ url: app.url, token: app.token });
  const client = createClient({
    url: `${app.url}/stream`,
    // Adds the newest token to each request.
    fetchFn: payments.fetch,
    // The client does not retry, because `follow` reconnects on its own.
    retryAttempts: 0,
  });
  const following = follow(client, followed(app, payments));
  return {
    ...following,
    stop() {
      following.stop();
      payments.stop();
    },
  };
}
