import { createServer } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/infra/database/database.ts';
import { listen } from '../setup/free-port.ts';

// A server dies right after accepting a connection, so its error arrives together with its "ready" message. The error
// belongs to no statement, and must not crash the process as an unhandled event.

let accepted = 0;
const server = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.once('data', () => {
    accepted += 1;
    socket.end(Buffer.concat([authenticated, ready, death]));
  });
});
const url = `postgres://gateway@127.0.0.1:${await listen(server)}/gateway`;
afterAll(() => server.close());

/** Builds a Postgres protocol message: type, length, body. */
function message(type: string, body: Buffer | string): Buffer {
  const content = Buffer.from(body);
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

const authenticated = message('R', Buffer.alloc(4));
const ready = message('Z', 'I');
const death = message('E', 'SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0');

test('statements on a pool fail if the server dies right after accepting the connection', async () => {
  for (const role of ['gateway_work', 'gateway_serving'] as const) {
    const database = openDatabase({ url, role, poolSize: 2 });
    await expect(database.pool.query('select 1')).rejects.toThrow();
    await database.close();
  }
  expect(accepted).toBeGreaterThanOrEqual(2);
});
