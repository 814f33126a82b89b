import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client as UrqlClient } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { buildSchema, introspectionFromSchema, parse } from 'graphql';
import relay, { type ConcreteRequest } from 'relay-runtime';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { newestVersions } from '../../src/apps/client/apollo.ts';
import { apolloScalars } from '../../src/apps/client/apollo-scalars.ts';
import { openPayments, type Payments } from '../../src/apps/client/payments.ts';
import { relayNetwork } from '../../src/apps/client/relay.ts';
import { paymentsExchanges } from '../../src/apps/client/urql.ts';
import { urqlCache } from '../../src/apps/client/urql-cache.ts';
import type { Data } from '../setup/gateway.ts';

/** Tests what the libraries' caches show when responses and stream messages arrive late or in the wrong order. */

const parts = '{ __typename id version status createdAt }';
const query = `query Of { transaction(id: "1") ${parts} }`;
const stream = `subscription Of { transactionUpdates { __typename transaction ${parts} } }`;
const mutation = `mutation Of { executeQuote(input: { quoteId: "1" }) { __typename
  ... on ExecuteQuoteSuccess { quote { __typename id transaction ${parts} } } } }`;

const transaction = (version: number) => ({
  ...{ __typename: 'Transaction', id: 'Transaction:1', version, status: `${version}` },
  createdAt: '2026-11-29T22:00:00.000Z',
});

interface Library {
  readonly read: () => Promise<unknown>;
  readonly mutate?: () => Promise<unknown>;
  readonly follow: () => unknown;
  /** The status of the transaction in the cache. */
  readonly shown: () => Promise<string>;
}

const libraries: Readonly<Record<string, (payments: Payments) => Library>> = {
  Apollo({ url, fetch, socket }) {
    const link = ApolloLink.from([
      new ApolloLink(newestVersions()),
      ApolloLink.split(
        ({ operationType }) => operationType === 'subscription',
        new GraphQLWsLink(socket.client),
        new HttpLink({ uri: url, fetch }),
      ),
    ]);
    const cache = new InMemoryCache(apolloScalars() as never);
    const client = new ApolloClient({ queryDeduplication: false, cache, link });
    return {
      read: () => client.query({ query: parse(query), fetchPolicy: 'network-only' }),
      mutate: () => client.mutate({ mutation: parse(mutation) }),
      follow: () => client.subscribe({ query: parse(stream) }).subscribe(() => undefined),
      shown: async () => cache.readQuery<Data>({ query: parse(query) })?.transaction.status,
    };
  },
  urql(payments) {
    const file = path.join(import.meta.dirname, '../../schema.graphql');
    const schema = introspectionFromSchema(buildSchema(readFileSync(file, 'utf8'))) as never;
    const client = new UrqlClient({
      url: payments.url,
      preferGetMethod: false,
      exchanges: [cacheExchange({ ...urqlCache(), schema }), ...paymentsExchanges(payments)],
    });
    return {
      read: () => client.query(query, {}, { requestPolicy: 'network-only' }).toPromise(),
      follow() {
        // While a screen shows a query, urql does not cancel the query's requests.
        client.query(query, {}, { requestPolicy: 'cache-only' }).subscribe(() => undefined);
        client.subscription(stream, {}).subscribe(() => undefined);
      },
      async shown() {
        const { data } = await client.query(query, {}, { requestPolicy: 'cache-only' }).toPromise();
        return data?.transaction.status;
      },
    };
  },
  Relay(payments) {
    const { Environment, Network, RecordSource, Store, createOperationDescriptor, requestSubscription } = relay;
    const network = relayNetwork(payments, relay.Observable);
    const store = new Store(new RecordSource());
    const environment = new Environment({ network: Network.create(network.fetch, network.subscribe), store });
    return {
      read: () => environment.execute({ operation: createOperationDescriptor(compiled(query), {}) }).toPromise(),
      follow: () => requestSubscription(environment, { subscription: compiled(stream), variables: {} }),
      shown: async () => String(store.getSource().get('Transaction:1')?.status),
    };
  },
};

/** Returns the output of Relay's compiler for one of the operations above. */
function compiled(text: string): ConcreteRequest {
  const scalar = (name: string) => ({ kind: 'ScalarField', name, alias: null, args: null, storageKey: null });
  const linked = (name: string, concreteType: string, selections: readonly object[]) => ({
    ...{ kind: 'LinkedField', name, concreteType, alias: null, args: null, storageKey: null, plural: false },
    selections,
  });
  const row = linked('transaction', 'Transaction', ['id', 'version', 'status'].map(scalar));
  const selections = [text === query ? row : linked('transactionUpdates', 'TransactionUpdate', [row])];
  const operation = { kind: 'Operation', name: 'Of', argumentDefinitions: [], selections };
  const operationKind = text === query ? 'query' : 'subscription';
  return {
    ...{ kind: 'Request', operation },
    fragment: { ...operation, kind: 'Fragment', type: 'Query', metadata: null },
    params: { id: null, cacheID: text, metadata: {}, name: 'Of', operationKind, text },
  } as unknown as ConcreteRequest;
}

test.each(Object.entries(libraries))('%s never shows older data after newer data', async (_name, open) => {
  const requests: Array<(data: object) => void> = [];
  const payments = openPayments({
    url: 'http://service/graphql',
    token: async () => ({ token: 'token', expiresAt: null }),
    webSocketImpl: WebSocket,
    fetch: () => new Promise((resolve) => requests.push((data) => resolve(Response.json({ data })))),
  });
  onTestFinished(() => payments.stop());
  const following = Promise.withResolvers<{ next: (result: object) => void }>();
  Object.assign(payments.socket.client, {
    subscribe(_request: object, sink: { next: (result: object) => void }) {
      following.resolve(sink);
      return () => undefined;
    },
  });
  const library = open(payments);
  const answer = async (at: number, data: object) => {
    await expect.poll(() => requests.length).toBeGreaterThan(at);
    requests[at]?.(data);
  };
  library.follow();
  const { next } = await following.promise;
  const message = (version: number) =>
    next({ data: { transactionUpdates: { __typename: 'TransactionUpdate', transaction: transaction(version) } } });

  // A stream message overtakes the response to a query, so the query is sent again.
  const overtaken = library.read();
  await expect.poll(() => requests.length).toBe(1);
  message(3);
  await answer(0, { transaction: transaction(2) });
  await answer(1, { transaction: transaction(4) });
  await overtaken;
  expect(await library.shown()).toBe('4');
  // The response to a query overtakes a stream message, so the message is dropped.
  message(3);
  expect(await library.shown()).toBe('4');

  // The response to a later request arrives first.
  const earlier = library.read();
  await expect.poll(() => requests.length).toBe(3);
  const later = library.read();
  await answer(3, { transaction: null });
  await later;
  await answer(2, { transaction: transaction(4) });
  await answer(4, { transaction: null });
  await earlier;
  expect(requests.length).toBe(5);

  if (!library.mutate) return;
  const late = library.mutate();
  const again = library.read();
  await answer(6, { transaction: transaction(5) });
  await again;
  message(7);
  const quote = { __typename: 'Quote', id: 'Quote:1', transaction: transaction(6) };
  await answer(5, { executeQuote: { __typename: 'ExecuteQuoteSuccess', quote } });
  expect(await late).toMatchObject({ data: { executeQuote: { quote: { transaction: { version: 6 } } } } });
  expect(await library.shown()).toBe('7');
});
