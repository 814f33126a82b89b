import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/server/config.ts';
import { type ChildGateway, startChildGateway } from '../setup/child-gateway.ts';
import { startTestGateway, testGateway } from '../setup/gateway.ts';
import { hangingUpload } from '../setup/hanging-upload.ts';
import { lockedCustomers, patient } from '../setup/locks.ts';
import { heardOn, openConnection } from '../setup/raw-http.ts';
import { nextOf, openEventStream, openRawSocket } from '../setup/streams.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { ownReceiver } from '../webhooks/receiver.ts';

/** Tests how an instance treats its clients while it shuts down. */

const secretKey = randomBytes(32);

/** The gateway that creates the platform. The child processes use its database and do the background work. */
const t = await testGateway({ ROLE: 'serve', SECRET_KEY: secretKey });
const headers = { authorization: t.platform.authorization, 'content-type': 'application/json' };

const startChild = (environment: Readonly<Record<string, string>>) =>
  startChildGateway({ DATABASE_URL: t.databaseUrl, SECRET_KEY: secretKey.toString('hex'), ...environment });

type Exchange =
  | { readonly status: number; readonly body: string; readonly close: boolean }
  | { readonly error: string };

/** Creates a client that keeps one connection open for as long as the server permits. */
function keepAliveClient(url: string, headers: Readonly<Record<string, string>>) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    ask: (path: string, { method = 'GET', body = '' } = {}) =>
      new Promise<Exchange>((resolve) => {
        const failed = (error: NodeJS.ErrnoException) => resolve({ error: error.code ?? error.message });
        request(`${url}${path}`, { agent, method, headers }, (response) => {
          const { headers: sent, statusCode: status = 0 } = response;
          text(response).then((body) => resolve({ status, body, close: sent.connection === 'close' }), failed);
        })
          .on('error', failed)
          .end(body);
      }),
    end: () => agent.destroy(),
  };
}

/** Makes a client read from the database repeatedly over its one connection, until `isLast` accepts a response. */
function busyClient(client: ReturnType<typeof keepAliveClient>, isLast: (exchange: Exchange) => boolean) {
  let count = 0;
  const answers = new EventEmitter();
  const body = JSON.stringify({ query: '{ customers { totalCount } transactions { totalCount } }' });
  const run = async () => {
    for (;;) {
      const exchange = await client.ask('/graphql', { method: 'POST', body });
      if (isLast(exchange)) return exchange;
      count += 1;
      answers.emit('answer');
    }
  };
  return {
    last: run().finally(() => client.end()),
    /** Resolves once `wanted` responses have arrived. */
    async answered(wanted: number) {
      while (count < wanted) await once(answers, 'answer');
    },
  };
}

/** Stops a child process. It must exit within ten seconds of SIGTERM, because after that, Docker would kill it. */
async function endsInTime(child: ChildGateway): Promise<void> {
  const begun = performance.now();
  expect(await child.end('SIGTERM')).toBe(0);
  expect(performance.now() - begun).toBeLessThan(10_000);
}

async function portClosed(url: string): Promise<void> {
  for (;;) {
    const refused = await openConnection(url).then(
      (socket) => void socket.destroy(),
      ({ code }: NodeJS.ErrnoException) => code === 'ECONNREFUSED',
    );
    if (refused) return;
  }
}

/** Waits, over separate connections, until the instance reports that it is not ready. */
async function unready(url: string): Promise<Response> {
  for (;;) {
    const response = await fetch(`${url}/health/ready`, { headers: { connection: 'close' } });
    await response.arrayBuffer();
    if (response.status === 503) return response;
  }
}

const answersIn = (text: string) => text.match(/HTTP\/1\.1 200 OK\r\n/g)?.length;
const endsIn = (text: string) => text.match(/^connection: close\r$/gim)?.length;
const subscription = JSON.stringify({ query: 'subscription { events { id } }' });
const customer = {
  customerType: 'INDIVIDUAL',
  platformCustomerId: 'a',
  fullName: 'Grace Hopper',
  birthDate: '1906-12-09',
};
const get = 'GET /2025-10-13/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n';
const ping = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';
const lastChunk = '\r\n0\r\n\r\n';

function post(path: string, body: string, more: readonly string[] = []): string {
  const head = [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json', ...more];
  return [...head, `Authorization: ${headers.authorization}`, `Content-Length: ${body.length}`, '', body].join('\r\n');
}

test('the default delay is two seconds in production, and zero in development', () => {
  const delayOf = (environment: Readonly<Record<string, string>>) => readConfig(environment).SHUTDOWN_DELAY_MS;
  const production = { NODE_ENV: 'production', DATABASE_URL: 'postgres://host/name' };
  expect([delayOf({}), delayOf(production), delayOf({ ...production, SHUTDOWN_DELAY_MS: '0' })]).toEqual([0, 2_000, 0]);
  expect(() => delayOf({ SHUTDOWN_DELAY_MS: '60001' })).toThrow('SHUTDOWN_DELAY_MS must be between 0 and 60000');
});

test('every busy client gets a last response that tells it to disconnect, and the process exits in time', async () => {
  const child = await startChild({ SHUTDOWN_DELAY_MS: '2000' });
  const clients = Array.from({ length: 8 }, () =>
    busyClient(keepAliveClient(child.url, headers), (exchange) => 'error' in exchange || exchange.close),
  );
  await Promise.all(clients.map((client) => client.answered(5)));
  await endsInTime(child);
  const sentAway = {
    status: 200,
    body: expect.stringContaining('"data":{"customers":{"totalCount":0},"transactions":{"totalCount":0}}'),
    close: true,
  };
  expect(await Promise.all(clients.map(({ last }) => last))).toEqual(clients.map(() => sentAway));
});

test('even a connection with an endless series of requests is closed after a complete response', async () => {
  const child = await startChild({ SHUTDOWN_DELAY_MS: '2000' });
  const socket = await openConnection(child.url);
  // The server may already have closed the connection when the client sends more.
  socket.on('error', () => undefined);
  const { ended, until } = heardOn(socket);
  socket.on('data', (data: string) => socket.write(ping.repeat(data.split(lastChunk).length - 1)));
  socket.write(ping.repeat(10));
  await until(lastChunk);
  await endsInTime(child);
  const text = await ended;
  expect(endsIn(text)).toBe(1);
  expect(text.slice(text.indexOf('Connection: close')).split(lastChunk)).toHaveLength(2);
});

test('clients that cannot reach another instance are served until their connections are refused', async () => {
  const child = await startChild({ SHUTDOWN_DELAY_MS: '1000' });
  const clients = Array.from({ length: 8 }, () => {
    const client = keepAliveClient(child.url, headers);
    return { client, busy: busyClient(client, (exchange) => 'error' in exchange) };
  });
  await Promise.all(clients.map(({ busy }) => busy.answered(5)));
  await endsInTime(child);
  // A connection that opens just as the port closes may be reset instead of refused, but the next one is refused.
  for (const { client, busy } of clients) {
    const last = await busy.last;
    expect([last, await client.ask('/health/live')]).toContainEqual({ error: 'ECONNREFUSED' });
    client.end();
  }
});

test.each([
  ['/graphql', { method: 'POST', body: '{"query":"{ customers { totalCount } }"}' }],
  ['/2025-10-13/customers', {}],
])(
  'a request in progress at %s gets its response after the port has closed, and its connection is closed',
  async (path, options) => {
    // This instance has its own database, so that only the request below waits for the locked customer table.
    const stopping = await startTestGateway({ ROLE: 'serve' }, undefined, { pace: patient });
    const { authorization } = stopping.platform;
    const client = keepAliveClient(stopping.url, { authorization, 'content-type': 'application/json' });
    expect(await client.ask('/health/live')).toMatchObject({ status: 200, close: false });
    const lock = await lockedCustomers(stopping.databaseUrl);
    const asked = client.ask(path, options);
    await lock.waitedFor();
    const stopped = stopping.stop();
    await portClosed(stopping.url);
    await lock.release();
    expect(await asked).toMatchObject({ status: 200, close: true });
    await stopped;
    expect(await client.ask('/health/live')).toEqual({ error: 'ECONNREFUSED' });
  },
);

test('responses that have started when the port closes are sent in full, however late the client reads them', async () => {
  const stopping = await startTestGateway();
  const socket = await openConnection(stopping.url);
  const count = 50;
  socket.write(get.repeat(count));
  const [beginning] = await once(socket.setEncoding('utf8'), 'data');
  socket.pause();
  const stopped = stopping.stop();
  await portClosed(stopping.url);
  const { ended } = heardOn(socket);
  socket.resume();
  const text = beginning + (await ended);
  expect(answersIn(text)).toBe(count);
  const [document = ''] = text.split('HTTP/1.1 200 OK').slice(1);
  expect(text.endsWith(document.slice(document.indexOf('\r\n\r\n')))).toBe(true);
  await stopped;
});

test('endless requests do not delay shutdown long enough for Docker to kill the process', async () => {
  const child = await startChild({ NODE_ENV: 'production', ALLOW_UNSAFE: 'loopback-webhooks' });
  const receiver = await ownReceiver(() => undefined);
  await createEndpoint(t.platform, { url: receiver.url });
  await receiver.until((received) => received.length > 0);
  const upload = await hangingUpload(child.url);
  const unread = await openConnection(child.url);
  unread.pause();
  await new Promise((sent) => unread.write(get.repeat(200), sent));
  const stream = await openEventStream(`${child.url}/graphql`, t.platform.authorization, {
    query: 'subscription { events { id } }',
  });
  const deaf = await openRawSocket(child.url, t.platform.authorization);
  deaf.socket.pause();
  const lock = await lockedCustomers(t.databaseUrl);
  const asked = keepAliveClient(child.url, headers).ask('/2025-10-13/customers');
  await lock.waitedFor();
  await endsInTime(child);
  await lock.release();
  expect(await asked).toMatchObject({ close: true });
  await expect(nextOf(stream.events)).rejects.toThrow();
  for (const socket of [upload.socket, unread, deaf.socket])
    'terminate' in socket ? socket.terminate() : socket.destroy();
});

describe('during the delay', () => {
  let child: ChildGateway;
  let idle: Socket[];
  let readiness: Response;
  beforeAll(async () => {
    // The delay is longer than any test, so the process is killed at the end.
    child = await startChild({ SHUTDOWN_DELAY_MS: '60000' });
    idle = await Promise.all(Array.from({ length: 3 }, () => openConnection(child.url)));
    for (const socket of idle) {
      socket.write(ping);
      expect(endsIn(await heardOn(socket).until(lastChunk))).toBeUndefined();
      socket.removeAllListeners('data');
    }
    child.process.kill('SIGTERM');
    readiness = await unready(child.url);
  });
  afterAll(() => child.end('SIGKILL'));

  test('the instance reports that it is not ready, and a second signal changes nothing', async () => {
    expect(readiness.status).toBe(503);
    child.process.kill('SIGTERM');
    child.process.kill('SIGINT');
    expect((await unready(child.url)).status).toBe(503);
  });

  test.each([
    ['POST', '/graphql', JSON.stringify({ query: '{ viewer { kind } }' }), 200],
    ['POST', '/graphql', '{', 400],
    ['GET', '/2025-10-13/customers', '', 200],
    ['GET', '/health/live', '', 200],
    ['GET', '/health/ready', '', 503],
    ['GET', '/nothing', '', 404],
  ])('%s %s (%s) gets a response with status %i, and its connection is closed', async (method, path, body, status) => {
    const client = keepAliveClient(child.url, headers);
    expect(await client.ask(path, { method, body })).toMatchObject({ status, close: true });
    client.end();
  });

  test('an event stream opens, and announces that its connection will close', async () => {
    const response = await t.platform.at(child.url).post(subscription, { accept: 'text/event-stream' });
    expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
    await response.body?.cancel();
  });

  test('the next request on an open connection is served, and its response closes the connection', async () => {
    const [socket] = idle as [Socket, Socket, Socket];
    const { ended } = heardOn(socket);
    socket.write(ping);
    const text = await ended;
    expect([answersIn(text), endsIn(text)]).toEqual([1, 1]);
  });

  test('pipelined requests are all served, and the last response closes the connection', async () => {
    const [, socket] = idle as [Socket, Socket, Socket];
    const { ended } = heardOn(socket);
    socket.write(ping.repeat(3));
    const text = await ended;
    expect([answersIn(text), endsIn(text)]).toEqual([3, 1]);
    expect(text.indexOf('Connection: close')).toBeGreaterThan(text.lastIndexOf('HTTP/1.1 200 OK'));
  });

  test('requests sent after the response that closes the connection are not executed', async () => {
    const [, , socket] = idle as [Socket, Socket, Socket];
    const { ended, until } = heardOn(socket);
    socket.write(post('/graphql', subscription, ['Accept: text/event-stream']));
    expect(endsIn(await until('\r\n\r\n'))).toBe(1);
    // By the time the server has closed its side, it has read everything that the client sent.
    socket.end(post('/2025-10-13/customers', JSON.stringify(customer)));
    expect(answersIn(await ended)).toBe(1);
    expect(await t.platform.ask('{ customers { totalCount } }')).toEqual({ customers: { totalCount: 0 } });
  });
});
