import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A webhook receiver that accepts everything and reports, on request, how many webhooks it received and how fast. */
let received = 0;
let first = 0;
let last = 0;

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    last = performance.now();
    if (received === 0) first = last;
    received += 1;
    response.writeHead(204).end();
  });
});
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }),
);

process.on('message', (message: 'reset' | 'read') => {
  if (message === 'reset') received = 0;
  process.send?.({ received, ms: last - first });
});
