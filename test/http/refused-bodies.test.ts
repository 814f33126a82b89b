import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { changeRates } from '../../src/domain/platforms/platforms.ts';
import { type TestPlatform, tester, testGateway } from '../setup/gateway.ts';
import { heardOn, openConnection } from '../setup/raw-http.ts';

/** Tests how much of a request's body the gateway reads when it refuses the request. */

/** The rate limiter's clock. */
let now = 10_000;

const t = await testGateway({}, undefined, { pace: { now: () => now } });

/** The gateway's socket for each connection that has sent a request, keyed by the client's port. */
const accepted = new Map<number | undefined, Socket>();
const accept = (message: unknown) => {
  const { socket } = (message as { request: IncomingMessage }).request;
  accepted.set(socket.remotePort, socket);
};
beforeEach(() => {
  accepted.clear();
  diagnostics.subscribe('http.server.request.start', accept);
});
afterEach(() => diagnostics.unsubscribe('http.server.request.start', accept));

let platforms = 0;
/** Creates a platform that has used up its limit of one request. */
async function exhausted(): Promise<TestPlatform> {
  platforms += 1;
  const platform = await t.newPlatform(`exhausted ${platforms}`);
  await changeRates(t.gateway.payments.database, platform.platformId, tester, { platform: { perSecond: 1, burst: 1 } });
  expect(await statusOf(platform)).toBe(200);
  return platform;
}

async function statusOf(platform: TestPlatform): Promise<number> {
  return (await platform.send('{ viewer { kind } }')).status;
}

async function begin(path: string, { authorization }: TestPlatform, length = 'Transfer-Encoding: chunked') {
  const socket = await openConnection(t.url);
  const heard = heardOn(socket);
  const json = 'Content-Type: application/json';
  socket.write(
    [`POST ${path} HTTP/1.1`, 'Host: localhost', `Authorization: ${authorization}`, json, length, '', ''].join('\r\n'),
  );
  return { socket, heard, port: socket.localPort };
}

const piece = `1000\r\n${' '.repeat(4_096)}\r\n`;

test('while a refusal is delayed, the rest of the body is not read; afterwards, the connection serves the next request', async () => {
  const platform = await exhausted();
  expect(await statusOf(platform)).toBe(429);
  // The clock is set back, so the next refusal is delayed by two seconds, as if 90 more refusals had preceded it.
  now -= 4_500;

  const { socket, heard, port } = await begin('/graphql', platform);
  await expect.poll(() => accepted.get(port)).toBeDefined();
  const ofGateway = accepted.get(port);
  const read = ofGateway?.bytesRead;
  for (let sent = 0; sent < 10; sent += 1) {
    socket.write(piece);
    // After this round trip, the gateway has received everything sent before it.
    expect((await fetch(`${t.url}/health/live`)).status).toBe(200);
  }
  expect([heard.text(), ofGateway?.bytesRead]).toEqual(['', read]);

  await once(socket, 'data');
  expect(heard.text()).toMatch(/^HTTP\/1\.1 429 /);
  heard.forget();
  socket.write('0\r\n\r\nGET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await expect.poll(heard.text).toMatch(/^HTTP\/1\.1 200 /);
  socket.destroy();
});

test.each([
  ['over the rate limit', '/graphql', exhausted, 'application/json', 413],
  ['that is not JSON', '/graphql', () => t.platform, 'text/plain', 415],
  ['to an unknown path', '/nowhere', () => t.platform, 'application/json', 404],
  ['to an operation', '/graphql', () => t.platform, 'application/json', 413],
] as const)('a request %s with too large a Content-Length is answered, and its connection is closed', async (...of) => {
  const [, path, sender, type, status] = of;
  const { authorization } = await sender();
  const answer = await fetch(`${t.url}${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': type },
    body: ' '.repeat(103_000),
  });
  expect([answer.status, answer.headers.get('connection')]).toEqual([status, 'close']);
  expect(await answer.json()).toBeDefined();
});

test.each([
  ['of a request over the rate limit', '/graphql', exhausted, undefined, 429],
  ['with too large a Content-Length', '/graphql', () => t.platform, `Content-Length: ${10 ** 10}`, 413],
  ['that is too long', '/graphql', () => t.platform, undefined, 413],
  ['that is too long for REST', '/2025-10-13/quotes', () => t.platform, undefined, 413],
] as const)('the gateway stops reading a body %s, and disconnects', async (_what, path, sender, length, status) => {
  const { socket, heard, port } = await begin(path, await sender(), length);
  const sendOn = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', sendOn);
  sendOn();
  expect(await heard.ended).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  // Node reads up to 2 MB in one call.
  expect(accepted.get(port)?.bytesRead).toBeLessThan(5_000_000);
});
