import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { follow } from '../../src/apps/client/follow.ts';
import {
  FollowTransaction,
  FollowTransactions,
  type FollowTransactionsSubscription,
} from '../../src/apps/client/generated/operations.ts';
import { openPayments, type Payments } from '../../src/apps/client/payments.ts';
import type { SubscribingClient } from '../../src/apps/client/resume.ts';
import { listen } from '../setup/free-port.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { startLoadBalancer } from '../setup/load-balancer.ts';
import { subscribed } from '../setup/streams.ts';

/** Tests the client package's connection while the network hangs and responses come late or not at all. */

const t = await testGateway();
const scene = await t.platform.makeScene();
const token = (): Promise<Data> => t.platform.mint({ customerId: scene.customerId });

function open(url: string, source = token): Payments {
  const payments = openPayments({ url: `${url}/graphql`, token: source, webSocketImpl: WebSocket });
  onTestFinished(() => payments.stop());
  return payments;
}

/** Starts a balancer that sends the first connection to a server that never responds, and the next to the gateway. */
async function behindHangingServer() {
  let connections = 0;
  let open = 0;
  const hanging = createServer((socket) => {
    connections += 1;
    open += 1;
    // Without being read, a socket would not report its end.
    socket.resume().on('error', () => undefined);
    socket.on('close', () => {
      open -= 1;
    });
  });
  const balancer = await startLoadBalancer();
  onTestFinished(async () => {
    await balancer.close();
    hanging.close();
  });
  balancer.add(`http://127.0.0.1:${await listen(hanging)}`);
  balancer.add(t.url);
  return { url: balancer.url, hasHung: () => connections > 0, isHanging: () => open > 0 };
}

test('reconnecting ends every wait: for a token, for the beginning of a stream, and for a connection that hangs', async () => {
  const { url, hasHung } = await behindHangingServer();
  const calls: string[] = [];
  /** Fails on the first call, as a request without a network does. */
  const second = <Value>(name: string, act: () => Promise<Value>): Promise<Value> => {
    calls.push(name);
    return calls.filter((call) => call === name).length > 1 ? act() : Promise.reject(new TypeError('no network'));
  };
  const payments = open(url, () => second('token', token));
  const { id } = await t.platform.ended((await t.platform.pay(scene)).id);
  // Makes the waits between attempts so long that only `reconnect` can end them.
  const random = vi.spyOn(Math, 'random').mockReturnValue(100_000);
  onTestFinished(() => random.mockRestore());
  const { done } = payments.follow({
    document: FollowTransaction,
    variables: { id },
    begin: () => second('begin', () => t.platform.feedEnd()),
    onMessage: () => undefined,
  });
  await expect.poll(() => calls).toEqual(['begin']);
  payments.socket.reconnect();
  await expect.poll(() => calls).toEqual(['begin', 'begin', 'token']);
  payments.socket.reconnect();
  await expect.poll(hasHung).toBe(true);
  payments.socket.reconnect();
  await done;
});

test('a connection that does not open in time is abandoned', async () => {
  const { url, hasHung } = await behindHangingServer();
  const { setTimeout } = globalThis;
  const giveUp = Promise.withResolvers<() => void>();
  vi.stubGlobal('setTimeout', (act: () => void, ms?: number) => {
    if (ms === 20_000) giveUp.resolve(act);
    return setTimeout(act, ms);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const { id } = await t.platform.ended((await t.platform.pay(scene)).id);
  const { done } = open(url).follow({ document: FollowTransaction, variables: { id }, onMessage: () => undefined });
  await expect.poll(hasHung).toBe(true);
  (await giveUp.promise)();
  await done;
});

test('stopping everything ends a connection that hangs', async () => {
  const { url, hasHung, isHanging } = await behindHangingServer();
  const payments = open(url);
  payments.follow({ document: FollowTransactions, variables: {}, onMessage: () => undefined });
  await expect.poll(hasHung).toBe(true);
  payments.stop();
  // Far less than the time after which a connection that does not open is given up.
  await expect.poll(isHanging, { timeout: 10_000 }).toBe(false);
});

test('a connection is replaced if the service sends pings but does not answer them', async () => {
  const { setTimeout } = globalThis;
  // Makes the wait for an answer short.
  vi.stubGlobal('setTimeout', (act: () => void, ms?: number) => setTimeout(act, ms === 5_000 ? 200 : ms));
  onTestFinished(() => void vi.unstubAllGlobals());
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => void server.close());
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    socket.on('message', (message) => {
      const { type } = JSON.parse(String(message));
      if (type === 'connection_init') socket.send(JSON.stringify({ type: 'connection_ack' }));
      if (type === 'ping') socket.send(JSON.stringify({ type: 'ping' }));
    });
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const payments = openPayments({
    url: `http://127.0.0.1:${port}/graphql`,
    ...{ token: async () => ({ token: 'token', expiresAt: null }), webSocketImpl: WebSocket, pingIntervalMs: 10 },
  });
  onTestFinished(() => payments.stop());
  payments.follow({ document: FollowTransactions, variables: {}, onMessage: () => undefined });
  await expect.poll(() => connections).toBeGreaterThan(1);
});

test('a message that a dropped connection delivers late is not shown a second time', async () => {
  const balancer = await startLoadBalancer();
  onTestFinished(() => balancer.close());
  balancer.add(t.url);
  const payments = open(balancer.url);
  const seen: string[] = [];
  // Unlike `follow`, graphql-ws itself uses the same id on the next connection.
  const stop = payments.socket.client.subscribe<FollowTransactionsSubscription>(
    { query: FollowTransactions, variables: {} },
    {
      next({ data }) {
        if (data) seen.push(`${data.transactionUpdates.transaction.id} ${data.transactionUpdates.status}`);
      },
      error: () => undefined,
      complete: () => undefined,
    },
  );
  await subscribed(t, 1);
  const pay = async () => `${(await t.platform.ended((await t.platform.pay(scene)).id)).id} COMPLETED`;
  await expect.poll(() => seen).toContain(await pay());
  const release = balancer.hold();
  const late = await pay();
  payments.socket.reconnect();
  await expect.poll(() => seen).toContain(late);
  release();
  // Together with the late messages, the service gets the end of the dropped connection.
  await subscribed(t, 1);
  await expect.poll(() => seen).toContain(await pay());
  expect(seen).toEqual([...new Set(seen)]);
  stop();
});

test('when several requests are refused with the same token, only one new token is requested', async () => {
  let minted = 0;
  const refusals: Array<() => void> = [];
  const payments = openPayments({
    url: 'http://service/graphql',
    token: async () => ({ token: `${++minted}`, expiresAt: null }),
    fetch: async (_url, init) => {
      if (new Headers(init?.headers).get('authorization') !== 'Bearer 1') return Response.json({ data: { minted } });
      await new Promise<void>((resolve) => refusals.push(resolve));
      return new Response(null, { status: 401 });
    },
  });
  onTestFinished(() => payments.stop());
  const requests = [payments.fetch(payments.url), payments.fetch(payments.url), payments.fetch(payments.url)];
  await expect.poll(() => refusals.length).toBe(3);
  for (const [at, refuse] of refusals.entries()) {
    refuse();
    expect((await requests[at])?.status).toBe(200);
  }
  expect(minted).toBe(2);
});

test('the store ends up with the newest cursor, even if saving an older one takes longer', async () => {
  let next: (result: object) => void = () => undefined;
  const client = {
    subscribe(_request: object, sink: { next: (result: object) => void }) {
      next = sink.next;
      return () => undefined;
    },
  };
  const saves: Array<() => void> = [];
  let stored = '';
  const following = follow(client as SubscribingClient, {
    document: FollowTransactions,
    variables: {},
    store: {
      load: async () => null,
      async save(cursor) {
        await new Promise<void>((resolve) => saves.push(resolve));
        stored = cursor;
      },
    },
    onMessage: () => undefined,
  });
  const turn = () => new Promise((resolve) => setTimeout(resolve));
  await turn();
  for (const cursor of ['1', '2', '3']) next({ data: {}, extensions: { cursor } });
  for (await turn(); saves.length > 0; await turn()) saves.pop()?.();
  expect(stored).toBe('3');
  following.stop();
  await following.done;
});
