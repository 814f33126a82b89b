import { createClient } from 'graphql-sse';
import { type App, backoff, type Following, follow, type StreamResult } from './follow-transactions.ts';

/**
 * Follows transactions over server-sent events with graphql-sse: plain HTTP, through any proxy. A token is not renewed on
 * an open stream: when it ends the server cuts the stream, and the reconnect brings a new one.
 */
export function followOverSse(app: App): Following {
  let stopped = false;
  let cut = () => {};
  const create = () =>
    createClient({
      url: `${app.url}/stream`,
      headers: async () => ({ authorization: `Bearer ${(await app.token()).token}` }),
      retryAttempts: Number.POSITIVE_INFINITY,
      retry: backoff,
    });

  follow(
    app,
    () => stopped,
    (request, next) =>
      new Promise((resolve, reject) => {
        const client = create();
        cut = () => {
          client.dispose();
          resolve();
        };
        client.subscribe(
          { query: request.query, variables: request.variables },
          { next: (result) => next(result as StreamResult), error: reject, complete: resolve },
        );
      }),
  );
  return {
    resumeNow: () => cut(),
    stop: () => {
      stopped = true;
      cut();
    },
  };
}
