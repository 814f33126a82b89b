import { once } from 'node:events';
import { createServer } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { listen } from '../../src/api/http/listeners.ts';

const clients = 200;
/** Opens connections from a separate thread, and reports when the operating system has established all of them. */
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

test.runIf(process.platform === 'linux')(
  'clients that connect together are accepted several per turn of the event loop',
  async () => {
    const server = createServer();
    const listening = await listen(server, '127.0.0.1', 0);
    let accepted = 0;
    server.on('connection', () => {
      accepted += 1;
    });
    const completed = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(connect, { eval: true, workerData: { port: listening.port, clients, completed } });
    // Prevents this thread from accepting connections in the meantime.
    Atomics.wait(completed, 0, 0);

    let turns = 0;
    for (; accepted < clients; turns += 1) await turn();
    expect(turns).toBeLessThan(clients / 2);

    await worker.terminate();
    await listening.close();
  },
);

test('a port that another process uses is refused, even if that process shares its ports', async () => {
  const first = createServer();
  const listening = await listen(first, '127.0.0.1', 0);
  await expect(listen(createServer(), '127.0.0.1', listening.port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await listening.close();
  const second = createServer();
  const again = await listen(second, '127.0.0.1', listening.port);
  expect(again.port).toBe(listening.port);
  await again.close();
});

/** Repeatedly listens on the port at the same moment as the other processes, and reports whether it succeeded. */
const contend = `
  const { createServer } = require('node:http');
  const { parentPort, workerData: { file, host, port, rounds, contenders, arrived } } = require('node:worker_threads');
  const together = (round) => {
    if (Atomics.add(arrived, round, 1) + 1 === contenders) Atomics.notify(arrived, round);
    for (let n; (n = Atomics.load(arrived, round)) < contenders; ) Atomics.wait(arrived, round, n);
  };
  import(file).then(async ({ listen }) => {
    for (let round = 0; round < rounds; round++) {
      together(2 * round);
      const outcome = await listen(createServer(), host, port).catch(({ code }) => code);
      parentPort.postMessage({ round, outcome: outcome.close ? 'listens' : outcome });
      together(2 * round + 1);
      if (outcome.close) await outcome.close();
    }
  });
`;

test.runIf(process.platform === 'linux')('of processes that start at the same moment, one gets the port', async () => {
  const free = await listen(createServer(), '127.0.0.1', 0);
  const { port } = free;
  await free.close();

  // One process listens on all addresses, including those of the other processes.
  const hosts = ['127.0.0.1', 'localhost', '0.0.0.0', '127.0.0.1'];
  const rounds = 10;
  const arrived = new Int32Array(new SharedArrayBuffer(2 * rounds * Int32Array.BYTES_PER_ELEMENT));
  const file = new URL('../../src/api/http/listeners.ts', import.meta.url).href;
  const outcomes = Array.from({ length: rounds }, (): string[] => []);
  await Promise.all(
    hosts.map(async (host) => {
      const workerData = { file, host, port, rounds, contenders: hosts.length, arrived };
      const worker = new Worker(contend, { eval: true, workerData });
      worker.on('message', ({ round, outcome }) => outcomes[round]?.push(outcome));
      await once(worker, 'exit');
    }),
  );
  const one = ['EADDRINUSE', 'EADDRINUSE', 'EADDRINUSE', 'listens'];
  expect(outcomes.map((round) => round.toSorted())).toEqual(Array.from({ length: rounds }, () => one));
});
