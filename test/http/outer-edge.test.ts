import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Bundle } from '../../src/api/pages/assets.ts';
import { parseRange } from '../../src/core/address-ranges.ts';
import { startChildGateway } from '../setup/child-gateway.ts';
import { testDatabase } from '../setup/database.ts';
import { connect as connectAs, ownGateway, startTestGateway, testGateway } from '../setup/gateway.ts';
import { answerTo, openConnection } from '../setup/raw-http.ts';
import { openRawSocket } from '../setup/streams.ts';

/** Whatever a client without credentials opens, requests or sends costs no more than a refusal. */

// The clock advances by a second each time it is read, so that refusals are never frequent enough to be delayed.
let clock = 0;
const now = () => {
  clock += 1_000;
  return clock;
};
const t = await testGateway({ PUBLIC_CONTRACT: false, WRONG_CREDENTIALS_PER_MINUTE: 10_000 }, undefined, {
  pace: { now },
});

interface Sent {
  readonly url?: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent?: Agent;
  readonly localAddress?: string;
}

/** Sends a request exactly as given, including headers that `fetch` would not send. */
async function send({ url = t.url, method = 'POST', path, headers = {}, body = '', ...more }: Sent) {
  const length = method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const response = await answerTo(url, { method, path, headers: { ...length, ...headers }, ...more }, body);
  return { status: response.statusCode as number, text: await text(response) };
}

/** Opens a socket that sends no credentials. */
const bareSocket = (url: string) =>
  new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws').on('error', () => undefined);

const json = { 'content-type': 'application/json' };
const good = '{ viewer { kind } }';
const posted = (query: string) => JSON.stringify({ query });

describe('without credentials, every document gets the same refusal', () => {
  const documents: readonly [string, object][] = [
    ['valid', { query: good }],
    ['with an unknown field', { query: '{ nope }' }],
    ['that is malformed', { query: '{' }],
    ['with an introspection query', { query: '{ __schema { types { name } } }' }],
    ['given by its hash', { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } }],
    ['given by its id', { documentId: `sha256:${'a'.repeat(64)}` }],
    ['with a subscription', { query: 'subscription { transactionUpdates { nope } }' }],
    ['with variables that are not an object', { query: good, variables: 1 }],
    ['that is not a request', []],
  ];
  const sha = 'application/graphql-response+json';

  test.each(['application/json', sha, 'text/event-stream', 'multipart/mixed', 'text/csv'])(
    'to a POST that accepts %s, and to a GET',
    async (accept) => {
      const answers = new Set<string>();
      for (const authorization of ['', 'Basic x', `Basic ${btoa('a:b')}`, 'Bearer x']) {
        const headers = { accept, authorization };
        for (const [, document] of documents) {
          const body = JSON.stringify(document);
          const search = new URLSearchParams(
            Object.entries(document).map(([name, value]) => [
              name,
              typeof value === 'string' ? value : JSON.stringify(value),
            ]),
          );
          const sent = [
            await send({ path: '/graphql', headers: { ...headers, ...json }, body }),
            await send({ path: '/graphql/stream', headers: { ...headers, ...json }, body }),
            await send({ method: 'GET', path: `/graphql?${search}`, headers }),
          ];
          expect(sent.map(({ status }) => status)).toEqual([401, 401, 401]);
          for (const one of sent) answers.add(one.text);
        }
      }
      expect([...answers]).toEqual([expect.stringContaining('"code":"UNAUTHENTICATED"')]);
    },
  );

  test.each(documents)('over a socket, for a document %s', async (_what, payload) => {
    const raw = bareSocket(t.url);
    await once(raw, 'open');
    const query = 'query' in payload ? payload.query : '';
    raw.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { ...payload, query, variables: {} } }));
    const [code] = await once(raw, 'close');
    expect(code).toBe(4401);
  });
});

// The clock is stopped, so exhausted rate limits stay exhausted.
const limits = { RATE_LIMIT_PLATFORM: { perSecond: 1, burst: 1 } };
/** An instance on which the platform has exhausted its rate limit. */
const full = await testGateway({ ROLE: 'serve', ...limits }, t.databaseUrl, { pace: { now: () => 0 } });
const used = connectAs(full.url, t.platform.platformId, t.platform.authorization);
expect((await used.send(good)).status).toBe(200);
expect((await used.send(good)).status).toBe(429);

describe('a request with two faults gets the refusal from the earlier check: address, form, credentials, limits, content', () => {
  const long = 'x'.repeat(101 * 1024);
  const paths: readonly [string, string, string][] = [
    ['POST', '/graphql', posted(good)],
    ['POST', '/graphql/stream', posted(good)],
    ['POST', '/2025-10-13/quotes', '{}'],
    ['PATCH', '/2025-10-13/config', '{}'],
  ];
  const headersOf = (authorization: string, more: object = {}) => ({ ...json, authorization, ...more });

  test.each(paths)('%s %s', async (method, path, body) => {
    const own = t.platform.authorization;
    const { url } = full;
    const orders: readonly [order: string, status: number, sent: Omit<Sent, 'path'>][] = [
      ['address, form', 400, { headers: headersOf('', { host: 'a/b?c', 'content-type': 'text/plain' }) }],
      ['form, credentials', 415, { headers: headersOf('', { 'content-type': 'text/plain' }) }],
      ['form, credentials', 415, { headers: headersOf('', { 'content-encoding': 'gzip' }) }],
      ['form, credentials', 413, { headers: headersOf(''), body: long }],
      ['form, limits', 415, { url, headers: headersOf(own, { 'content-type': 'text/plain' }) }],
      ['form, limits', 413, { url, headers: headersOf(own), body: long }],
      ['credentials, limits', 401, { url, headers: headersOf(`Basic ${btoa('a:b')}`) }],
      ['credentials, content', 401, { headers: headersOf(''), body: '{' }],
      ['credentials, content', 401, { headers: headersOf(''), body: '{"a":1,"a":1}' }],
      ['limits, content', 429, { url, headers: headersOf(own), body: '{' }],
      ['content', 400, { headers: headersOf(own), body: '{' }],
    ];
    for (const [order, wanted, sent] of orders)
      expect([order, (await send({ method, path, body, ...sent })).status]).toEqual([order, wanted]);
  });

  test('a GET', async () => {
    const at = async (path: string, authorization: string, url = t.url) =>
      (await send({ url, method: 'GET', path, headers: { authorization } })).status;
    for (const path of ['/graphql?query={', '/2025-10-13/quotes?nope=1']) {
      expect(await at(path, '')).toBe(401);
      expect(await at(path, `Basic ${btoa('a:b')}`, full.url)).toBe(401);
      expect(await at(path, t.platform.authorization, full.url)).toBe(429);
    }
  });

  test('a webhook of a provider', async () => {
    const path = `/rails/${t.platform.platformId}/webhooks`;
    expect((await send({ method: 'PUT', path, body: '{' })).status).toBe(405);
    expect((await send({ path, body: long })).status).toBe(413);
    expect((await send({ path, body: '{"a":1,"a":1}' })).status).toBe(401);
  });

  test('an operation on a socket', async () => {
    const raw = await openRawSocket(t.url, t.platform.authorization);
    raw.send({ id: '1', type: 'subscribe', payload: { query: '{' } });
    expect(await raw.receive('error')).toMatchObject({ payload: [{ extensions: { code: 'GRAPHQL_PARSE_FAILED' } }] });
    raw.socket.close();
    // Rate limits are checked before the content, and opening the socket already exceeds the limit.
    const refused = await openRawSocket(full.url, t.platform.authorization);
    expect((await refused.closed).code).toBe(1013);
  });
});

const database = await testDatabase();
/** A separate process, so that the test can read its output. */
const child = await startChildGateway({ DATABASE_URL: database.url, LOG_LEVEL: 'info' });
afterAll(async () => {
  expect(await child.end('SIGTERM')).toBe(0);
});

describe('a socket whose client breaks the protocol', () => {
  /** Sends messages on a socket without credentials, expects one line in the log, and returns the close code. */
  async function closeAfter(messages: readonly (string | Buffer)[]) {
    const before = child.output().length;
    const socket = bareSocket(child.url);
    await once(socket, 'open');
    for (const message of messages) socket.send(message);
    const [code] = await once(socket, 'close');
    await expect.poll(() => child.output().slice(before)).toContain('WebSocket protocol');
    const lines = child.output().slice(before).trimEnd().split('\n');
    expect(lines.filter((line) => /WebSocket|^\s+at |Internal error/.test(line))).toEqual([
      expect.stringContaining('a client violated the WebSocket protocol'),
    ]);
    return code;
  }

  test.each([
    ...['{"type":"next"}', '{"type":"next","id":"1","payload":{}}', '{"type":"error","id":"1","payload":[]}'],
    ...['{"type":"connection_ack"}', '{"type":"nope"}', '{"type":1}', '{"type":"complete"}', '{"type":"subscribe"}'],
    ...['{"type":"ping","payload":1}', '{"id":"1","type":"subscribe","payload":{}}', '{}', 'null', '1', '"ping"', '[]'],
    ...['[{"type":"connection_init"}]', '', '{', '{"type":"ping","type":"ping"}', '\u0000'],
  ])('is closed with 4400 and causes one line in the log: %j', async (message) => {
    expect(await closeAfter([message])).toBe(4400);
  });

  test.each([
    ['a binary message', 4400, [Buffer.from('{"type":"connection_init"}')]],
    ['an operation before its credentials', 4401, ['{"id":"1","type":"subscribe","payload":{"query":"{nope}"}}']],
    ['a deeply nested message', 4400, ['['.repeat(60_000)]],
    ['a message that is too long', 1009, ['x'.repeat(65 * 1024)]],
    [
      'several wrong messages, the first of which counts',
      4400,
      ['{"type":"next"}', '{"type":"nope"}', '{"type":"connection_init"}'],
    ],
  ] as const)('%s: %i', async (_what, wanted, messages) => {
    expect(await closeAfter(messages)).toBe(wanted);
  });

  test('is closed with a delay once many such sockets have been closed', async () => {
    let closed = 0;
    const twenty = Promise.withResolvers<void>();
    const sockets = Array.from({ length: 200 }, () => {
      const socket = bareSocket(child.url);
      socket.on('open', () => socket.send('{"type":"next"}'));
      return socket.on('close', () => {
        closed += 1;
        if (closed >= 20) twenty.resolve();
      });
    });
    await twenty.promise;
    // By the time this request gets a response, the messages sent before it have arrived.
    expect((await fetch(`${child.url}/health/live`)).status).toBe(200);
    expect(closed).toBeLessThan(sockets.length);
    for (const socket of sockets) socket.terminate();
  });
});

describe('a file of a page', () => {
  const { pages } = JSON.parse(readFileSync('dist/pages/bundle.json', 'utf8')) as Bundle;
  const get = (url: string, name: string, encoding: string) =>
    send({ url, method: 'GET', path: `/assets/${name}`, headers: { 'accept-encoding': encoding } });

  test('is served only if a page that uses it is shown', async () => {
    const names = [...new Set(Object.values(pages).flatMap(({ files }) => files))];
    expect(names.length).toBeGreaterThan(20);
    const closed = await startTestGateway({ ROLE: 'serve', GRAPHIQL: false, PUBLIC_CONTRACT: false }, t.databaseUrl);
    for (const name of names) expect([name, (await get(closed.url, name, 'gzip')).status]).toEqual([name, 404]);
    await closed.stop();
    const documents = await ownGateway({ ROLE: 'serve', GRAPHIQL: false, PUBLIC_CONTRACT: true }, t.databaseUrl);
    for (const name of names) {
      const isUsed = pages.console?.files.includes(name);
      expect([name, (await get(documents.url, name, 'gzip')).status]).toEqual([name, isUsed ? 200 : 404]);
    }
  });

  test('has the same content for all clients, whatever they accept', async () => {
    const shown = await ownGateway({ ROLE: 'serve', GRAPHIQL: true }, t.databaseUrl);
    const path = String(pages.lab?.scripts[0]);
    const stored = readFileSync(`${path.replace('/assets/', 'dist/pages/')}.gz`);
    for (const encoding of ['identity', 'gzip;q=0', 'br', 'gzip', '']) {
      const response = await fetch(`${shown.url}${path}`, { headers: { 'accept-encoding': encoding } });
      expect(response.headers.get('content-encoding')).toBe('gzip');
      const length = Number(response.headers.get('content-length'));
      expect(gunzipSync(stored).toString()).toBe(await response.text());
      expect(length).toBe(stored.length);
    }
  });
});

describe('connections', () => {
  const most = 40;
  const openAt = async (url: string, localAddress = '127.0.0.1') =>
    (await openConnection(url, { localAddress })).resume();
  /** Opens idle connections from one address. Returns those still open once another address has been served. */
  async function idle(url: string, count: number): Promise<readonly Socket[]> {
    const sockets: Socket[] = [];
    for (let opened = 0; opened < count; opened += 1) sockets.push(await openAt(url));
    const answer = { url, method: 'GET', path: '/health/live', localAddress: '127.0.0.2' };
    for (let round = 0; round < 10; round += 1) expect((await send(answer)).status).toBe(200);
    return sockets.filter((socket) => !socket.destroyed);
  }

  const crowded = (settings: Parameters<typeof ownGateway>[0] = {}) =>
    ownGateway({ ROLE: 'serve', ...settings }, t.databaseUrl, { pace: { connections: most } });

  test('from one address and without credentials get at most a quarter of the places, and other addresses are served', async () => {
    const gateway = await crowded();
    const left = await idle(gateway.url, 3 * most);
    expect(left).toHaveLength(most / 4);
    for (const socket of left) socket.destroy();
  });

  test('without credentials are closed once they occupy more than half of the places, starting with the oldest from the busiest address', async () => {
    const gateway = await crowded();
    const sockets: Socket[] = [];
    for (let address = 10; address < 16; address += 1) {
      for (let opened = 0; opened < most / 4; opened += 1) {
        sockets.push(await openAt(gateway.url, `127.0.0.${address}`));
      }
    }
    expect((await send({ url: gateway.url, method: 'GET', path: '/health/live' })).status).toBe(200);
    expect(sockets.filter((socket) => !socket.destroyed).length).toBeLessThanOrEqual(most / 2);
    for (const socket of sockets) socket.destroy();
  });

  test('with credentials, over HTTP or over sockets, are not counted among those without', async () => {
    const { url } = await crowded();
    const agents = Array.from({ length: most / 4 }, () => new Agent({ keepAlive: true }));
    const { authorization } = t.platform;
    const sent = { url, path: '/graphql', headers: { ...json, authorization }, body: posted(good) };
    for (const agent of agents) expect((await send({ ...sent, agent })).status).toBe(200);
    for (let opened = 0; opened < most / 4; opened += 1) await openRawSocket(url, authorization);
    expect((await send({ url, method: 'GET', path: '/health/live' })).status).toBe(200);
    for (const agent of agents) agent.destroy();
  });

  test('from a trusted proxy are not counted as coming from a single address', async () => {
    const gateway = await crowded({ TRUSTED_PROXIES: [parseRange('127.0.0.1')] });
    const left = await idle(gateway.url, most - 5);
    expect(left).toHaveLength(most - 5);
    for (const socket of left) socket.destroy();
  });

  test('without a request, or without a complete request head, are closed', async () => {
    const gateway = await ownGateway({ ROLE: 'serve' }, t.databaseUrl, { pace: { headersMs: 200 } });
    const silent = await openAt(gateway.url);
    const slow = await openAt(gateway.url);
    slow.write('POST /graphql HTTP/1.1\r\nhost: a\r\n');
    await Promise.all([once(silent, 'close'), once(slow, 'close')]);
  });
});
