import { pino } from 'pino';
import { expect, test } from 'vitest';
import { addressFinder } from '../../src/api/http/client-address.ts';
import { parseRange } from '../../src/core/address-ranges.ts';
import { CredentialBrake } from '../../src/domain/access/limits/rate-limits.ts';
import { basicAuthorization } from '../../src/domain/access/tokens/credentials.ts';
import { testGateway } from '../setup/gateway.ts';
import { openRawSocket } from '../setup/streams.ts';

/** Tests the limit on invalid credentials. Each test uses its own address, and only the tests advance the clock. */

let now = 0;
const settings = { WRONG_CREDENTIALS_PER_MINUTE: 6, TRUSTED_PROXIES: [parseRange('127.0.0.1')] };
const t = await testGateway(settings, undefined, { pace: { now: () => now } });

let guesses = 0;
function guess(): string {
  guesses += 1;
  return basicAuthorization({ clientId: 'nobody', secret: `guess ${guesses}` });
}

const ask = (address: string, authorization: string, path = '/graphql') =>
  fetch(`${t.url}${path}`, {
    ...(path === '/graphql' && { method: 'POST', body: '{"query":"{ viewer { kind } }"}' }),
    headers: { authorization, 'content-type': 'application/json', 'x-forwarded-for': address },
  });

/** Sends invalid credentials six times, which is the limit for an address. */
async function guessSix(address: string): Promise<void> {
  for (let sent = 0; sent < 6; sent += 1) expect((await ask(address, guess())).status).toBe(401);
}

test('up to six invalid credentials per address and minute are looked up, and both APIs refuse further ones', async () => {
  const address = '198.51.100.1';
  for (const path of ['/graphql', '/2025-10-13/customers']) {
    for (let sent = 0; sent < 3; sent += 1) expect((await ask(address, guess(), path)).status).toBe(401);
  }
  const overGraphql = await ask(address, guess());
  expect([overGraphql.status, overGraphql.headers.get('retry-after')]).toEqual([429, '10']);
  const message = 'too many wrong credentials from this address';
  expect(await overGraphql.json()).toEqual({
    errors: [{ message, extensions: { code: 'RATE_LIMITED', retryAfter: 10 } }],
  });
  const overRest = await ask(address, guess(), '/2025-10-13/customers');
  expect([overRest.status, overRest.headers.get('retry-after')]).toEqual([429, '10']);
  expect(await overRest.json()).toMatchObject({ status: 429, code: 'RATE_LIMITED', message });
  now += 10_000;
  expect((await ask(address, guess())).status).toBe(401);
  expect((await ask(address, guess())).status).toBe(429);
});

test('concurrent invalid credentials count like sequential ones', async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, () => ask('198.51.100.2', guess())));
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(6);
});

test('valid credentials do not count, and recently used ones still work from an address over the limit', async () => {
  const address = '198.51.100.3';
  const { authorization } = t.platform;
  const unseen = await t.newPlatform('unseen');
  for (let sent = 0; sent < 10; sent += 1) expect((await ask(address, authorization)).status).toBe(200);
  await guessSix(address);
  expect((await ask(address, authorization)).status).toBe(200);
  expect((await ask(address, unseen.authorization)).status).toBe(429);
  expect((await ask('198.51.100.4', unseen.authorization)).status).toBe(200);
  expect((await ask(address, unseen.authorization)).status).toBe(200);
});

test('requests without credentials are not counted', async () => {
  const address = '198.51.100.5';
  for (let sent = 0; sent < 10; sent += 1) expect((await ask(address, '')).status).toBe(401);
  expect((await ask(address, guess())).status).toBe(401);
});

test('invalid credentials on a socket count, so the next socket is closed with 1013 without a lookup', async () => {
  const headers = { 'x-forwarded-for': '198.51.100.6' };
  for (let sent = 0; sent < 6; sent += 1) {
    expect((await (await openRawSocket(t.url, guess(), { headers })).closed).code).toBe(4403);
  }
  const { code, reason } = await (await openRawSocket(t.url, guess(), { headers })).closed;
  expect([code, reason]).toEqual([1013, 'too many wrong credentials from this address']);
  expect((await ask('198.51.100.6', guess())).status).toBe(429);
  // A ping with credentials does not get around the limit.
  const socket = await openRawSocket(t.url, t.platform.authorization, { headers });
  socket.send({ type: 'ping', payload: { authorization: guess() } });
  await socket.receive('pong');
  expect(socket.socket.readyState).toBe(socket.socket.OPEN);
  socket.socket.close();
});

test('forged client tokens count as invalid credentials', async () => {
  const { authorization } = await t.platform.appOf({ customerId: await t.platform.newCustomer() });
  const address = '198.51.100.7';
  for (let sent = 0; sent < 6; sent += 1) {
    expect((await ask(address, `${authorization.slice(0, -4)}${1000 + sent}`)).status).toBe(401);
  }
  expect((await ask(address, authorization)).status).toBe(429);
});

test('an address over the limit is logged once a minute, without the credentials', () => {
  const lines: { readonly msg: string; readonly address: string; readonly refused: number }[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  let time = 0;
  const brake = new CredentialBrake(60, log, () => time);
  const attempt = (address: string) => {
    try {
      brake.begin(address);
    } catch {
      // Refused.
    }
  };
  for (let sent = 0; sent < 100; sent += 1) attempt('198.51.100.8');
  for (let sent = 0; sent < 61; sent += 1) attempt('198.51.100.9');
  expect(lines.map(({ address, refused }) => [address, refused])).toEqual([
    ['198.51.100.8', 1],
    ['198.51.100.9', 1],
  ]);
  time += 60_000;
  for (let sent = 0; sent < 61; sent += 1) attempt('198.51.100.8');
  // Counts the 39 requests refused since this address was last logged, and the request that caused this line.
  expect(lines[2]).toMatchObject({ level: 40, address: '198.51.100.8', refused: 40 });
  expect(lines[2]?.msg).toBe(
    'too many wrong credentials from an address: further unknown credentials from it are refused without a lookup',
  );
});

const request = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as never;

test.each([
  ['without trusted proxies the header is ignored', [], '192.0.2.1', '198.51.100.1', '192.0.2.1'],
  ['from an untrusted address the header is ignored', ['10.0.0.0/8'], '192.0.2.1', '198.51.100.1', '192.0.2.1'],
  ['a trusted proxy names its client', ['10.0.0.0/8'], '10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['earlier entries may be forged', ['10.0.0.0/8'], '10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
  ['a chain of proxies', ['10.0.0.0/8'], '::ffff:10.1.2.3', '198.51.100.1,10.9.9.9', '198.51.100.1'],
  ['a proxy without the header', ['10.0.0.0/8'], '10.1.2.3', undefined, '10.1.2.3'],
  ['a proxy that passes on a malformed entry', ['10.0.0.0/8'], '10.1.2.3', 'unknown', '10.1.2.3'],
  ['IPv4 in an IPv6 address', [], '::ffff:192.0.2.1', undefined, '192.0.2.1'],
  ['IPv6 by its /64 network', [], '2001:db8:1:2:3:4:5:6', undefined, '2001:db8:1:2::/64'],
  ['a trusted proxy on IPv6', ['2001:db8::/32'], '2001:db8::1', '2001:dba:1:2::9', '2001:dba:1:2::/64'],
] as const)('the address of a client: %s', (_name, trusted, remote, forwarded, expected) => {
  expect(addressFinder(trusted.map(parseRange))(request(remote, forwarded))).toBe(expected);
});
