import { setTimeout as delay } from 'node:timers/promises';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { operation } from '../../src/apps/client/operation.ts';
import { openPayments } from '../../src/apps/client/payments.ts';
import { feedEnd, mint, pay } from '../setup/acts.ts';
import { browserPath, startBrowser } from '../setup/browser.ts';
import { type Data, ownGateway, type TestPlatform } from '../setup/gateway.ts';
import { type Fleet, startFleet } from '../setup/load-balancer.ts';
import { makeScene, type Scene } from '../setup/scene.ts';
import { makeChanges, makeCustomers, until } from '../setup/torture.ts';

/** Apps with the client package follow streams while connections and instances fail. Each passes its own `after`. */

/** The duration: SOAK_SECONDS, by default twenty minutes. */
const seconds = Number(process.env.SOAK_SECONDS ?? 1_200);
const followers = 200;
/** How many followers are React components in Chromium. */
const components = browserPath === undefined ? 0 : 20;
/** How many changes per second are made across all customers. */
const rate = 50;

const text = 'subscription ($after: String, $filter: EventFilter) { events(after: $after, filter: $filter) { id } }';
const Events = operation<{ readonly events: { readonly id: string } }, object>(text);

interface Follower {
  readonly customerId: string;
  readonly seen: string[];
  readonly state: () => string;
  readonly stop: () => void;
}

const tokenOf = (platform: TestPlatform, customerId: string) => () =>
  mint(platform, { customerId, permissions: ['VIEW'], expiresInSeconds: 60 });

function follower(platform: TestPlatform, url: string, customerId: string, after: string): Follower {
  const seen: string[] = [];
  const payments = openPayments({
    ...{ url: `${url}/graphql`, webSocketImpl: WebSocket, pingIntervalMs: 2_000 },
    token: tokenOf(platform, customerId),
  });
  const { done } = payments.follow({
    document: Events,
    variables: { after, filter: { types: ['TEST'] } },
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

/** Opens the page, which shows the last customer's list and all other customers' events. */
async function openPage(platform: TestPlatform, url: string, customers: readonly string[], after: string) {
  const { outputFiles } = await build({
    ...{ bundle: true, write: false, format: 'esm', target: 'es2022' },
    define: { 'process.env.NODE_ENV': '"production"' },
    stdin: { contents: app, resolveDir: 'src/apps/client', loader: 'ts' },
  });
  const browser = await startBrowser();
  const page = await browser.newPage();
  await page.exposeFunction('mint', (customerId: string) => tokenOf(platform, customerId)());
  const settings = JSON.stringify({ url: `${url}/graphql`, customers, after, text });
  const content = `window.settings = ${settings};\n${outputFiles[0]?.text}`;
  await page.addScriptTag({ type: 'module', content });
  return {
    seen: (): Promise<string[][]> => page.evaluate('window.seen.slice(0, -1)'),
    list: (): Promise<string[] | undefined> => page.evaluate('window.list'),
    close: () => browser.close(),
  };
}

const disturbances: readonly ((fleet: Fleet) => unknown)[] = [
  ({ balancer }) => balancer.cut(),
  ({ balancer }) => balancer.delay(3_000),
  ({ balancer }) => balancer.halfOpen(),
  ({ balancer }) => balancer.halfClose(),
  (fleet) => fleet.replace('SIGKILL'),
  (fleet) => fleet.freeze(5_000),
  (fleet) => fleet.replace('SIGTERM'),
];

/** Makes a payment every second during the disturbances. A busy service may refuse some of them. */
async function payUntil(isOver: () => boolean, platform: TestPlatform, scene: Scene): Promise<number> {
  let paid = 0;
  for (; !isOver(); await delay(1_000))
    paid += await pay(platform, scene).then(
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

test(`${followers} followers lose nothing, repeat nothing and reorder nothing, whatever happens to their connections and instances`, async () => {
  const one = await ownGateway({ CORS_ORIGINS: ['*'] });
  const { platform } = one;
  const fleet = await startFleet(one);
  const { url } = fleet.balancer;
  const scene = await makeScene(platform);
  const customers = await makeCustomers(platform, 20);
  const start = await feedEnd(platform);
  const customerAt = (at: number) => customers[at % customers.length] ?? '';

  let isOver = false;
  const writing = makeChanges(one, customers, start, rate, () => isOver);
  const paying = payUntil(() => isOver, platform, scene);
  const all = Array.from({ length: followers - components }, (_, at) => follower(platform, url, customerAt(at), start));
  const owners = Array.from({ length: components }, (_, at) =>
    at === components - 1 ? scene.customerId : customerAt(at),
  );
  const page = components > 0 ? await openPage(platform, url, owners, start) : undefined;

  const end = performance.now() + seconds * 1_000;
  let disturbed = 0;
  for (; performance.now() < end; disturbed += 1) {
    await disturbances[disturbed % disturbances.length]?.(fleet);
    await delay(2_000 + Math.random() * 8_000);
  }
  isOver = true;
  const [{ changes, of }, paid] = await Promise.all([writing, paying]);
  const open = `{ transactions(first: 0, filter: { status: [PENDING, PROCESSING] }) { totalCount } }`;
  await until(async () => (await platform.ask(open).catch(() => undefined))?.transactions.totalCount === 0);

  const count = () => all.reduce((sum, { seen }) => sum + seen.length, 0);
  await until(
    () => all.every(({ customerId, seen }) => seen.length >= of(customerId).length),
    () => {
      const late = all.filter(({ customerId, seen }) => seen.length < of(customerId).length);
      const missing = late.map(({ customerId, seen, state }) => {
        const first = of(customerId).findIndex((id, at) => seen[at] !== id);
        return `${state()} ${seen.length}/${of(customerId).length}, not ${first}: ${of(customerId)[first]} but ${seen[first]}`;
      });
      return `${count()}; ${late.length} late: ${missing.slice(0, 5).join('; ')}`;
    },
  );
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
  console.log(`${seconds} s: ${changes} changes, ${paid} payments, ${count()} messages, ${disturbed} disturbances`);
  for (const { stop } of all) stop();
  await page?.close();
  await fleet.stop();
});
