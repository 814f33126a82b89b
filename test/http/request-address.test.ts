import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';
import { exchange } from '../setup/raw-http.ts';

/** A request must name exactly one host (RFC 9112, section 3.2) and a path. Anything else is refused. */

const t = await testGateway({ METRICS_PORT: 0, GRAPHIQL: true, PUBLIC_CONTRACT: true, CORS_ORIGINS: ['*'] });

/** Sends the head of a request. @returns everything that arrives until the server closes the connection */
const exchangeLines = (lines: readonly string[], url = t.url) =>
  exchange(url, Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), 'latin1');

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
const upgradeLines = [
  ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  ...['Sec-WebSocket-Protocol: graphql-transport-ws', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='],
];
const stream = encodeURIComponent('subscription { transactionUpdates { status } }');

/** A request: its first line, and its headers other than Host. */
interface Sent {
  readonly first: string;
  readonly more?: readonly string[];
}

const short = 'Content-Length: 5';

/** One request for each path and transport. */
const rows: readonly [name: string, line: string, ...more: string[]][] = [
  ['a GraphQL query', 'GET /graphql?query={viewer{kind}}'],
  ['a GraphQL POST', 'POST /graphql', 'Content-Type: application/json', short],
  ['a body that waits for 100 Continue', 'POST /graphql', 'Expect: 100-continue', short],
  ['an unknown expectation', 'POST /graphql', 'Expect: wonders', short],
  ['an event stream', `GET /graphql?query=${stream}`, 'Accept: text/event-stream'],
  ['a WebSocket', 'GET /graphql', ...upgradeLines],
  ['a WebSocket to another path', 'GET /elsewhere', ...upgradeLines],
  ['a REST list', 'GET /2025-10-13/customers'],
  ['a REST command', 'POST /2025-10-13/customers', short],
  ['the OpenAPI document', 'GET /2025-10-13/openapi.json'],
  ['the console', 'GET /2025-10-13/docs'],
  ['the front page', 'GET /', 'Accept: text/html'],
  ['the lab', 'GET /lab'],
  ['GraphiQL', 'GET /graphql?query={viewer{kind}}', 'Accept: text/html'],
  ['the wallet', 'POST /wallet/token', 'Content-Length: 0'],
  ['a page of the documentation', 'GET /docs'],
  ['an asset', 'GET /assets/any.js'],
  ['liveness', 'GET /health/live'],
  ['readiness', 'HEAD /health/ready'],
  ['a webhook of a provider', 'POST /rails/Platform:1/webhooks', short],
  ['a preflight', 'OPTIONS /graphql', 'Origin: http://a', 'Access-Control-Request-Method: POST'],
  ['the whole server', 'OPTIONS *'],
  ['a wrong path', 'GET /nothing'],
];
const requests = rows.map(([name, line, ...more]) => ({ name, first: `${line} HTTP/1.1`, more }));

function send({ first, more = [] }: Sent, hosts: readonly string[], url = t.url): Promise<string> {
  const hostLines = hosts.map((host) => `Host: ${host}`);
  const close = more.some((line) => line.startsWith('Connection')) ? [] : ['Connection: close'];
  return exchangeLines([first, ...hostLines, `Authorization: ${t.platform.authorization}`, ...close, ...more], url);
}

const noHosts: readonly (readonly string[])[] = [
  ...[[], [''], ['a', 'a'], ['a', 'b']],
  ...['a, b', 'a b', 'a:8 0'],
  ...'a/b a/ /a a?b a#b a\\b u@a @ u:p@a http://a % %61 a|b'.split(' '),
  ..."[ ::1 [::1 [::1]x [:::::] :80 a:b a:-1 a:65536 a:80:80 256.1.1.1 ä \u00ff a'b".split(' '),
].map((hosts) => (typeof hosts === 'string' ? [hosts] : hosts));

describe('a request whose Host is not an authority is refused before it is processed:', () => {
  test.each(requests)('$name', async (request) => {
    for (const hosts of noHosts) {
      const answer = await send(request, hosts);
      expect([hosts, statusOf(answer)]).toEqual([hosts, 400]);
      // Neither Node's own response to a request without a Host nor the response to a refused upgrade has a body.
      if (hosts.length > 0 && !request.first.startsWith('HEAD') && !request.more.includes('Upgrade: websocket')) {
        expect(answer).toMatch(/Host/);
      }
      expect(answer).not.toMatch(/customers|currencies|allow-origin|100 Continue/i);
    }
  });

  test('the metrics', async () => {
    const metrics = t.gateway.metricsUrl ?? '';
    for (const path of ['/metrics', '/nothing']) {
      const request = { first: `GET ${path} HTTP/1.1` };
      for (const hosts of noHosts) expect([hosts, statusOf(await send(request, hosts, metrics))]).toEqual([hosts, 400]);
      expect(statusOf(await send(request, ['a:1'], metrics))).toBe(path === '/metrics' ? 200 : 404);
    }
  });

  test('a document in a Host header is not executed', async () => {
    const query = encodeURIComponent('{ customers(first: 1) { totalCount } }');
    for (const accept of ['application/json', 'text/event-stream', 'multipart/mixed', '*/*']) {
      for (const path of ['/graphql?query={', '/graphql?query={viewer{kind}}']) {
        const host = `x/graphql?query=${query}&z=`;
        const answer = await send({ first: `GET ${path} HTTP/1.1`, more: [`Accept: ${accept}`] }, [host]);
        expect(statusOf(answer)).toBe(400);
        expect(answer).not.toContain('totalCount');
      }
    }
  });

  test('any authority with an illegal character', async () => {
    const wrong = fc.constantFrom(...' /?#@\\%[]<>^|"{}\'`,;!$&()*+=\t');
    await fc.assert(
      fc.asyncProperty(authority, fc.nat(), wrong, async (host, at, character) => {
        const cut = 1 + (at % (host.length - 1));
        const spoilt = host.slice(0, cut) + character + host.slice(cut);
        expect([spoilt, statusOf(await send({ first: 'GET /health/live HTTP/1.1' }, [spoilt]))]).toEqual([spoilt, 400]);
      }),
      { numRuns: 300 },
    );
  });
});

const port = fc.nat(65_535);
/** Valid hosts: names, IPv4 and IPv6 addresses, with or without a port. */
const authority = fc
  .tuple(
    fc.oneof(
      fc.domain(),
      fc.ipV4(),
      fc
        .ipV6()
        .filter((address) => URL.canParse(`http://[${address}]`))
        .map((address) => `[${address}]`),
      fc.constantFrom('localhost', 'LOCALHOST', 'my_service', 'xn--bcher-kva.example', 'a.example.', 'a--b', '1a'),
    ),
    fc.oneof(
      fc.constant(''),
      port.map((one) => `:${one}`),
    ),
  )
  .map((parts) => parts.join(''))
  .filter((host) => host.length > 1);

test('every valid host is accepted, and does not affect the response', async () => {
  const dates = /^(date|x-request-id|ratelimit[a-z-]*): .*\r\n/gim;
  const read = async (path: string, host: string) =>
    (await send({ first: `GET ${path} HTTP/1.1`, more: ['Accept: application/json'] }, [host])).replace(dates, '');
  const pages = ['/', '/lab', '/wallet', '/docs'];
  const paths = [...pages, '/health/live', '/graphql?query={viewer{kind}}', '/2025-10-13/config'];
  const usual = new Map(await Promise.all(paths.map(async (path) => [path, await read(path, 'localhost')] as const)));
  for (const path of paths) expect(usual.get(path)).toMatch(/^HTTP\/1\.1 (200|404) /);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), authority, async (path, host) => {
      expect(await read(path, host)).toBe(usual.get(path));
    }),
    { numRuns: 200 },
  );
});

describe('the target of a request', () => {
  const hosted = (target: string, host: string, method = 'GET') =>
    exchangeLines([`${method} ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close']);

  test('may name a host if it matches the Host header', async () => {
    for (const target of [
      'http://a.example/health/live',
      'HTTP://A.example/health/live?x',
      'https://a.example/health/live',
    ]) {
      expect([target, statusOf(await hosted(target, 'a.example'))]).toEqual([target, 200]);
    }
    expect(await hosted('http://a.example', 'a.example')).toContain('"graphql":"/graphql"');
    expect(await hosted('http://a.example?x', 'a.example')).toContain('"graphql":"/graphql"');
    expect(await hosted('http://a.example/nothing', 'a.example')).toContain('there is nothing at /nothing');
  });

  test.each([
    ['another host', 'http://b.example/health/live'],
    ['another port', 'http://a.example:1/health/live'],
    ['a user', 'http://u@a.example/health/live'],
    ['no host', 'http:///health/live'],
    ['another scheme', 'ftp://a.example/health/live'],
    ['a fragment', '/health/live#x'],
    ['a fragment that hides a query', '/graphql#?query={viewer{kind}}'],
    ['no path', 'health/live'],
    ['the whole server', '*'],
  ])('is refused with %s', async (_name, target) => {
    expect(statusOf(await hosted(target, 'a.example'))).toBe(400);
    expect(statusOf(await exchangeLines([`GET ${target} HTTP/1.1`, 'Host: a.example', ...upgradeLines]))).toBe(400);
  });

  test('needs no Host header in HTTP/1.0, but if there is one, it must be valid', async () => {
    const old = (lines: readonly string[]) => exchangeLines(['GET /health/live HTTP/1.0', ...lines]);
    expect(statusOf(await old([]))).toBe(200);
    expect(statusOf(await old(['Host: a/b']))).toBe(400);
  });
});
