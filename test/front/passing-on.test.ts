import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as dial } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { openRawSocket } from '../setup/streams.ts';
import { directoryFile, startTestFront } from '../setup/two-clusters.ts';

/** How a front passes things on, with instances of the test's own behind it. */

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Instance {
  readonly url: string;
  readonly requests: { readonly url: string; readonly headers: IncomingMessage['headers']; readonly body: string }[];
  close(): Promise<void>;
}

/** An instance that answers what `work` says, and is ready. */
async function startInstance(
  work: (request: IncomingMessage, response: ServerResponse) => void,
  onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
): Promise<Instance> {
  const requests: Instance['requests'][number][] = [];
  const server = createServer(async (request, response) => {
    if (request.url === '/health/ready') return void response.end();
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push({ url: request.url ?? '', headers: request.headers, body });
    work(request, response);
  }).listen(0, '127.0.0.1');
  if (onUpgrade) server.on('upgrade', onUpgrade);
  await once(server, 'listening');
  const address = server.address();
  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  cleanups.push(close);
  return { url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : ''}`, requests, close };
}

async function startFrontOf(clusters: Readonly<Record<string, readonly string[]>>, shutdownDelayMs = 0) {
  const named = Object.fromEntries(Object.entries(clusters).map(([name, instances]) => [name, { instances }]));
  const file = directoryFile({ clusters: named, default: Object.keys(clusters)[0] ?? '' });
  const front = await startTestFront(file.path, shutdownDelayMs);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= front.stop();
    return stopped;
  };
  cleanups.push(file.remove, stop);
  return { url: front.url, stop };
}

const of = (cluster: string) => `Basic ${Buffer.from(`${cluster}.${'a'.repeat(22)}.x:secret`).toString('base64')}`;
const post = (url: string, cluster: string, body = '{}') =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: of(cluster), 'content-type': 'application/json' },
    body,
  });
const ok = (_request: IncomingMessage, response: ServerResponse) => void response.end('ok');

describe('a cluster that is away', () => {
  test('only its own platforms notice, on every transport', async () => {
    const north = await startInstance(ok);
    const south = await startInstance(ok);
    await south.close();
    const front = await startFrontOf({ north: [north.url], south: [south.url] });
    const refused = await post(front.url, 'south');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toEqual({
      errors: [{ message: expect.any(String), extensions: { code: 'SERVICE_UNAVAILABLE', retryAfter: 1 } }],
    });
    const rest = await fetch(`${front.url}/2025-10-13/customers`, { headers: { authorization: of('south') } });
    expect(await rest.json()).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE', details: {} });
    const socket = await openRawSocket(front.url, of('south'));
    expect(await socket.closed).toMatchObject({ code: 1013 });
    expect(await (await post(front.url, 'north')).text()).toBe('ok');
  });

  test('where one of its instances is away, the others take all', async () => {
    const [one, two] = [await startInstance(ok), await startInstance(ok)];
    const front = await startFrontOf({ north: [one.url, two.url] });
    await Promise.all(Array.from({ length: 4 }, () => post(front.url, 'north')));
    expect([one.requests.length, two.requests.length]).toEqual([2, 2]);
    await two.close();
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(front.url, 'north')));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    expect(one.requests).toHaveLength(8);
  });
});

describe('an answer that is lost', () => {
  const cutting = (_request: IncomingMessage, response: ServerResponse) => void response.destroy();

  test('a command is not sent twice, and its client hears that its outcome is unknown', async () => {
    const [one, two] = [await startInstance(cutting), await startInstance(cutting)];
    const front = await startFrontOf({ north: [one.url, two.url] });
    const response = await post(front.url, 'north');
    expect([response.status, await response.json()]).toEqual([
      504,
      { errors: [{ message: expect.any(String), extensions: { code: 'OUTCOME_UNKNOWN' } }] },
    ]);
    expect(one.requests.length + two.requests.length).toBe(1);
  });

  test('what only reads is asked of another instance', async () => {
    const [one, two] = [await startInstance(cutting), await startInstance(ok)];
    const front = await startFrontOf({ north: [one.url, two.url] });
    const read = () => fetch(`${front.url}/2025-10-13/customers`, { headers: { authorization: of('north') } });
    const answers = await Promise.all(Array.from({ length: 4 }, async () => (await read()).text()));
    expect(answers).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect([one.requests.length, two.requests.length]).toEqual([2, 4]);
  });

  test('one that breaks off breaks off for the client', async () => {
    const half = (_request: IncomingMessage, response: ServerResponse) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    };
    const front = await startFrontOf({ north: [(await startInstance(half)).url] });
    const response = await post(front.url, 'north');
    await expect(response.text()).rejects.toThrow();
  });
});

describe('a request arrives as it was sent', () => {
  test('with its own headers, its id, and the address of its client behind those of proxies before', async () => {
    const north = await startInstance(ok);
    const front = await startFrontOf({ north: [north.url] });
    await fetch(`${front.url}/graphql?a=%2F`, {
      method: 'POST',
      headers: { 'x-request-id': 'one', 'x-forwarded-for': '203.0.113.7', 'idempotency-key': 'k', te: 'trailers' },
      body: 'ä',
    });
    const [{ url, body, headers } = { url: '', body: '', headers: {} }] = north.requests;
    expect({ url, body }).toEqual({ url: '/graphql?a=%2F', body: 'ä' });
    expect(headers).toMatchObject({
      ...{ host: front.url.slice('http://'.length), 'x-request-id': 'one', 'idempotency-key': 'k' },
      'x-forwarded-for': '203.0.113.7, 127.0.0.1',
    });
    expect(headers).not.toHaveProperty('te');
  });

  test('a body of unknown length stays a body, whatever the method', async () => {
    const north = await startInstance(ok);
    const front = await startFrontOf({ north: [north.url] });
    const inner = 'POST /smuggled HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n';
    const { hostname, port } = new URL(front.url);
    const socket = dial(Number(port), hostname);
    socket.write(
      `DELETE /2025-10-13/tokens/1 HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
    );
    socket.resume();
    await once(socket, 'close');
    await post(front.url, 'north');
    expect(north.requests.map(({ url }) => url)).toEqual(['/2025-10-13/tokens/1', '/graphql']);
    expect(north.requests[0]?.body).toBe(inner);
  });
});

describe('sockets', () => {
  const serving = () => {
    const sockets = new WebSocketServer({ noServer: true });
    cleanups.push(() => {
      for (const client of sockets.clients) client.terminate();
    });
    const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request));
    return { sockets, onUpgrade };
  };

  test('a reader that is slow slows down who sends to it, and the front holds little', async () => {
    const { sockets, onUpgrade } = serving();
    const chunk = Buffer.alloc(1024 * 1024);
    let sent = 0;
    const stalled = new Promise<void>((resolve) => {
      sockets.on('connection', (client, { socket }) => {
        client.on('message', async () => {
          for (; sent < 256; sent += 1) {
            client.send(chunk);
            for (let turns = 0; turns < 2_000 && socket.writableLength > 0; turns += 1) await turn();
            // Nothing has been taken for so long: the way to the reader is full.
            if (socket.writableLength > 0) return resolve();
          }
        });
      });
    });
    const front = await startFrontOf({ north: [(await startInstance(ok, onUpgrade)).url] });
    const reader = new WebSocket(`${front.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await once(reader, 'open');
    reader.pause();
    const before = process.memoryUsage().arrayBuffers;
    reader.send(JSON.stringify({ type: 'connection_init', payload: { authorization: of('north') } }));
    await stalled;
    // What the sender itself could not get rid of is one chunk; the buffers of the system are not counted.
    expect(sent).toBeLessThan(64);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
    reader.terminate();
  });

  test('what is sent right behind the first message arrives, in order', async () => {
    const { sockets, onUpgrade } = serving();
    const got: string[] = [];
    const all = new Promise<void>((resolve) => {
      sockets.on('connection', (client) =>
        client.on('message', (message) => {
          if (got.push(String(message)) === 101) resolve();
        }),
      );
    });
    const front = await startFrontOf({ north: [(await startInstance(ok, onUpgrade)).url] });
    const client = new WebSocket(`${front.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await once(client, 'open');
    client.send(JSON.stringify({ type: 'connection_init', payload: { authorization: of('north') } }));
    for (let index = 0; index < 100; index += 1) client.send(`message ${index}`);
    await all;
    expect(got.slice(1)).toEqual(Array.from({ length: 100 }, (_none, index) => `message ${index}`));
    client.terminate();
  });

  test('one that says nothing is closed, and one whose page may not is refused for good', async () => {
    const refusing = (_request: IncomingMessage, socket: Duplex) =>
      void socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
    const front = await startFrontOf({ north: [(await startInstance(ok, refusing)).url] });
    const silent = new WebSocket(`${front.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    const forbidden = await openRawSocket(front.url, of('north'), { origin: 'https://evil.example' });
    expect(await forbidden.closed).toMatchObject({ code: 1008 });
    expect((await once(silent, 'close'))[0]).toBe(4408);
  });
});

test('a stop sends sockets away with 1012 between two messages, and lets requests end', async () => {
  const sockets = new WebSocketServer({ noServer: true });
  const begun = Promise.withResolvers<ServerResponse>();
  const north = await startInstance(
    (_request, response) => begun.resolve(response),
    (request, socket, head) =>
      sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client)),
  );
  const opened = once(sockets, 'connection');
  const front = await startFrontOf({ north: [north.url] });
  const client = new WebSocket(`${front.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await once(client, 'open');
  client.send(JSON.stringify({ type: 'connection_init', payload: { authorization: of('north') } }));
  const [server] = (await opened) as [WebSocket];
  const messages: string[] = [];
  client.on('message', (message) => messages.push(String(message)));
  const big = 'x'.repeat(300_000);
  for (const message of ['short', big, 'y'.repeat(200)]) server.send(message);
  while (messages.length < 3) await once(client, 'message');
  const answer = post(front.url, 'north');
  const response = await begun.promise;
  const stopped = front.stop();
  expect((await once(client, 'close'))[0]).toBe(1012);
  response.end('done');
  expect(await (await answer).text()).toBe('done');
  await stopped;
  expect(messages).toEqual(['short', big, 'y'.repeat(200)]);
  await expect(fetch(`${front.url}/health/live`)).rejects.toThrow();
  for (const one of sockets.clients) one.terminate();
});
