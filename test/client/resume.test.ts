import { ApolloClient, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { subscriptionExchange, Client as UrqlClient } from '@urql/core';
import { parse } from 'graphql';
import { createClient as createSseClient } from 'graphql-sse';
import { type Client, createClient } from 'graphql-ws';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { resumingClient } from '../../src/apps/client/resume.ts';
import { type Data, ownGateway, testGateway } from '../setup/gateway.ts';
import { nextOf, openEventStream, openRawSocket, subscribed } from '../setup/streams.ts';

/** With the packaged helpers, stock clients miss nothing and repeat nothing, no matter when their connection is cut. */

const t = await testGateway();
const scene = await t.platform.makeScene();

/** An app's document, with neither `after` nor `cursor`. */
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

const retrying = { retryAttempts: Number.POSITIVE_INFINITY };

const sink = (next: (result: Data) => void) => ({
  next,
  error: (error: unknown) => next({ errors: [error] }),
  complete: () => undefined,
});

interface Stock {
  /** Subscribes with the client. Returns a function that unsubscribes. */
  readonly subscribe: (next: (result: Data) => void) => () => void;
  /** Cuts the connection. */
  readonly cut: () => void;
}

/** Creates a stock client whose transport is a resuming graphql-ws client. */
const overSocket = (subscribing: (client: Client) => Stock['subscribe']) => (gate: Gate) => {
  const client = createClient({
    url: `${t.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: t.platform.authorization },
    ...retrying,
    shouldRetry: () => true,
    retryWait: gate.wait,
  });
  onTestFinished(() => client.dispose());
  return { subscribe: subscribing(resumingClient(client)), cut: () => client.terminate() };
};

const variables = { id: scene.customerId };

const clients: Readonly<Record<string, (gate: Gate) => Stock>> = {
  'graphql-ws': overSocket((client) => (next) => client.subscribe({ query, variables }, sink(next))),
  'graphql-ws by its iterator': overSocket((client) => (next) => {
    const results = client.iterate({ query, variables });
    (async () => {
      for await (const result of results) next(result);
    })().catch((error: unknown) => next({ error }));
    return () => void results.return?.();
  }),
  Apollo: overSocket((client) => {
    const apollo = new ApolloClient({ link: new GraphQLWsLink(client), cache: new InMemoryCache() });
    return (next) => {
      const subscription = apollo.subscribe({ query: parse(query), variables }).subscribe(sink(next));
      return () => subscription.unsubscribe();
    };
  }),
  urql: overSocket((client) => {
    const urql = new UrqlClient({
      url: `${t.url}/graphql`,
      preferGetMethod: false,
      exchanges: [
        subscriptionExchange({
          forwardSubscription: ({ query: text = '', ...rest }) => ({
            subscribe: (of) => ({ unsubscribe: client.subscribe({ ...rest, query: text } as never, of as never) }),
          }),
        }),
      ],
    });
    return (next) => urql.subscription(query, variables).subscribe(next).unsubscribe;
  }),
  'graphql-sse over one connection for each operation'(gate) {
    let control = new AbortController();
    const client = resumingClient(
      createSseClient({
        url: `${t.url}/graphql/stream`,
        headers: { authorization: t.platform.authorization },
        ...retrying,
        retry: gate.wait,
        fetchFn(url: string, init: RequestInit) {
          control = new AbortController();
          return fetch(url, {
            ...init,
            signal: AbortSignal.any([control.signal, ...(init.signal ? [init.signal] : [])]),
          });
        },
      }),
    );
    return {
      subscribe: (next) => client.subscribe({ query, variables }, sink(next)),
      cut: () => control.abort(new TypeError('network error')),
    };
  },
};

test.each(Object.entries(clients))(
  '%s gets every change once and in order, even if its connection is cut while payments are made',
  async (_name, open) => {
    const gate = new Gate();
    const { subscribe, cut } = open(gate);
    const before = await t.platform.feedEnd();
    const seen: string[] = [];
    const stop = subscribe(({ data, errors, error }) => {
      if (errors ?? error) seen.push(JSON.stringify(errors ?? error));
      const { status, transaction } = data.transactionUpdates;
      seen.push(`${transaction.id} ${transaction.version} ${status}`);
    });
    await subscribed(t, 1);
    const paid = async (count: number) => {
      for (let at = 0; at < count; at += 1) await t.platform.ended((await t.platform.pay(scene)).id);
    };
    const isShown = async () => {
      const expected = await changesAfter(before);
      await vi.waitFor(() => expect(seen).toEqual(expected), { timeout: 60_000 });
    };
    await paid(1);
    await isShown();
    for (let cuts = 0; cuts < 2; cuts += 1) {
      cut();
      await subscribed(t, 0);
      await paid(2);
      gate.release();
      await isShown();
      await subscribed(t, 1);
    }
    stop();
    await subscribed(t, 0);
  },
);

/** Returns the payment changes in the feed after a cursor. */
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

test('on every transport, a message has its cursor if the request asks for it, and a stream resumes after that cursor', async () => {
  const [url, { authorization }] = [t.url, t.platform];
  const text = `subscription { transactionUpdates(of: { customerId: "${scene.customerId}" }) { status transaction { id } } }`;
  const first = await t.platform.feedEnd();
  const { id } = await t.platform.ended((await t.platform.pay(scene)).id);

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
  await subscribed(t, 0);
});

test('a stream that is stopped while it is being refused does not resume', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const attempts: Data[] = [];
  const client = {
    subscribe(_request: object, to: Data) {
      attempts.push(to);
      return () => to.complete();
    },
  };
  const ended: unknown[] = [];
  const to = { ...sink(() => undefined), complete: () => ended.push('complete') };
  const stop = resumingClient(client as unknown as Client).subscribe({ query, extensions: { after: 'cursor' } }, to);
  // The refusal of a stream is a message without data, and then its completion.
  attempts[0]?.next({ errors: [{ extensions: { code: 'RATE_LIMITED', retryAfter: 1 } }] });
  stop();
  vi.runAllTimers();
  expect([attempts.length, ended]).toEqual([1, ['complete']]);
});

test('a stream that cannot resume at once because of a limit resumes later', async () => {
  const limited = await ownGateway({ STREAMS_PER_API_TOKEN: 1 });
  const { authorization } = limited.platform;
  const own = await limited.platform.makeScene();
  const gate = new Gate();
  const socket = { url: `${limited.url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket };
  const params = { connectionParams: { authorization }, ...retrying, shouldRetry: () => true, retryWait: gate.wait };
  const stock = createClient({ ...socket, ...params });
  onTestFinished(() => stock.dispose());
  const seen: Data[] = [];
  const stop = resumingClient(stock).subscribe(
    { query, variables: { id: own.customerId } },
    sink((one) => seen.push(one)),
  );
  await subscribed(limited, 1);
  await limited.platform.pay(own);
  await expect.poll(() => seen.length).toBe(2);
  stock.terminate();
  await subscribed(limited, 0);
  const other = await openRawSocket(limited.url, authorization);
  other.send({ id: 'other', type: 'subscribe', payload: { query: 'subscription { events { id } }' } });
  await subscribed(limited, 1);
  const refused = Promise.withResolvers<void>();
  stock.on('message', ({ type }) => type !== 'connection_ack' && type !== 'ping' && refused.resolve());
  gate.release();
  await refused.promise;
  await limited.platform.pay(own);
  other.socket.close();
  await expect.poll(() => seen.length).toBe(4);
  expect(seen.map(({ errors, data }) => errors ?? data.transactionUpdates.status)).toEqual([
    ...['PENDING', 'COMPLETED', 'PENDING', 'COMPLETED'],
  ]);
  stop();
  await subscribed(limited, 0);
});
