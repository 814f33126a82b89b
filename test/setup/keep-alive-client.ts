import { Agent, request } from 'node:http';

/** The result of a request. */
type Exchange =
  | { readonly status: number; readonly body: string; readonly close: boolean }
  | { readonly error: string };

/**
 * Creates a client that keeps one connection for as long as the server lets it, and sends these headers with each
 * request.
 */
export function keepAliveClient(url: string, headers: Readonly<Record<string, string>>) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    ask: (path: string, { method = 'GET', body = '' } = {}) =>
      new Promise<Exchange>((resolve) => {
        const failed = (error: NodeJS.ErrnoException) => resolve({ error: error.code ?? error.message });
        request(`${url}${path}`, { agent, method, headers }, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (data: string) => {
            text += data;
          });
          response.on('error', failed).on('end', () => {
            const close = response.headers.connection === 'close';
            resolve({ status: response.statusCode ?? 0, body: text, close });
          });
        })
          .on('error', failed)
          .end(body);
      }),
    end: () => agent.destroy(),
  };
}

/** Makes a client read from the database repeatedly over its one connection, until `isLast` accepts an answer. */
export function busyClient(client: ReturnType<typeof keepAliveClient>, isLast: (exchange: Exchange) => boolean) {
  let count = 0;
  const waiting = new Set<() => void>();
  const body = JSON.stringify({ query: '{ customers { totalCount } transactions { totalCount } }' });
  const run = async () => {
    for (;;) {
      const exchange = await client.ask('/graphql', { method: 'POST', body });
      if (isLast(exchange)) return exchange;
      count += 1;
      for (const look of waiting) look();
    }
  };
  return {
    /** The result of the last request. */
    last: run().finally(() => client.end()),
    /** Resolves once this many requests have been answered. */
    answered: (wanted: number) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (count < wanted) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}
