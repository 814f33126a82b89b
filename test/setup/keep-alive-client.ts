import { Agent, request } from 'node:http';

/** What came of a request. */
export type Exchange =
  | { readonly status: number; readonly body: string; readonly close: boolean }
  | { readonly error: string };

/** A client that keeps one connection, for as long as the server lets it. */
export interface KeepAliveClient {
  ask(path: string, options?: { readonly method?: string; readonly body?: string }): Promise<Exchange>;
  end(): void;
}

/** Makes a client that sends these headers with each request. */
export function keepAliveClient(url: string, headers: Readonly<Record<string, string>>): KeepAliveClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    ask: (path, { method = 'GET', body = '' } = {}) =>
      new Promise((resolve) => {
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

/** Asks again and again. */
export interface BusyClient {
  /** Resolves when so many requests have been answered. */
  answered(count: number): Promise<void>;
  /** What did not come of a request of its own accord: the first that was not answered with 200 and an open connection. */
  readonly last: Promise<Exchange>;
}

/** Lets a client read from the database, again and again over its one connection, until `isLast` of what comes. */
export function busyClient(client: KeepAliveClient, isLast: (exchange: Exchange) => boolean): BusyClient {
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
    last: run().finally(() => client.end()),
    answered: (wanted) =>
      new Promise((resolve) => {
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
