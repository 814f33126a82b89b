import { createServer } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { listen } from '../../src/http/listeners.ts';

const clients = 200;
/** Opens connections from a thread of its own, and tells when the system has completed all of them. */
const connect = `
  const { workerData: { port, clients, completed } } = require('node:worker_threads');
  let open = 0;
  const opened = () => {
    open += 1;
    if (open < clients) return;
    Atomics.store(completed, 0, 1);
    Atomics.notify(completed, 0);
  };
  for (let i = 0; i < clients; i++) require('node:net').connect(port, '127.0.0.1', opened);
`;

test.runIf(process.platform === 'linux')('clients that come at once are accepted several in a turn', async () => {
  const server = createServer();
  const listening = await listen(server, '127.0.0.1', 0);
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  const completed = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(connect, { eval: true, workerData: { port: listening.port, clients, completed } });
  // Keeps this thread from accepting any meanwhile.
  Atomics.wait(completed, 0, 0);

  let turns = 0;
  for (; accepted < clients; turns += 1) await turn();
  expect(turns).toBeLessThan(clients / 2);

  await worker.terminate();
  await listening.close();
});

test('a port that another process holds is refused, also one that shares its ports', async () => {
  const first = createServer();
  const listening = await listen(first, '127.0.0.1', 0);
  await expect(listen(createServer(), '127.0.0.1', listening.port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await listening.close();
  const second = createServer();
  const again = await listen(second, '127.0.0.1', listening.port);
  expect(again.port).toBe(listening.port);
  await again.close();
});
