import { EventEmitter, once } from 'node:events';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

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
          const { headers: sent, statusCode: status = 0 } = response;
          text(response).then((body) => resolve({ status, body, close: sent.connection === 'close' }), failed);
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
  const answers = new EventEmitter();
  const body = JSON.stringify({ query: '{ customers { totalCount } transactions { totalCount } }' });
  const run = async () => {
    for (;;) {
      const exchange = await client.ask('/graphql', { method: 'POST', body });
      if (isLast(exchange)) return exchange;
      count += 1;
      answers.emit('answer');
    }
  };
  return {
    /** The result of the last request. */
    last: run().finally(() => client.end()),
    /** Resolves once this many requests have been answered. */
    async answered(wanted: number) {
      while (count < wanted) await once(answers, 'answer');
    },
  };
}
