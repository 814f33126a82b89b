import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import type { ProviderFault } from '../../src/rails/conformance/trial.ts';
import { listen } from '../setup/free-port.ts';
import { bodyOf, passOn } from '../setup/pass-on.ts';

export type UpstreamProxy = Awaited<ReturnType<typeof ownUpstreamProxy>>;

/**
 * Starts a proxy in front of an upstream service. It runs until the end of the current test, and can simulate network
 * faults and contradictory responses.
 */
export async function ownUpstreamProxy(target: string) {
  let fault: ProviderFault = 'none';
  let changed = (text: string) => text;
  /** The responses that are held back while the service is slow. */
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

  const url = `http://127.0.0.1:${await listen(server)}`;
  onTestFinished(async () => {
    for (const release of held) release();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    /** The address of the service's API as reached through the proxy. */
    baseUrl: `${url}/2025-10-13`,
    async setFault(next: ProviderFault) {
      fault = next;
      for (const release of held) release();
      held.clear();
    },
    /** From now on, rewrites the body of each response to a GET. */
    change(answers: (text: string) => string) {
      changed = answers;
    },
  };
}
