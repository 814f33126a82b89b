import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { connect, ownGateway, startTestGateway, testGateway } from '../setup/gateway.ts';
import { startLoadBalancer } from '../setup/load-balancer.ts';
import { lockedCustomers } from '../setup/locks.ts';
import { commitEvents, nextOf, openEventStream, openRawSocket, subscribed } from '../setup/streams.ts';

/** Sockets and event streams follow the same rules about which operations and clients they accept and how they end. */

const t = await testGateway();
/** A second instance, with short limits for silent sockets and slow operations. */
const hasty = await testGateway({ ROLE: 'serve' }, t.databaseUrl, { pace: { keepAliveMs: 2_000, operationMs: 1_500 } });
const scene = await t.platform.makeScene();

const watchEvents = 'subscription { events { id } }';

test('a client that vanishes is dropped even if no event is sent, on every transport', async () => {
  const raw = await openRawSocket(t.url, t.platform.authorization);
  raw.send({ id: '1', type: 'subscribe', payload: { query: watchEvents } });
  const [one, other] = await Promise.all(
    ['/graphql', '/graphql/stream'].map((path) =>
      openEventStream(`${t.url}${path}`, t.platform.authorization, { query: watchEvents }),
    ),
  );
  await subscribed(t, 3);
  for (const vanish of [() => raw.socket.terminate(), one?.cut, other?.cut]) vanish?.();
  await subscribed(t, 0);
  expect(t.gateway.sessions.size).toBe(0);
});

test('a client that offers several protocols gets graphql-transport-ws, and one that does not offer it is disconnected', async () => {
  const accepted = async (...offered: string[]) => {
    const socket = new WebSocket(`${t.url.replace('http', 'ws')}/graphql`, offered);
    const closed = once(socket, 'close').then(([code]) => Number(code));
    const protocol = once(socket, 'open').then(() => socket.protocol);
    if (offered.includes('graphql-transport-ws')) protocol.then(() => socket.terminate());
    return [await protocol, await closed];
  };
  // The Python client gql offers the older protocol first.
  expect(await accepted('graphql-ws', 'graphql-transport-ws')).toEqual(['graphql-transport-ws', 1006]);
  expect(await accepted('graphql-transport-ws', 'graphql-ws')).toEqual(['graphql-transport-ws', 1006]);
  expect(await accepted('graphql-ws')).toEqual(['graphql-ws', 4406]);
});

test('a half-open socket is closed when a ping goes unanswered', async () => {
  const balancer = await startLoadBalancer();
  balancer.add(hasty.url);
  const raw = await openRawSocket(balancer.url, t.platform.authorization);
  raw.send({ id: '1', type: 'subscribe', payload: { query: watchEvents } });
  await subscribed(hasty, 1);
  balancer.halfOpen();
  await subscribed(hasty, 0);
  raw.socket.terminate();
  await balancer.close();
});

test('a reader that stops reading is dropped with code 1013, and misses nothing when it resumes', async () => {
  // With the default ping interval, an unanswered ping might close the socket first on a slow machine.
  const slow = await ownGateway({}, undefined, { pace: { keepAliveMs: 3_600_000 } });
  const after = await slow.platform.feedEnd();
  const raw = await openRawSocket(slow.url, slow.platform.authorization);
  const fields = Array.from({ length: 15 }, (_, at) => `c${at}: cursor`).join(' ');
  raw.send({ id: '1', type: 'subscribe', payload: { query: `subscription { events { id ${fields} } }` } });
  await subscribed(slow, 1);
  raw.socket.pause();
  const count = 40_000;
  await commitEvents(slow, count);
  await subscribed(slow, 0);
  raw.socket.resume();
  expect((await raw.closed).code).toBe(1013);

  const seen = new Set<string>();
  const watched = slow.platform.watch('subscription ($after: String) { events(after: $after) { id } }', { after });
  while (seen.size < count) seen.add((await nextOf(watched)).data.events.id);
  await watched.return?.();
});

test('a ping with a newer token for the same subject keeps the socket open, and one with any other token closes it', async () => {
  const { customerId } = scene;
  const bearer = async (expiresInSeconds: number) =>
    (await t.platform.appOf({ customerId, expiresInSeconds })).authorization;
  const newer = await bearer(60);
  // This token is replaced before it expires. The third token is not, so its socket is closed when it expires.
  const kept = await openRawSocket(t.url, await bearer(2));
  // The pong repeats the ping's payload without the credentials.
  kept.send({ type: 'ping', payload: { authorization: newer, AUTHORIZATION: 1, at: 7 } });
  expect(await kept.receive('pong')).toEqual({ type: 'pong', payload: { at: 7 } });
  const third = await bearer(2);
  const ends = await openRawSocket(t.url, third);
  expect((await ends.closed).code).toBe(4403);
  kept.send({ id: '1', type: 'subscribe', payload: { query: '{ viewer { kind customer { id } } }' } });
  expect((await kept.receive('next')).payload.data.viewer).toEqual({ kind: 'CLIENT', customer: { id: customerId } });
  kept.send({ type: 'ping', payload: { Authorization: t.platform.authorization } });
  expect((await kept.closed).code).toBe(4403);
  const bad = await openRawSocket(t.url, newer);
  bad.send({ type: 'ping', payload: { authorization: 'Bearer a.b.c' } });
  expect((await bad.closed).code).toBe(4403);
  expect((await (await openRawSocket(t.url, third)).closed).code).toBe(4403);
});

test('a stopping server closes sockets with 1012 and ends event streams without completing them', async () => {
  const stopping = await startTestGateway();
  const raw = await openRawSocket(stopping.url, stopping.platform.authorization);
  raw.send({ id: '1', type: 'subscribe', payload: { query: watchEvents } });
  const open = await openEventStream(`${stopping.url}/graphql`, stopping.platform.authorization, {
    query: watchEvents,
  });
  await subscribed(stopping, 2);
  const stopped = stopping.stop();
  expect((await raw.closed).code).toBe(1012);
  await expect(open.events.next()).rejects.toThrow();
  await stopped;
});

test('an operation that takes too long fails with TIMEOUT', async () => {
  const customers = await lockedCustomers(hasty.databaseUrl);
  const raw = await openRawSocket(hasty.url, t.platform.authorization);
  raw.send({ id: '1', type: 'subscribe', payload: { query: '{ customers { totalCount } }' } });
  const { status, errors } = await connect(hasty.url, '', t.platform.authorization).send(
    '{ customers { totalCount } }',
  );
  expect([status, errors?.[0]?.extensions.code]).toEqual([504, 'TIMEOUT']);
  expect((await raw.receive('next')).payload.errors[0].extensions).toEqual({ code: 'TIMEOUT' });
  await customers.release();
  raw.socket.close();
});

test('if the database prevents a stream from opening, the connection is closed so that the client retries', async () => {
  const watch = 'subscription ($id: ID!) { transactionUpdates(of: { customerId: $id }) { cursor } }';
  const payload = { query: watch, variables: { id: scene.customerId } };
  const customers = await lockedCustomers(hasty.databaseUrl);
  const raw = await openRawSocket(hasty.url, t.platform.authorization);
  raw.send({ id: '1', type: 'subscribe', payload });
  expect((await raw.closed).code).toBe(1013);
  await expect(openEventStream(`${hasty.url}/graphql`, t.platform.authorization, payload)).rejects.toThrow();
  await customers.release();
  const again = await openRawSocket(hasty.url, t.platform.authorization);
  again.send({ id: '1', type: 'subscribe', payload });
  await subscribed(hasty, 1);
  // An error in the request itself is reported, and the connection stays open.
  again.send({ id: '2', type: 'subscribe', payload: { query: watch, variables: { id: 'nobody' } } });
  expect((await again.receive('next')).payload.errors[0].extensions.code).toBe('NOT_FOUND');
  await subscribed(hasty, 1);
  again.socket.close();
  await subscribed(hasty, 0);
});

test('if more streams are requested than may open at a time, all are opened in turn', async () => {
  const crowded = await ownGateway();
  const { authorization } = crowded.platform;
  const sockets = await Promise.all(Array.from({ length: 15 }, () => openRawSocket(crowded.url, authorization)));
  for (const raw of sockets) {
    for (let id = 1; id <= 20; id += 1)
      raw.send({ id: String(id), type: 'subscribe', payload: { query: watchEvents } });
  }
  await subscribed(crowded, 300);
  for (const raw of sockets) raw.socket.terminate();
  await subscribed(crowded, 0);
});
