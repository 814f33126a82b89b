import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client as UrqlClient } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { build } from 'esbuild';
import { buildSchema, introspectionFromSchema, parse } from 'graphql';
import relay, { type ConcreteRequest } from 'relay-runtime';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { newestVersions } from '../../src/apps/client/apollo.ts';
import { apolloCache } from '../../src/apps/client/apollo-cache.ts';
import { apolloScalars } from '../../src/apps/client/apollo-scalars.ts';
import * as documents from '../../src/apps/client/generated/documents.ts';
import * as hashes from '../../src/apps/client/generated/hashes.ts';
import * as operations from '../../src/apps/client/generated/operations.ts';
import { applyChanges } from '../../src/apps/client/live-list.ts';
import { operation } from '../../src/apps/client/operation.ts';
import { openPayments, type Payments } from '../../src/apps/client/payments.ts';
import { relayNetwork } from '../../src/apps/client/relay.ts';
import { paymentsExchanges } from '../../src/apps/client/urql.ts';
import { urqlCache } from '../../src/apps/client/urql-cache.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';
import { subscribed } from '../setup/streams.ts';

/** Tests the package as an app uses it, including with Apollo, urql and Relay. */

const root = path.resolve(import.meta.dirname, '../..');

const t = await testGateway();
const scene = await t.platform.makeScene();
afterEach(() => subscribed(t, 0));

const token = () => t.platform.mint({ customerId: scene.customerId, permissions: ['VIEW', 'TRANSACT'] });

/** Opens a client, as an app of the scene's customer would, and stops it when the test ends. */
function open(source: () => Promise<Data> = token): Payments {
  const payments = openPayments({ url: `${t.url}/graphql`, token: source, webSocketImpl: WebSocket });
  onTestFinished(() => payments.stop());
  return payments;
}

const apolloLink = ({ url, socket, fetch }: Payments) =>
  ApolloLink.split(
    ({ operationType }) => operationType === 'subscription',
    new GraphQLWsLink(socket.client),
    new HttpLink({ uri: url, fetch }),
  );

/** Makes payments one after another, and returns their ids, newest first. */
async function pays(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) ids.unshift((await t.platform.ended((await t.platform.pay(scene)).id)).id);
  return ids;
}

test('a stream can be stopped whatever it is waiting for, after which no callback runs and nothing stays open', async () => {
  const [paid] = await pays(1);
  const steps = ['token', 'load', 'begin', 'save'] as const;
  for (const stopAt of steps) {
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const calls: string[] = [];
    const step = async <Value>(name: (typeof steps)[number], value: Value): Promise<Value> => {
      calls.push(name);
      if (name === stopAt) {
        arrived.resolve();
        await released.promise;
      }
      return value;
    };
    const payments = open(async () => step('token', await token()));
    const following = payments.follow({
      document: operations.FollowTransaction,
      variables: { id: String(paid) },
      store: { load: () => step('load', null), save: () => step('save', undefined) },
      begin: async () => step('begin', (await t.platform.ask('{ viewer { feedCursor } }')).viewer.feedCursor),
      onMessage: () => undefined,
    });
    await arrived.promise;
    following.stop();
    await following.done;
    const before = [...calls];
    released.resolve();
    // If another callback were still pending, it would run before this request ends.
    await payments.fetch(payments.url, { method: 'HEAD' }).catch(() => undefined);
    expect(calls.filter((name) => name !== 'token')).toEqual(before.filter((name) => name !== 'token'));
    expect(t.gateway.feed.subscriptions).toBe(0);
  }
});

test('stopping everything at any moment throws nothing and opens no further socket', async () => {
  const [paid] = await pays(1);
  const thrown: unknown[] = [];
  const onThrown = (error: unknown) => thrown.push(error);
  process.on('unhandledRejection', onThrown);
  onTestFinished(() => void process.off('unhandledRejection', onThrown));
  const moments = ['at once', 'token', 'CONNECTING', 'OPEN', 'message'] as const;
  for (const moment of moments) {
    const reached = Promise.withResolvers<void>();
    const reach = (at: string) => at === moment && reached.resolve();
    let isStopped = false;
    let openedAfter = 0;
    class Counted extends WebSocket {
      constructor(address: string, protocols?: string) {
        super(address, protocols);
        if (isStopped) openedAfter += 1;
      }
    }
    const payments = openPayments({
      url: `${t.url}/graphql`,
      token: async () => {
        reach('token');
        return token();
      },
      webSocketImpl: Counted,
    });
    payments.socket.onState(() => reach(payments.socket.state()));
    const following = payments.follow({
      document: operations.FollowTransaction,
      variables: { id: String(paid) },
      onMessage: () => reach('message'),
    });
    const raw = payments.socket.client.subscribe({ query: 'subscription { events { id } }' }, silent);
    if (moment !== 'at once') await reached.promise;
    payments.stop();
    isStopped = true;
    await following.done;
    raw();
    await token();
    expect({ moment, openedAfter }).toEqual({ moment, openedAfter: 0 });
  }
  await subscribed(t, 0);
  expect(thrown).toEqual([]);
});

const silent = { next: () => undefined, error: () => undefined, complete: () => undefined };

/** An app's own subscription, which passes `after`. */
const Own = operation<{ transactionUpdates: { cursor: string; transaction: Data } }, { after: string }>(
  'subscription ($after: String) { transactionUpdates(after: $after) { cursor transaction { id status } } }',
);

test('a stream begins after the cursor in its variables, or after a newer one that is stored', async () => {
  const { viewer } = await t.platform.ask('{ viewer { feedCursor } }');
  const [second, first] = await pays(2);
  const payments = open();
  const until = async (after: string, stored: string | null, last: string | undefined) => {
    const seen: string[] = [];
    let cursor = '';
    const following = payments.follow({
      document: Own,
      variables: { after },
      ...(stored !== null && { store: { load: async () => stored, save: async () => undefined } }),
      onMessage({ transactionUpdates: { transaction, cursor: own } }) {
        cursor = own;
        if (!seen.includes(transaction.id)) seen.push(transaction.id);
        if (transaction.id === last && transaction.status === 'COMPLETED') following.stop();
      },
    });
    await following.done;
    return { seen, cursor };
  };
  const { seen, cursor } = await until(viewer.feedCursor, null, first);
  expect(seen).toEqual([first]);
  expect((await until(viewer.feedCursor, cursor, second)).seen).toEqual([second]);
});

test('a stream whose request is invalid is refused, and does not restart', async () => {
  let begun = 0;
  const following = open().follow({
    document: Own,
    variables: { after: 'not a cursor', wrong: true } as never,
    begin: async () => {
      begun += 1;
      return 'not a cursor either';
    },
    onMessage: () => undefined,
  });
  await expect(following.done).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  expect(begun).toBe(1);
});

test('a failed request reports its code, status and retry time, and any data that came with the errors', async () => {
  const answering = (response: Response) => {
    const payments = openPayments({ url: t.url, token, fetch: async () => response });
    onTestFinished(() => payments.stop());
    return payments;
  };
  const asked = (response: Response) =>
    answering(response)
      .execute(operations.Transaction, { id: '' })
      .catch((error: unknown) => error);
  expect(
    await asked(new Response('<html>', { status: 502, statusText: 'Bad Gateway', headers: { 'retry-after': '7' } })),
  ).toMatchObject({ name: 'RequestError', code: 'UNKNOWN', status: 502, retryAfter: 7, message: '502 Bad Gateway' });
  const past = 'Thu, 01 Jan 2026 00:01:00 GMT';
  for (const [header, seconds] of [
    ['3600.5', 3_601],
    [past, 0],
    ['soon', undefined],
  ] as const) {
    const { retryAfter } = (await asked(new Response('', { status: 503, headers: { 'retry-after': header } }))) as Data;
    expect([header, retryAfter]).toEqual([header, seconds]);
  }
  const errors = [{ message: 'later', path: ['b'], extensions: { code: 'RATE_LIMITED', retryAfter: 2 } }];
  expect(await asked(Response.json({ data: { a: 1, b: null }, errors }, { status: 429 }))).toMatchObject({
    ...{ code: 'RATE_LIMITED', status: 429, retryAfter: 2, message: 'later', data: { a: 1, b: null }, errors },
  });
  expect(await asked(Response.json(null))).toMatchObject({ code: 'UNKNOWN', status: 200 });
  const foreign = { errors: { detail: 'Bad Gateway' } };
  expect(await asked(Response.json(foreign, { status: 502 }))).toMatchObject({ code: 'UNKNOWN', status: 502 });
  expect(await asked(Response.json({ data: { a: 1 }, errors: [] }))).toEqual({ a: 1 });
  const cut = new ReadableStream({ start: (body) => body.error(new TypeError('terminated')) });
  expect(await asked(new Response(cut))).toEqual(new TypeError('terminated'));
  const { fetch } = relayNetwork(answering(new Response('<html>', { status: 502 })), relay.Observable);
  const request = { text: '{ viewer { kind } }' } as Parameters<typeof fetch>[0];
  await expect(fetch(request, {})).rejects.toMatchObject({ code: 'UNKNOWN', status: 502 });
});

test('without a WebSocket class an app can send requests, and the first stream reports what is missing', async () => {
  vi.stubGlobal('WebSocket', undefined);
  onTestFinished(() => void vi.unstubAllGlobals());
  const payments = openPayments({ url: `${t.url}/graphql`, token });
  onTestFinished(() => payments.stop());
  const [paid] = await pays(1);
  expect((await payments.execute(operations.Transaction, { id: String(paid) })).transaction?.id).toBe(paid);
  expect(() =>
    payments.follow({
      document: operations.FollowTransaction,
      variables: { id: String(paid) },
      onMessage: () => undefined,
    }),
  ).toThrow('There is no global WebSocket: pass a class to openPayments as webSocketImpl.');
});

test('an app with a socket and six operations contains no GraphQL parser, and is small', async () => {
  const { outputFiles, metafile } = await build({
    ...{ bundle: true, minify: true, metafile: true, write: false, format: 'esm', target: 'es2022' },
    stdin: {
      resolveDir: path.join(root, 'src/apps/client'),
      contents: `import { openPayments } from './payments.ts';
        import { CreateQuote, ExecuteQuote, FollowTransaction, FollowTransactions, Home, Transactions } from './generated/operations.ts';
        const payments = openPayments({ url: '/graphql', token: async () => (await fetch('/token')).json() });
        globalThis.app = [payments, CreateQuote, ExecuteQuote, FollowTransaction, FollowTransactions, Home, Transactions];`,
    },
  });
  const used = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([name, { bytesInOutput }]) => (bytesInOutput > 0 ? [name] : [])),
  );
  expect(used.filter((name) => /node_modules\/(?!graphql-ws\/)/.test(name))).toEqual([]);
  expect(gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length).toBeLessThan(12_000);
});

test('operations, including streams, can be sent as hashes with a token that permits only registered documents', async () => {
  const [paid] = await pays(1);
  const id = String(paid);
  const manifest = Object.entries(hashes).map(([name, hash]) => [hash.slice('sha256:'.length), texts[name]]);
  const rest = await restClient(t.url, t.platform.authorization);
  await rest.ask('POST', '/trusted-documents', Object.fromEntries(manifest));
  const payments = open(() => t.platform.mint({ customerId: scene.customerId, trustedDocumentsOnly: true }));
  expect((await payments.execute(hashes.Transaction, { id })).transaction?.id).toBe(id);
  expect((await payments.execute(operations.Transaction, { id })).transaction?.id).toBe(id);
  const seen: string[] = [];
  for (const document of [hashes.FollowTransaction, operations.FollowTransaction])
    await payments.follow({
      document,
      variables: { id },
      onMessage: ({ transactionUpdates: { status } }) => seen.push(status),
    }).done;
  expect(seen).toEqual(['COMPLETED', 'COMPLETED']);
});
const texts: Readonly<Record<string, string>> = operations;

test('Apollo: pages become one list, streams update it, and older data never replaces newer data', async () => {
  const paid = await pays(3);
  const cache = new InMemoryCache(apolloCache());
  const client = new ApolloClient({
    cache,
    link: ApolloLink.from([new ApolloLink(newestVersions()), apolloLink(open())]),
  });
  const list = client.watchQuery({ query: documents.Transactions, variables: { first: 2 } });
  const shown = list.subscribe(() => undefined);
  const ids = () =>
    list
      .getCurrentResult()
      .data?.transactions?.edges?.map((edge) => edge?.node?.id)
      .slice(0, 3);
  await expect.poll(() => ids()).toEqual(paid.slice(0, 2));
  const after = list.getCurrentResult().data?.transactions?.pageInfo?.endCursor;
  await list.fetchMore({ variables: { after } });
  await expect.poll(() => ids()).toEqual(paid);

  // Pages from the end of a list are stored separately, as are lists named by a directive.
  const page = '{ edges { cursor node { id } } pageInfo { startCursor } }';
  await client.query({ query: parse(`{ transactions(last: 1) ${page} }`) });
  await client.query({ query: parse(`{ transactions(first: 1) @connection(key: "newest") ${page} }`) });
  const ended = 'filter: { status: COMPLETED }';
  const directive = '@connection(key: "newest", filter: ["filter"])';
  await client.query({ query: parse(`{ transactions(first: 1, ${ended}) ${directive} ${page} }`) });
  expect(ids()).toEqual(paid);
  expect(Object.keys(cache.extract().ROOT_QUERY ?? {}).filter((key) => key.startsWith('transactions'))).toEqual([
    'transactions:[]',
    'transactions:[]:last',
    'transactions:newest',
    'transactions:newest[["filter",{"status":"COMPLETED"}]]',
  ]);

  const id = String(paid[0]);
  await new Promise<void>((complete, error) => {
    client.subscribe({ query: documents.FollowTransaction, variables: { id } }).subscribe({ complete, error });
  });
  expect(cache.extract()[`Transaction:${id}`]).toMatchObject({
    status: 'COMPLETED',
    timeline: [{ status: 'PENDING' }, { status: 'COMPLETED' }],
  });
  shown.unsubscribe();
});

test('Apollo parses BigInt and DateTime in results, its cache and stream messages, and serializes them in variables', async () => {
  const [id = ''] = await pays(1);
  // The types of the options depend on the app's declarations, so test/client/install.test.ts tests them.
  const cache = new InMemoryCache(apolloScalars() as never);
  const client = new ApolloClient({ cache, link: apolloLink(open()) });
  const parts = '{ id createdAt sentAmount { amount } timeline { occurredAt } }';
  const answer = await client.query<Data>({
    query: parse(`query ($filter: TransactionFilter) { transactions(filter: $filter) { edges { node ${parts} } } }`),
    variables: { filter: { createdAfter: new Date(0), createdBefore: new Date(Date.now() + 60_000) } },
  });
  const parsed = {
    ...{ id, createdAt: expect.any(Date), sentAmount: { amount: expect.any(BigInt) } },
    timeline: [{ occurredAt: expect.any(Date) }, { occurredAt: expect.any(Date) }],
  };
  expect(answer.data?.transactions.edges[0].node).toMatchObject(parsed);
  const stored = JSON.parse(JSON.stringify(cache.extract()));
  expect(new InMemoryCache(apolloScalars() as never).restore(stored).extract()).toEqual(cache.extract());
  const message = await new Promise<Data>((next, error) => {
    const query = parse(
      `subscription ($id: ID!) { transactionUpdates(of: { transactionId: $id }) { transaction ${parts} } }`,
    );
    client.subscribe<Data>({ query, variables: { id } }).subscribe({ next, error });
  });
  expect(message.data.transactionUpdates.transaction).toMatchObject(parsed);
});

test('urql: pages become one list, and streams update it', async () => {
  const paid = await pays(3);
  const payments = open();
  const schema = introspectionFromSchema(buildSchema(readFileSync(path.join(root, 'schema.graphql'), 'utf8')));
  const warnings = vi.spyOn(console, 'warn');
  onTestFinished(() => warnings.mockRestore());
  const client = new UrqlClient({
    url: payments.url,
    preferGetMethod: false,
    exchanges: [cacheExchange({ ...urqlCache(), schema: schema as never }), ...paymentsExchanges(payments)],
  });
  const read = async (variables: object, requestPolicy?: 'cache-only') => {
    const { data, error } = await client.query(documents.Transactions, variables, {
      ...(requestPolicy && { requestPolicy }),
    });
    if (error) throw error;
    return data?.transactions;
  };
  const first = await read({ first: 2 });
  expect(first?.edges.map(({ node }) => node.id)).toEqual(paid.slice(0, 2));
  const second = await read({ first: 2, after: first?.pageInfo.endCursor });
  expect(second?.edges.map(({ node }) => node.id).slice(0, 3)).toEqual(paid);
  const page = '{ edges { cursor node { id } } pageInfo { endCursor hasNextPage startCursor hasPreviousPage } }';
  const last = await client.query(`{ transactions(last: 1) ${page} }`, {});
  expect(last.data.transactions.edges).toHaveLength(1);
  expect((await read({ first: 2 }, 'cache-only'))?.edges).toEqual(second?.edges);
  const { id } = await t.platform.pay(scene);
  await client.query(documents.Transaction, { id });
  await new Promise<void>((resolve, reject) => {
    const stream = client.subscription(documents.FollowTransaction, { id }).subscribe(({ data, error }) => {
      if (error) reject(error);
      if (data?.transactionUpdates.terminal) resolve();
    });
    onTestFinished(() => stream.unsubscribe());
  });
  const { data } = await client.query(documents.Transaction, { id }, { requestPolicy: 'cache-only' });
  expect(data?.transaction).toMatchObject({ status: 'COMPLETED' });
  expect(warnings).not.toHaveBeenCalled();
});

/** Returns a field of a compiled Relay operation. */
const linked = (name: string, concreteType: string, argument: string | undefined, selections: readonly object[]) => ({
  ...{ kind: 'LinkedField', name, concreteType, alias: null, storageKey: null, plural: false, selections },
  args: argument === undefined ? null : [{ kind: 'Variable', name: argument, variableName: 'id' }],
});
const scalars = ['id', 'version', 'status'].map((name) => ({
  ...{ kind: 'ScalarField', name, alias: null, args: null, storageKey: null },
}));

/** Returns the output of Relay's compiler for an operation with one field. */
function compiled(operationKind: 'query' | 'subscription', field: object, text: string): ConcreteRequest {
  const argumentDefinitions = [{ defaultValue: null, kind: 'LocalArgument', name: 'id' }];
  const selections = [field];
  return {
    kind: 'Request',
    fragment: { kind: 'Fragment', name: 'Of', type: 'Query', metadata: null, argumentDefinitions, selections },
    operation: { kind: 'Operation', name: 'Of', argumentDefinitions, selections },
    params: { id: null, cacheID: text, metadata: {}, name: 'Of', operationKind, text },
  } as unknown as ConcreteRequest;
}

test('Relay: a query and a stream write to the store', async () => {
  const [id = ''] = await pays(1);
  const { Environment, Network, RecordSource, Store, fetchQuery, requestSubscription } = relay;
  const network = relayNetwork(open(), relay.Observable);
  const store = new Store(new RecordSource());
  const environment = new Environment({ network: Network.create(network.fetch, network.subscribe), store });
  const query = compiled(
    'query',
    linked('transaction', 'Transaction', 'id', scalars),
    'query Of($id: ID!) { transaction(id: $id) { id version status } }',
  );
  const answer: Data = await fetchQuery(environment, query, { id }).toPromise();
  expect(answer.transaction).toMatchObject({ id, status: 'COMPLETED' });
  const subscription = compiled(
    'subscription',
    linked('transactionUpdates', 'TransactionUpdate', 'transactionId', [
      linked('transaction', 'Transaction', undefined, scalars),
    ]),
    'subscription Of($id: ID!) { transactionUpdates(of: { transactionId: $id }) { transaction { id version status } } }',
  );
  await new Promise<void>((onCompleted, onError) => {
    requestSubscription(environment, { subscription, variables: { id }, onCompleted, onError });
  });
  expect(store.getSource().get(id)).toMatchObject({ status: 'COMPLETED' });
});

test('a list applies changes according to their versions, and never exceeds the requested length', () => {
  const row = (id: string, version: number) => ({ id, version });
  const list = applyChanges(
    undefined,
    { snapshot: { edges: [{ node: row('c', 2) }, { node: row('a', 1) }] }, changes: [] },
    2,
  );
  const next = applyChanges(
    list,
    {
      changes: [
        { op: 'UPDATE', node: row('c', 1) },
        { op: 'ENTER', node: row('b', 1) },
        { op: 'LEAVE', node: row('c', 3) },
        { op: 'ENTER', node: row('c', 2) },
      ],
    },
    2,
  );
  expect(next.rows).toEqual([row('b', 1), row('a', 1)]);
  expect(applyChanges(next, { changes: [{ op: 'ENTER', node: row('d', 1) }] }, 2)).toMatchObject({
    rows: [row('d', 1), row('b', 1)],
    hasMore: true,
  });
});

test('a list shows no row that may belong after rows that are not loaded', () => {
  const row = (id: string, version = 1) => ({ id, version });
  const pageInfo = { hasNextPage: true };
  const page = applyChanges(
    undefined,
    { snapshot: { edges: ['d', 'c'].map((id) => ({ node: row(id) })), pageInfo }, changes: [] },
    2,
  );
  // The list is d, c, b; its page becomes d, b.
  const left = applyChanges(page, { changes: [{ op: 'LEAVE', node: row('c', 2) }] }, 2);
  const older = applyChanges(left, { changes: [{ op: 'ENTER', node: row('a', 2) }] }, 2);
  expect(older).toMatchObject({ rows: [row('d')], hasMore: true });
  const back = applyChanges(
    older,
    {
      changes: [
        { op: 'ENTER', node: row('e') },
        { op: 'LEAVE', node: row('d', 2) },
      ],
    },
    2,
  );
  expect(back).toMatchObject({ rows: [row('e')], hasMore: true });
  expect(applyChanges(back, { changes: [{ op: 'ENTER', node: row('c', 3) }] }, 2).rows).toEqual([
    row('e'),
    row('c', 3),
  ]);
});
