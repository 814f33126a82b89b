import { setTimeout as delay } from 'node:timers/promises';
import { ApolloClient, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { subscriptionExchange, Client as UrqlClient } from '@urql/core';
import { build } from 'esbuild';
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
import { operation } from '../../src/apps/client/operation.ts';
import { openPayments } from '../../src/apps/client/payments.ts';
import { resumingClient } from '../../src/apps/client/resume.ts';
import { browserPath, startBrowser } from '../setup/browser.ts';
import { type Data, ownGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { type Fleet, startFleet } from '../setup/load-balancer.ts';
import type { Scene } from '../setup/scene.ts';
import { changesAfter, makeChanges, makeCustomers, until } from '../setup/torture.ts';

// Apps follow streams while connections and instances fail. Some apps use the client package and pass `after`. Others
// use stock libraries, which resume by themselves.

/** How often each kind of disturbance occurs. */
const rounds = Number(process.env.SOAK_ROUNDS ?? 5);
/** How many apps use the client package, and how many of them are React components in Chromium. */
const followers = 200;
const components = browserPath === undefined ? 0 : 20;
/** How many changes per second are made across all customers. */
const rate = 50;

const text = 'subscription ($after: String, $filter: EventFilter) { events(after: $after, filter: $filter) { id } }';
const Events = operation<{ readonly events: { readonly id: string } }, object>(text);

/** An app that uses the client package. */
interface Follower {
  readonly customerId: string;
  readonly seen: string[];
  readonly state: () => string;
  readonly stop: () => void;
}

const tokenOf = (platform: TestPlatform, customerId: string) => () =>
  platform.mint({ customerId, permissions: ['VIEW'], expiresInSeconds: 60 });

function follower(platform: TestPlatform, url: string, customerId: string, after: string): Follower {
  const seen: string[] = [];
  const payments = openPayments({
    ...{ url: `${url}/graphql`, webSocketImpl: WebSocket, pingIntervalMs: 2_000 },
    token: tokenOf(platform, customerId),
  });
  const { done } = payments.follow({
    document: Events,
    variables: { after, ...variables },
    onMessage: ({ events }) => void seen.push(events.id),
  });
  done.catch((error: unknown) => seen.push(String(error)));
  return { customerId, seen, state: payments.socket.state, stop: () => payments.stop() };
}

/** A page whose components use `useFollow` and `useLiveList`. */
const app = `
import { createElement, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { openPayments } from './payments.ts';
import { PaymentsProvider, useFollow, useTransactions } from './react.ts';

const { url, customers, after, text } = window.settings;
const Events = ({ at }) => {
  const { value, error } = useFollow(text, { after, filter: { types: ['TEST'] } }, (known = [], { events }) => [...known, events.id]);
  useEffect(() => void (window.seen[at] = error ? [String(error)] : (value ?? [])));
  return null;
};
const List = () => {
  const { value } = useTransactions({ first: 20 });
  useEffect(() => void (window.list = value?.rows.map(({ id, version, status }) => [id, version, status].join(' '))));
  return null;
};
window.seen = customers.map(() => []);
const root = document.createElement('div');
createRoot(root).render(
  customers.map((customerId, at) =>
    createElement(
      PaymentsProvider,
      { key: at, payments: openPayments({ url, token: () => window.mint(customerId), pingIntervalMs: 2000 }) },
      createElement(at === customers.length - 1 ? List : Events, { at }),
    ),
  ),
);
`;

/** Runs an app on an empty page in Chromium. The app can call the given `functions`. */
async function openApp(contents: string, functions: Readonly<Record<string, (text: string) => unknown>>) {
  const { outputFiles } = await build({
    ...{ bundle: true, write: false, format: 'esm', target: 'es2022' },
    define: { 'process.env.NODE_ENV': '"production"' },
    stdin: { contents, resolveDir: 'src/apps/client', loader: 'ts' },
  });
  const browser = await startBrowser();
  const page = await browser.newPage();
  for (const [name, act] of Object.entries(functions)) await page.exposeFunction(name, act);
  await page.addScriptTag({ type: 'module', content: outputFiles[0]?.text ?? '' });
  return { browser, page };
}

/** Opens the page, which shows the last customer's list and all other customers' events. */
async function openPage(platform: TestPlatform, url: string, customers: readonly string[], after: string) {
  const settings = JSON.stringify({ url: `${url}/graphql`, customers, after, text });
  const mint = (customerId: string) => tokenOf(platform, customerId)();
  const { browser, page } = await openApp(`window.settings = ${settings};\n${app}`, { mint });
  return {
    seen: (): Promise<string[][]> => page.evaluate('window.seen.slice(0, -1)'),
    list: (): Promise<string[] | undefined> => page.evaluate('window.list'),
    close: () => browser.close(),
  };
}

/** The gateway whose events a stock library follows, the credentials, and a function to call with each event's id. */
interface Followed {
  readonly url: string;
  readonly authorization: string;
  readonly note: (id: string) => void;
}

interface StockClient {
  readonly name: string;
  /** The code that an app must contain so that the client resumes. */
  readonly code: string;
  follow(followed: Followed): Promise<() => unknown>;
}

const query = 'subscription Follow($filter: EventFilter) { events(filter: $filter) { id } }';
const variables = { filter: { types: ['TEST'] } };

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

/** The document as Relay's compiler would output it. */
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
  client.subscribe({ query, variables }, sink(followed.note));
});

const apolloClient = overSocket('Apollo Client', (client, followed) => {
  const apollo = new ApolloClient({ link: new GraphQLWsLink(client), cache: new InMemoryCache() });
  apollo.subscribe({ query: parse(query), variables, fetchPolicy: 'no-cache' }).subscribe(sink(followed.note));
});

const urql = overSocket('urql', (client, followed) => {
  const exchange = subscriptionExchange({
    forwardSubscription: ({ query: text = '', ...rest }) => ({
      subscribe: (of) => ({ unsubscribe: client.subscribe({ ...rest, query: text } as never, of as never) }),
    }),
  });
  const { next } = sink(followed.note);
  new UrqlClient({ url: `${followed.url}/graphql`, preferGetMethod: false, exchanges: [exchange] })
    .subscription(query, variables)
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
    ...{ subscription: relayRequest, variables, onError },
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
    resumingClient(client).subscribe({ query, variables }, sink(followed.note) as never);
    return () => client.dispose();
  },
};

const fetchEventSource: StockClient = {
  name: 'fetch-event-source, in Chromium',
  code: 'none',
  async follow(followed) {
    const init = {
      ...{ method: 'POST', openWhenHidden: true },
      headers: { authorization: followed.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    };
    const app = `import { fetchEventSource } from '@microsoft/fetch-event-source';
      fetchEventSource('${followed.url}/graphql', { ...${JSON.stringify(init)}, onmessage: ({ data }) => note(data) });`;
    const note = (data: string) => sink(followed.note).next(JSON.parse(data));
    const { browser } = await openApp(app, { note });
    return () => browser.close();
  },
};

/** All clients that can run here. The browser client needs Debian's chromium, or CHROMIUM_PATH. */
const stockClients: readonly StockClient[] = [
  ...[graphqlWs, apolloClient, urql, relay, graphqlSse],
  ...(browserPath === undefined ? [] : [fetchEventSource]),
];

/** Disturbances that every client notices. The `hardships` below are noticed only by the client package. */
const disturbances: Readonly<Record<string, (fleet: Fleet) => unknown>> = {
  kill: (fleet) => fleet.replace('SIGKILL'),
  cut: ({ balancer }) => balancer.cut(),
  freeze: (fleet) => fleet.freeze(5_000),
  'rolling restart': async (fleet) => {
    for (let at = 0; at < 2; at += 1) await fleet.replace('SIGTERM');
  },
};
const hardships: readonly ((fleet: Fleet) => unknown)[] = [
  ({ balancer }) => void setTimeout(balancer.hold(), 3_000),
  ({ balancer }) => balancer.halfOpen(),
  ({ balancer }) => balancer.halfClose(),
];

/** Makes a payment every second during the disturbances. A busy service may refuse some of them. */
async function payUntil(isOver: () => boolean, platform: TestPlatform, scene: Scene): Promise<number> {
  let paid = 0;
  for (; !isOver(); await delay(1_000))
    paid += await platform.pay(scene).then(
      () => 1,
      () => 0,
    );
  return paid;
}

async function listOf(platform: TestPlatform, customerId: string): Promise<string[]> {
  const { transactions } = await platform.ask(
    `{ transactions(first: 20, filter: { customerId: "${customerId}" }) { edges { node { id version status } } } }`,
  );
  return transactions.edges.map(({ node: { id, version, status } }: Data) => `${id} ${version} ${status}`);
}

/** Follows the feed with each stock library during one kind of disturbance. Returns a table row for each library. */
async function throughDisturbance(one: TestGateway, fleet: Fleet, name: string): Promise<string[]> {
  const { platform, databaseUrl } = one;
  const start = await platform.feedEnd();
  const newest = async () => (await changesAfter(databaseUrl, platform.platformId, start)).map(({ id }) => id);
  const following = await Promise.all(
    stockClients.map(async (client) => {
      const seen: string[] = [];
      const { url } = fleet.balancer;
      const end = await client.follow({ url, authorization: platform.authorization, note: (id) => seen.push(id) });
      return { client, seen, end };
    }),
  );
  const all = (isSo: (seen: readonly string[]) => boolean) =>
    until(
      () => following.every(({ seen }) => isSo(seen)),
      () => following.reduce((sum, { seen }) => sum + seen.length, 0),
    );
  await all((seen) => seen.length > 0);
  let events: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await disturbances[name]?.(fleet);
    events = await newest();
    // Waits until every client has reconnected.
    await all((seen) => seen.includes(events.at(-1) ?? ''));
  }
  const rows: string[] = [];
  for (const { client, seen, end } of following) {
    await end();
    const received = seen.slice(0, seen.lastIndexOf(events.at(-1) ?? '') + 1);
    const wanted = events.slice(events.indexOf(seen[0] ?? ''));
    const distinct = new Set(received);
    const lost = wanted.filter((id) => !distinct.has(id)).length;
    const counts = [wanted.length, received.length, received.length - distinct.size, lost];
    rows.push(`| ${client.name} | ${name} | ${counts.join(' | ')} | ${client.code} |`);
    expect.soft([...distinct], `${client.name} through ${name}`).toEqual(wanted);
  }
  return rows;
}

test('followers receive everything in order, whatever happens to their connections and instances', async () => {
  const one = await ownGateway({ CORS_ORIGINS: ['*'] });
  const { platform } = one;
  const fleet = await startFleet(one);
  const { url } = fleet.balancer;
  const scene = await platform.makeScene();
  const customers = await makeCustomers(platform, 20);
  const start = await platform.feedEnd();
  const customerAt = (at: number) => customers[at % customers.length] ?? '';

  let isOver = false;
  const writing = makeChanges(one, customers, start, rate, () => isOver);
  const paying = payUntil(() => isOver, platform, scene);
  const all = Array.from({ length: followers - components }, (_, at) => follower(platform, url, customerAt(at), start));
  const owners = Array.from({ length: components }, (_, at) =>
    at === components - 1 ? scene.customerId : customerAt(at),
  );
  const page = components > 0 ? await openPage(platform, url, owners, start) : undefined;

  const rows: string[] = [];
  for (const name of Object.keys(disturbances)) rows.push(...(await throughDisturbance(one, fleet, name)));
  const header = '| Client | Disturbed by | Sent | Received | Repeated | Lost | Code |';
  console.log([header, '|---|---|---|---|---|---|---|', ...rows.toSorted()].join('\n'));
  for (let round = 0; round < rounds; round += 1) {
    for (const disturb of hardships) {
      disturb(fleet);
      await delay(2_000 + Math.random() * 8_000);
    }
  }
  isOver = true;
  const [{ changes, of }, paid] = await Promise.all([writing, paying]);
  const open = '{ transactions(first: 0, filter: { status: [PENDING, PROCESSING] }) { totalCount } }';
  await until(async () => (await platform.ask(open).catch(() => undefined))?.transactions.totalCount === 0);

  const count = () => all.reduce((sum, { seen }) => sum + seen.length, 0);
  const late = () => all.filter(({ customerId, seen }) => seen.length < of(customerId).length);
  await until(
    () => late().length === 0,
    () => {
      const missing = late().map(({ customerId, seen, state }) => {
        const first = of(customerId).findIndex((id, at) => seen[at] !== id);
        return `${state()} ${seen.length}/${of(customerId).length}, not ${first}: ${of(customerId)[first]} but ${seen[first]}`;
      });
      return `${count()}; ${missing.length} late: ${missing.slice(0, 5).join('; ')}`;
    },
  );
  // Apps that use the client package receive every event exactly once.
  for (const { customerId, seen } of all) expect(seen).toEqual(of(customerId));
  if (page) {
    const expected = owners.slice(0, -1).map(of);
    const list = await listOf(platform, scene.customerId);
    const lengths = (seen: readonly (readonly string[])[]) => seen.map(({ length }) => length);
    const timeout = 120_000;
    await expect.poll(async () => lengths(await page.seen()), { timeout }).toEqual(lengths(expected));
    await expect.poll(page.list, { timeout }).toEqual(list);
    expect(await page.seen()).toEqual(expected);
  }
  console.log(`${changes} changes, ${paid} payments, ${count()} messages to apps with the client package`);
  for (const { stop } of all) stop();
  await page?.close();
  await fleet.stop();
});
