import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { ApolloClient, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { subscriptionExchange, Client as UrqlClient } from '@urql/core';
import { parse } from 'graphql';
import { createClient as createSseClient } from 'graphql-sse';
import { type Client, createClient } from 'graphql-ws';
import {
  type ConcreteRequest,
  Environment,
  type GraphQLResponse,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
} from 'relay-runtime';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { resumingClient } from '../../src/apps/client/resume.ts';
import { feedEnd, mint } from '../setup/acts.ts';
import { browserPath, startBrowser } from '../setup/browser.ts';
import { listen } from '../setup/free-port.ts';
import { type Data, ownGateway } from '../setup/gateway.ts';
import { type Fleet, startFleet } from '../setup/load-balancer.ts';
import { newCustomer } from '../setup/scene.ts';
import { changesAfter, makeChanges, until } from '../setup/torture.ts';

interface Followed {
  readonly url: string;
  readonly authorization: string;
  readonly customerId: string;
  readonly note: (id: string) => void;
}

interface StockClient {
  readonly name: string;
  /** The code in an app that makes the client resume. */
  readonly code: string;
  follow(followed: Followed): Promise<() => unknown>;
}

const query = 'subscription Follow($filter: EventFilter) { events(filter: $filter) { id } }';
const variablesOf = ({ customerId }: Followed) => ({ filter: { customerId } });

const sink = (note: (id: string) => void) => ({
  next({ data, errors }: { data?: Data; errors?: unknown }) {
    if (errors) throw new Error(JSON.stringify(errors));
    note(data.events.id);
  },
  error(error: unknown) {
    throw new Error(`the client has given up: ${error}`);
  },
  complete: () => undefined,
});

/** The document in the form that Relay compiles. */
const relayRequest: ConcreteRequest = (() => {
  const selections = [
    {
      alias: null,
      args: [{ kind: 'Variable', name: 'filter', variableName: 'filter' }],
      concreteType: 'Event',
      kind: 'LinkedField',
      name: 'events',
      plural: false,
      selections: [{ alias: null, args: null, kind: 'ScalarField', name: 'id', storageKey: null }],
      storageKey: null,
    },
  ] as const;
  const argumentDefinitions = [{ defaultValue: null, kind: 'LocalArgument', name: 'filter' }] as const;
  return {
    kind: 'Request',
    fragment: {
      ...{ argumentDefinitions, selections, kind: 'Fragment', metadata: null, name: 'Follow' },
      ...{ type: 'Subscription', abstractKey: null },
    },
    operation: { argumentDefinitions, selections, kind: 'Operation', name: 'Follow' },
    params: { cacheID: 'follow', id: null, metadata: {}, name: 'Follow', operationKind: 'subscription', text: query },
  } as unknown as ConcreteRequest;
})();

/** A library that sends its subscriptions through a graphql-ws client. */
const overSocket = (name: string, subscribe: (client: Client, followed: Followed) => void): StockClient => ({
  name,
  code: '`resume: true` in `connectionParams`',
  async follow(followed) {
    const client = createClient({
      url: `${followed.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: followed.authorization, resume: true },
      retryAttempts: Number.POSITIVE_INFINITY,
      shouldRetry: () => true,
    });
    subscribe(client, followed);
    return () => client.dispose();
  },
});

const graphqlWs = overSocket('graphql-ws', (client, followed) => {
  client.subscribe({ query, variables: variablesOf(followed) }, sink(followed.note));
});

const apolloClient = overSocket('Apollo Client', (client, followed) => {
  const apollo = new ApolloClient({ link: new GraphQLWsLink(client), cache: new InMemoryCache() });
  apollo
    .subscribe({ query: parse(query), variables: variablesOf(followed), fetchPolicy: 'no-cache' })
    .subscribe(sink(followed.note));
});

const urql = overSocket('urql', (client, followed) => {
  const exchange = subscriptionExchange({
    forwardSubscription: ({ query: text = '', ...rest }) => ({
      subscribe: (of) => ({ unsubscribe: client.subscribe({ ...rest, query: text } as never, of as never) }),
    }),
  });
  const { next } = sink(followed.note);
  new UrqlClient({ url: `${followed.url}/graphql`, preferGetMethod: false, exchanges: [exchange] })
    .subscription(query, variablesOf(followed))
    .subscribe(({ data, error }) => next({ data, errors: error }));
});

const relay = overSocket('Relay', (client, followed) => {
  const network = Network.create(
    () => Promise.reject(new Error('only subscriptions')),
    ({ text, name }, variables) =>
      Observable.create<GraphQLResponse>((of) =>
        client.subscribe({ query: text ?? '', operationName: name, variables }, of as never),
      ),
  );
  const environment = new Environment({ network, store: new Store(new RecordSource()) });
  const { next, error: onError } = sink(followed.note);
  requestSubscription(environment, {
    ...{ subscription: relayRequest, variables: variablesOf(followed), onError },
    onNext: (data) => next({ data }),
  });
});

const graphqlSse: StockClient = {
  name: 'graphql-sse',
  code: '`resumingClient(…)` of `src/apps/client/resume.ts` around the client',
  async follow(followed) {
    const client = createSseClient({
      url: `${followed.url}/graphql/stream`,
      headers: { authorization: followed.authorization },
      retryAttempts: Number.POSITIVE_INFINITY,
    });
    resumingClient(client).subscribe({ query, variables: variablesOf(followed) }, sink(followed.note) as never);
    return () => client.dispose();
  },
};

const fetchEventSource: StockClient = {
  name: 'fetch-event-source, in Chromium',
  code: 'none',
  async follow(followed) {
    const library = new URL('../../node_modules/@microsoft/fetch-event-source/lib/esm/', import.meta.url);
    const server = createServer(async (request, response) => {
      const name = /^\/esm\/(\w+)$/.exec(request.url ?? '')?.[1];
      if (name === undefined) response.setHeader('content-type', 'text/html').end('<!doctype html><title>app</title>');
      else response.setHeader('content-type', 'text/javascript').end(await readFile(new URL(`${name}.js`, library)));
    });
    const init = {
      ...{ method: 'POST', openWhenHidden: true },
      headers: { authorization: followed.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: variablesOf(followed) }),
    };
    const content = `import { fetchEventSource } from '/esm/fetch';
      fetchEventSource('${followed.url}/graphql', { ...${JSON.stringify(init)}, onmessage: ({ data }) => note(data) });`;
    const port = await listen(server);
    const browser = await startBrowser();
    const page = await browser.newPage();
    await page.exposeFunction('note', (data: string) => sink(followed.note).next(JSON.parse(data)));
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.addScriptTag({ type: 'module', content });
    return async () => {
      await browser.close();
      server.closeAllConnections();
      server.close();
    };
  },
};

/** All clients that can run here. The one in a browser needs Debian's chromium, or CHROMIUM_PATH. */
const stockClients: readonly StockClient[] = [
  ...[graphqlWs, apolloClient, urql, relay, graphqlSse],
  ...(browserPath === undefined ? [] : [fetchEventSource]),
];

/** Changes per second. */
const rate = 50;
/** How often each kind of disturbance occurs. */
const rounds = Number(process.env.SOAK_ROUNDS ?? 5);

const disturbances: Readonly<Record<string, (fleet: Fleet) => Promise<void>>> = {
  kill: (fleet) => fleet.replace('SIGKILL'),
  cut: async ({ balancer }) => balancer.cut(),
  freeze: (fleet) => fleet.freeze(5_000),
  'rolling restart': async (fleet) => {
    for (let at = 0; at < 2; at += 1) await fleet.replace('SIGTERM');
  },
};

interface Following {
  readonly client: StockClient;
  readonly seen: string[];
  readonly end: () => unknown;
}

test('stock clients lose and reorder nothing while instances are killed, cut off, frozen and restarted', async () => {
  const one = await ownGateway({ CORS_ORIGINS: ['*'] });
  const fleet = await startFleet(one);
  const customerId = await newCustomer(one.platform);
  const { token } = await mint(one.platform, { customerId, expiresInSeconds: 3_600 });
  const { platformId } = one.platform;

  const rows: string[] = [];
  for (const [name, disturb] of Object.entries(disturbances)) {
    const start = await feedEnd(one.platform);
    let isWriting = true;
    const writing = makeChanges(one, [customerId], start, rate, () => !isWriting);
    const following: Following[] = await Promise.all(
      stockClients.map(async (client) => {
        const seen: string[] = [];
        const followed: Followed = {
          ...{ url: fleet.balancer.url, authorization: `Bearer ${token}`, customerId },
          note: (id) => seen.push(id),
        };
        return { client, seen, end: await client.follow(followed) };
      }),
    );
    const all = (isSo: (one: Following) => boolean) =>
      until(
        () => following.every(isSo),
        () => following.reduce((sum, { seen }) => sum + seen.length, 0),
      );
    await all(({ seen }) => seen.length > 0);
    for (let round = 0; round < rounds; round += 1) {
      await disturb(fleet);
      // Until each has reconnected.
      const newest = (await changesAfter(one.databaseUrl, platformId, start)).at(-1)?.id ?? '';
      await all(({ seen }) => seen.includes(newest));
    }
    isWriting = false;
    const events = (await writing).of();
    await all(({ seen }) => seen.includes(events.at(-1) ?? ''));
    for (const { client, seen, end } of following) {
      await end();
      const wanted = events.slice(events.indexOf(seen[0] ?? ''));
      const distinct = new Set(seen);
      const lost = wanted.filter((id) => !distinct.has(id)).length;
      rows.push(
        `| ${client.name} | ${name} | ${wanted.length} | ${seen.length} | ${seen.length - distinct.size} | ${lost} | ${client.code} |`,
      );
      expect.soft([...distinct], `${client.name} through ${name}`).toEqual(wanted);
    }
    console.log(rows.slice(-following.length).join('\n'));
  }
  console.log(
    [
      '| Client | Disturbed by | Sent | Received | Repeated | Lost | Code |',
      '|---|---|---|---|---|---|---|',
      ...rows.toSorted(),
    ].join('\n'),
  );
  await fleet.stop();
});
