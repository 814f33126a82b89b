import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { refuseWrongAddresses } from './request-address.ts';

export interface OperatorAnswer {
  readonly status?: number;
  readonly type: string;
  readonly body: string;
}

export interface OperatorServer {
  readonly url: string;
  /** Also ends requests that are still in progress. */
  close(): void;
}

/** Serves pages for operators, such as `/metrics`, on a separate port (0 for a free one). A failing page is logged. */
export async function startOperatorServer(
  { host, port }: { readonly host: string; readonly port: number },
  answers: Readonly<Record<`/${string}`, () => Promise<OperatorAnswer>>>,
  log: Logger,
): Promise<OperatorServer> {
  const byPath = new Map<string, () => Promise<OperatorAnswer>>(Object.entries(answers));
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const answer = request.method === 'GET' ? byPath.get(path) : undefined;
    if (!answer) return void response.writeHead(404).end();
    answer().then(
      ({ status = 200, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
      (error: unknown) => {
        log.error({ err: error }, `could not serve ${path}`);
        response.writeHead(500).end();
      },
    );
  });
  refuseWrongAddresses(server);
  server.listen(port, host);
  await once(server, 'listening');
  // The address of a server that listens on a host and a port has this type.
  const { port: listening } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listening}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
