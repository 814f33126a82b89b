import { connect as connectTcp, createServer, type Socket } from 'node:net';
import { afterAll, expect, test, vi } from 'vitest';
import { listen } from '../setup/free-port.ts';
import { connect, type Data, testGateway } from '../setup/gateway.ts';
import { commitEvents, nextOf } from '../setup/streams.ts';

/** Tests the feed's own connection to the database, through a proxy that can cut or silence it. */

/** The feed's current connection through the proxy. */
interface Listener {
  readonly near: Socket;
  readonly far: Socket;
  open: boolean;
}

/** Whether a new listener's messages are kept from reaching the database. */
let silent = false;
const listeners: Listener[] = [];
const open = () => listeners.filter((listener) => listener.open).length;

const real = await testGateway();
const { hostname, port } = new URL(real.databaseUrl);
const wire = createServer((near) => {
  const far = connectTcp(Number(port), hostname);
  for (const socket of [near, far]) socket.on('error', () => undefined);
  near.once('data', (hello) => {
    if (hello.includes('payments-gateway feed ')) {
      const listener = { near, far, open: true };
      listeners.push(listener);
      near.once('close', () => {
        listener.open = false;
      });
      if (silent) return;
    }
    far.write(hello);
    near.pipe(far);
    far.pipe(near);
  });
  near.on('close', () => far.destroy());
  far.on('close', () => near.destroy());
});
const through = new URL(real.databaseUrl);
through.host = `127.0.0.1:${await listen(wire)}`;
afterAll(() => {
  expect(open()).toBe(0);
  wire.close();
});
const wired = await testGateway({ ROLE: 'serve' }, through.href);

/** Makes a change, and waits until a follower behind the proxy receives it. */
async function follow(stream: AsyncIterator<Data>): Promise<void> {
  await commitEvents(real);
  expect((await nextOf(stream)).data.events.type).toBe('TEST');
}

async function watch(): Promise<AsyncIterableIterator<Data>> {
  const after = await real.platform.feedEnd();
  const there = connect(wired.url, real.platform.platformId, real.platform.authorization);
  return there.watch('subscription ($after: String) { events(after: $after) { type } }', { after });
}

const listening = async () => {
  const { rows } = await real.gateway.payments.database.pool.query(
    `select from pg_stat_activity where datname = current_database() and application_name like 'payments-gateway feed %'`,
  );
  // One listener belongs to the gateway that does not use the proxy.
  return rows.length - 1;
};

test('a feed that loses its listener while the database hangs misses nothing and listens again', async () => {
  const stream = await watch();
  await follow(stream);
  expect(open()).toBe(1);
  silent = true;
  listeners[0]?.near.destroy();
  let most = 0;
  // Each of these changes is found by polling, a second after the previous one. Together they outlast several attempts
  // to listen.
  for (let looks = 0; looks < 8; looks += 1) {
    await follow(stream);
    most = Math.max(most, open());
  }
  // Each listener was closed completely when the next one replaced it.
  expect(listeners.length).toBeGreaterThan(2);
  expect(most).toBe(1);
  silent = false;
  await vi.waitFor(async () => expect([open(), await listening()]).toEqual([1, 1]), { timeout: 60_000 });
  await follow(stream);
  await stream.return?.();
});

test('a listener that receives nothing is replaced', async () => {
  const stream = await watch();
  const before = listeners.length;
  const deaf = listeners.at(-1);
  deaf?.far.unpipe();
  while (listeners.length === before) await follow(stream);
  await vi.waitFor(async () => expect([open(), await listening()]).toEqual([1, 1]), { timeout: 60_000 });
  await stream.return?.();
});
