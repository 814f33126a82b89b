import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callHeader } from '../../src/clusters/cluster-calls.ts';

/** What happens to calls on their way: nothing arrives, answers are lost, or each call arrives twice at once. */
export type CallFault = 'none' | 'is-down' | 'loses-answers' | 'doubles';

/** A proxy between clusters, with the faults of a network. */
export interface CallProxy {
  readonly url: string;
  fault: CallFault;
  /** The paths of the calls that have arrived. */
  readonly calls: string[];
  /** Resolves when the next answer has been lost. */
  lost(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy before the cluster at `target`. */
export async function startCallProxy(target: string | (() => string)): Promise<CallProxy> {
  const calls: string[] = [];
  let lost = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy());
  });

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (proxy.fault === 'is-down') {
      lost.resolve();
      return void request.socket.destroy();
    }
    calls.push(request.url ?? '');
    const send = () =>
      fetch(`${typeof target === 'string' ? target : target()}${request.url}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', [callHeader]: String(request.headers[callHeader] ?? '') },
        body: Buffer.concat(chunks),
      });
    const [answer] = await Promise.all([send(), ...(proxy.fault === 'doubles' ? [send(), send()] : [])]);
    const text = await answer.text();
    if (proxy.fault === 'loses-answers') {
      lost.resolve();
      return void request.socket.destroy();
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: CallProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: 'none',
    calls,
    lost() {
      lost = Promise.withResolvers();
      return lost.promise;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
