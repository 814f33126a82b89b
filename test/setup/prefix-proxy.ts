import { createServer, request as send } from 'node:http';
import { connect as dial } from 'node:net';
import { listen } from './free-port.ts';

/** A proxy that exposes a service under a prefix, which it strips from the requests that it forwards. */
export async function startPrefixProxy(target: string, prefix: string) {
  const { hostname: host, port } = new URL(target);
  const within = (url = '') => (url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : undefined);
  const server = createServer((request, response) => {
    const path = within(request.url);
    if (path === undefined) return void response.writeHead(404).end('outside of the prefix');
    const { method, headers } = request;
    const passed = send({ host, port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  server.on('upgrade', (request, client, head) => {
    const path = within(request.url);
    if (path === undefined) return void client.destroy();
    const upstream = dial({ host, port: Number(port) });
    const fields = request.rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
    upstream.write(`GET ${path} HTTP/1.1\r\n${fields}\r\n`);
    upstream.write(head);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  const url = `http://127.0.0.1:${await listen(server)}${prefix}`;
  return {
    url,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
