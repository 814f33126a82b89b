import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ProviderFault } from '../../src/rails/conformance/trial.ts';
import { listen } from '../setup/free-port.ts';
import { bodyOf, passOn } from '../setup/pass-on.ts';

/** A proxy in front of an upstream service. It simulates network faults, and a service that contradicts itself. */
export type UpstreamProxy = Awaited<ReturnType<typeof startUpstreamProxy>>;

export async function startUpstreamProxy(target: string) {
  let fault: ProviderFault = 'none';
  let changed = (text: string) => text;
  /** The answers that are held back while the service is slow. */
  const held = new Set<() => void>();
  const server = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy());
  });

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (fault === 'is-down') return void request.socket.destroy();
    const { status, type, text: given } = await passOn(target, request, await bodyOf(request));
    const text = request.method === 'GET' ? changed(given) : given;
    if (fault === 'loses-answers') return void request.socket.destroy();
    if (fault === 'is-slow') await new Promise<void>((resolve) => held.add(resolve));
    const isCourse = request.method === 'GET' && request.url?.includes('/transactions/');
    response.writeHead(status, { 'content-type': type });
    response.end(fault === 'contradicts' && isCourse ? text.replace('"COMPLETED"', '"FAILED"') : text);
  }

  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    async setFault(next: ProviderFault) {
      fault = next;
      for (const release of held) release();
      held.clear();
    },
    /** From now on, changes the text of each answer to a GET. */
    change(answers: (text: string) => string) {
      changed = answers;
    },
    async close() {
      for (const release of held) release();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
