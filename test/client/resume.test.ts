import { ApolloClient, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { subscriptionExchange, Client as UrqlClient } from '@urql/core';
import { parse } from 'graphql';
import { createClient as createSseClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import { expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { resumingClient } from '../../src/apps/client/resume.ts';
import { ended, feedEnd, pay } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { makeScene } from '../setup/scene.ts';
import { nextOf, openEventStream, openRawSocket } from '../setup/streams.ts';

/** Stock clients with the packaged helpers: they miss nothing and repeat nothing, whenever their connection is cut. */

const t = await testGateway();
const scene = await makeScene(t.platform);

/** The document of an app, with neither `after` nor `cursor`. */
const query = `subscription Payments($id: ID!) { transactionUpdates(of: { customerId: $id }) { status transaction { id version } } }`;

/** Delays reconnects until they are released. */
class Gate {
  #open = Promise.withResolvers<void>();
  readonly wait = (): Promise<void> => this.#open.promise;
  release(): void {
    this.#open.resolve();
    this.#open = Promise.withResolvers<void>();
  }
}

interface Connection {
  subscribe(next: (result: Data) => void): () => void;
  cut(): void;
  dispose(): void;
}

const socketClient = (gate: Gate) =>
  createClient({
    url: `${t.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: t.platform.authorization },
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: gate.wait,
  });

const sink = (next: (result: Data) => void) => ({
  next,
  error: (error: unknown) => next({ errors: [error] }),
  complete: () => undefined,
});

const clients: Readonly<Record<string, (gate: Gate) => Connection>> = {
  'graphql-ws': (gate) => {
    const client = socketClient(gate);
    const resuming = resumingClient(client);
    return {
      subscribe: (next) => resuming.subscribe({ query, variables: { id: scene.customerId } }, sink(next)),
      cut: () => client.terminate(),
      dispose: () => client.dispose(),
    };
  },
  Apollo: (gate) => {
    const client = socketClient(gate);
    const apollo = new ApolloClient({
      link: new GraphQLWsLink(resumingClient(client)),
      cache: new InMemoryCache(),
    });
    return {
      subscribe(next) {
        const subscription = apollo
          .subscribe({ query: parse(query), variables: { id: scene.customerId } })
          .subscribe(sink(next));
        return () => subscription.unsubscribe();
      },
      cut: () => client.terminate(),
      dispose: () => client.dispose(),
    };
  },
  urql: (gate) => {
    const client = socketClient(gate);
    const resuming = resumingClient(client);
    const urql = new UrqlClient({
      url: `${t.url}/graphql`,
      preferGetMethod: false,
      exchanges: [
        subscriptionExchange({
          forwardSubscription: ({ query: text = '', ...rest }) => ({
            subscribe: (of) => ({ unsubscribe: resuming.subscribe({ ...rest, query: text } as never, of as never) }),
          }),
        }),
      ],
    });
    return {
      subscribe: (next) => urql.subscription(query, { id: scene.customerId }).subscribe(next).unsubscribe,
      cut: () => client.terminate(),
      dispose: () => client.dispose(),
    };
  },
};

test.each(Object.keys(clients))(
  '%s gets every change once and in order, although it is cut while payments are made',
  async (name) => {
    const gate = new Gate();
    const connection = clients[name]?.(gate);
    if (!connection) throw new Error(name);
    const before = await feedEnd(t.platform);
    const seen: string[] = [];
    const stop = connection.subscribe(({ data, errors, error }) => {
      if (errors ?? error) seen.push(JSON.stringify(errors ?? error));
      const { status, transaction } = data.transactionUpdates;
      seen.push(`${transaction.id} ${transaction.version} ${status}`);
    });
    await vi.waitFor(() => expect(t.gateway.feed.subscriptions).toBe(1), { timeout: 60_000 });
    const paid = async (count: number) => {
      for (let at = 0; at < count; at += 1) await ended(t.platform, (await pay(t.platform, scene)).id);
    };
    const isShown = async () => {
      const expected = await changesAfter(before);
      await vi.waitFor(() => expect(seen).toEqual(expected), { timeout: 60_000 });
    };
    await paid(1);
    await isShown();
    for (let cuts = 0; cuts < 2; cuts += 1) {
      connection.cut();
      await vi.waitFor(() => expect(t.gateway.feed.subscriptions).toBe(0), { timeout: 60_000 });
      await paid(2);
      gate.release();
      await isShown();
      await vi.waitFor(() => expect(t.gateway.feed.subscriptions).toBe(1), { timeout: 60_000 });
    }
    stop();
    connection.dispose();
    await vi.waitFor(() => expect(t.gateway.feed.subscriptions).toBe(0), { timeout: 60_000 });
  },
);

/** Returns the changes to payments in the feed after a cursor. */
async function changesAfter(cursor: string): Promise<string[]> {
  const { events } = await t.platform.ask(
    `query ($after: String, $filter: EventFilter) { events(first: 100, after: $after, filter: $filter) { edges { node {
      transaction { id version status } } } } }`,
    { after: cursor, filter: { types: ['OUTGOING_PAYMENT'], customerId: scene.customerId } },
  );
  return events.edges.map(
    ({ node: { transaction } }: Data) => `${transaction.id} ${transaction.version} ${transaction.status}`,
  );
}

test('graphql-sse over one connection for each operation resumes in the same way', async () => {
  const before = await feedEnd(t.platform);
  const gate = new Gate();
  const controllers: AbortController[] = [];
  const client = resumingClient(
    createSseClient({
      url: `${t.url}/graphql/stream`,
      headers: { authorization: t.platform.authorization },
      retryAttempts: Number.POSITIVE_INFINITY,
      retry: gate.wait,
      fetchFn: (url: string, init: RequestInit) => {
        const control = new AbortController();
        controllers.push(control);
        return fetch(url, {
          ...init,
          signal: AbortSignal.any([control.signal, ...(init.signal ? [init.signal] : [])]),
        });
      },
    }),
  );
  const seen: string[] = [];
  const stop = client.subscribe<Data>(
    { query, variables: { id: scene.customerId } },
    sink(({ data }) => {
      const { status, transaction } = data.transactionUpdates;
      seen.push(`${transaction.id} ${transaction.version} ${status}`);
    }),
  );
  await vi.waitFor(() => expect(t.gateway.feed.subscriptions).toBe(1), { timeout: 60_000 });
  const isShown = async () => {
    const expected = await changesAfter(before);
    await vi.waitFor(() => expect(seen).toEqual(expected), { timeout: 60_000 });
  };
  await ended(t.platform, (await pay(t.platform, scene)).id);
  await isShown();
  controllers.at(-1)?.abort(new TypeError('network error'));
  await vi.waitFor(() => expect(t.gateway.feed.subscriptions).toBe(0), { timeout: 60_000 });
  await ended(t.platform, (await pay(t.platform, scene)).id);
  gate.release();
  await isShown();
  stop();
  await vi.waitFor(() => expect(t.gateway.feed.subscriptions).toBe(0), { timeout: 60_000 });
});

test('a message has its cursor if the request asks for it, on every transport, and a stream resumes after it', async () => {
  const [url, { authorization }] = [t.url, t.platform];
  const text = `subscription { transactionUpdates(of: { customerId: "${scene.customerId}" }) { status transaction { id } } }`;
  const first = await feedEnd(t.platform);
  const { id } = await ended(t.platform, (await pay(t.platform, scene)).id);

  const raw = await openRawSocket(url, authorization);
  const begin = (name: string, extensions: object) =>
    raw.send({ id: name, type: 'subscribe', payload: { query: text, extensions } });
  const next = async () => {
    const { payload } = await raw.receive('next');
    return [payload.data.transactionUpdates.transaction.id, payload.extensions?.cursor];
  };
  begin('all', { after: first });
  const [, cursor] = await next();
  const second = await next();
  expect(second[0]).toBe(id);
  raw.send({ id: 'all', type: 'complete' });
  begin('rest', { after: cursor });
  expect(await next()).toEqual(second);
  raw.send({ id: 'rest', type: 'complete' });
  const wrong = [{ message: expect.stringContaining('extensions.after'), extensions: { code: 'INVALID_INPUT' } }];
  begin('no text', { after: 7 });
  expect((await raw.receive('error')).payload).toMatchObject(wrong);
  begin('no cursor', { after: 'nothing of ours' });
  expect((await raw.receive('next')).payload.errors).toMatchObject(wrong);
  raw.socket.close();

  for (const address of [`${url}/graphql`, `${url}/graphql/stream`]) {
    const stream = await openEventStream(address, authorization, { query: text, extensions: { after: cursor } });
    const { data, extensions } = (await nextOf(stream.events)).data;
    expect([data.transactionUpdates.transaction.id, extensions.cursor]).toEqual(second);
    stream.cut();
  }
  await vi.waitFor(() => expect(t.gateway.feed.subscriptions).toBe(0), { timeout: 60_000 });
});
