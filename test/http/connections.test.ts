import { once } from 'node:events';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { startChildGateway } from '../setup/child-gateway.ts';
import { testDatabase } from '../setup/database.ts';
import { startTestGateway } from '../setup/gateway.ts';
import { exchange, openConnection } from '../setup/raw-http.ts';

/** Tests the gateway with clients that do not speak proper HTTP or that send nothing. */

const database = await testDatabase();
/** Runs in a separate process, so that a crash would be noticed. */
const gateway = await startChildGateway({ DATABASE_URL: database.url });
afterAll(async () => {
  expect(await gateway.end('SIGTERM')).toBe(0);
  // On a busy machine, the database may respond too late for the readiness check.
  const lines = gateway.output().split('\n');
  expect(lines.filter((line) => !line.includes('"the database does not answer"'))).not.toContainEqual(
    expect.stringMatching(/Error|\.ts:\d/),
  );
});

const upgrade = (path: string) =>
  [
    `GET ${path} HTTP/1.1`,
    'Host: localhost',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Protocol: graphql-transport-ws',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Origin: http://localhost',
    '',
    '',
  ].join('\r\n');

const alive = async () => expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);

test('the Keep-Alive header announces a longer idle timeout than load balancers have', async () => {
  const told = /^timeout=(\d+)$/.exec((await fetch(`${gateway.url}/health/live`)).headers.get('keep-alive') ?? '');
  expect(Number(told?.[1])).toBeGreaterThan(75);
});

describe('an upgrade', () => {
  test.each(['//', '//graphql', '/other', '/graphql/stream', '*', '/%', 'http://[/graphql'])(
    'to %s is refused without harm',
    async (path) => {
      expect(await exchange(gateway.url, upgrade(path))).toMatch(/^HTTP\/1\.1 4\d\d /);
      await alive();
    },
  );

  test('to HTTP/2, which Java HTTP clients request, is ignored, and the request is served', async () => {
    const request = upgrade('/health/live').replace('websocket', 'h2c').replace(': Upgrade', ': Upgrade, close');
    expect(await exchange(gateway.url, request)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('that is reset at any point does not crash the process', async () => {
    const whole = upgrade('/graphql').replace('Origin: http://localhost\r\n', '');
    for (const path of ['/graphql', '//']) {
      for (const part of [1, whole.length - 2, whole.length]) {
        for (let again = 0; again < 5; again++) {
          const socket = await openConnection(gateway.url);
          await new Promise<void>((sent) => {
            socket.write(whole.replace('/graphql', path).slice(0, part), () => sent());
          });
          socket.resetAndDestroy();
        }
      }
    }
    // Another upgrade is reset after it has been accepted.
    const socket = await openConnection(gateway.url);
    socket.write(whole);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 101 /);
    socket.resetAndDestroy();
    await alive();
  });
});

test('shutdown does not wait for unresponsive sockets or for connections without a request', async () => {
  const warnings: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => warnings.push(line) });
  const t = await startTestGateway({}, undefined, { log });
  const silent = await openConnection(t.url);
  const halfway = await openConnection(t.url);
  halfway.write('GET /health/live HTTP/1.1\r\nHost: loc');
  const socket = await openConnection(t.url);
  socket.write(upgrade('/graphql').replace('Origin: http://localhost\r\n', ''));
  await once(socket, 'data');
  // From here on, the socket reads nothing, so it does not respond to a close frame.
  socket.pause();
  await t.stop();
  // Shutdown logs a warning about requests still in progress after five seconds. These connections have none.
  expect(warnings.filter((line) => line.includes('shutdown'))).toEqual([]);
  for (const one of [silent, halfway, socket]) one.destroy();
});
