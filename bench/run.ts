import { isDeepStrictEqual } from 'node:util';
import { basicAuthorization } from '../src/domain/access/tokens/credentials.ts';
import { audit, auditRules } from '../src/domain/ledger/audit.ts';
import { execute } from '../src/infra/database/migrations/throwaway.ts';
import { countStatements } from './counting-proxy.ts';
import { drained } from './drained.ts';
import { startGateway } from './gateway.ts';
import { measureKept } from './kept.ts';
import type { RequestJob } from './load/requests.ts';
import {
  type Contestant,
  measure,
  measureInTurns,
  memoryOf,
  type Result,
  requests,
  type Server,
  startServer,
  statements,
  type Timing,
} from './measure.ts';
import { credentials, type Prepared } from './prepare.ts';
import { neverAsked, peerOrderOf, type ReadCase, readCases } from './reads.ts';
import { type Fact, line, type Row, type Saved } from './report.ts';
import { measureSpeed, type Speed } from './speed.ts';
import { measureStreams } from './streams.ts';
import { feedEnd, measureDeliveries } from './webhooks.ts';
import { byHandBodies, type Writes, writesOf } from './writes.ts';
import { measureWritten } from './written.ts';

const authorization = basicAuthorization(credentials);
const gatewayHeaders = {
  authorization,
  'content-type': 'application/json',
  accept: 'application/graphql-response+json',
};
const plainHeaders = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };
const connections = { reads: 16, writes: 32 };

const startPostGraphile = (url: string) =>
  startServer('bench/peers/postgraphile.ts', { DATABASE_URL: url, GRAPHILE_ENV: 'production' });
const startByHand = (url: string, statements: Record<string, string>) =>
  startServer('bench/peers/by-hand.ts', { DATABASE_URL: url, STATEMENTS: JSON.stringify(statements) });

const bodies = ({ query, variables }: ReadCase['gateway']) =>
  variables.map((each) => JSON.stringify({ query, variables: each }));

type Sent = Omit<RequestJob, 'url' | 'headers'>;
const fromGateway = (server: Server, sent: Sent) =>
  requests({ url: server.url, headers: gatewayHeaders, ...sent }, server);
const fromPeer = (server: Server, sent: Sent) => requests({ url: server.url, headers: plainHeaders, ...sent }, server);

/** Captures a new quote's id in a response. */
const quoteId = '"id":"Quote:([0-9a-f-]+)"';

/** Measures one case for several contestants, alternating between them, and adds a row for each. */
async function contest(
  name: string,
  entries: readonly (Pick<Row, 'contestant' | 'statements'> & { readonly load: Contestant })[],
  timing: Timing,
  add: (row: Row) => void,
): Promise<void> {
  const results = await measureInTurns(
    entries.map(({ load }) => load),
    timing,
  );
  for (const [at, result] of results.entries()) {
    const entry = entries[at];
    if (entry) add({ case: name, contestant: entry.contestant, statements: entry.statements, result });
  }
}

/** Runs all measurements in order. A run is sound if every response is correct and the audit finds no broken rule. */
export async function runAll(
  prepared: Prepared,
  small: Prepared,
  timing: Timing,
  only: RegExp,
): Promise<Omit<Saved, 'setting'> & { readonly sound: boolean }> {
  const rows: Row[] = [];
  const facts: Fact[] = [];
  const speeds: Speed[] = [];
  const calibrate = async () => void speeds.push(await measureSpeed(prepared.url));
  const add = (row: Row) => {
    rows.push(row);
    console.log(line(row));
  };
  await calibrate();
  const peer = await startPostGraphile(prepared.url);
  const order = await peerOrderOf(peer.url, prepared.platformId);
  const cases = (await readCases(prepared, order)).filter(({ name }) => only.test(name));
  const hand = await startByHand(prepared.url, Object.fromEntries(cases.map(({ name, sql }) => [name, sql])));
  const counts = await countReads(prepared, cases, hand);
  await measureReads(prepared, cases, { peer, hand }, counts, timing, add);
  for (const server of [peer, hand]) await server.stop();
  if (only.test(firstUse)) await measureFirstUses(prepared, order, timing, add);
  if (only.test('size')) facts.push(...(await measureSizes(prepared, small, timing)));
  await calibrate();
  if (only.test('writes')) facts.push(...(await measureWrites(prepared, timing, add)));
  await calibrate();
  if (only.test('streams')) facts.push(...(await measureSubscribers(prepared, timing)));
  if (only.test('payments')) await comparePayments(prepared, timing, add);
  if (only.test('policies')) facts.push(await measurePolicies(prepared, timing));
  if (only.test('kept') || only.test('written')) facts.push(...(await measureStored(small, timing, only)));
  await calibrate();
  for (const { what, value } of facts) console.log(`${what}: ${value}`);
  const breaches = await drainAndAudit(prepared.url);
  facts.push({
    what: 'the auditor, at the end',
    value: breaches.length === 0 ? `${auditRules} rules hold` : written(breaches),
  });
  console.log(facts.at(-1)?.value);
  return { rows, facts, speeds, sound: breaches.length === 0 && rows.every(({ result }) => result.wrong === 0) };
}

/** Replaces each cursor with its type. Only the gateway encrypts its cursors, so their values never match. */
const withoutCursors = (answer: unknown) =>
  JSON.parse(JSON.stringify(answer), (key, value) => (key.endsWith('Cursor') ? typeof value : value));

function written(breaches: readonly object[]): string {
  return JSON.stringify(breaches, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}

/**
 * Counts a request's SQL statements on the wire, and compares the responses. Takes the median of ten requests, since a
 * server occasionally sends statements unrelated to any request, such as a check that a token is still valid.
 */
async function countReads(
  prepared: Prepared,
  cases: readonly ReadCase[],
  hand: Server,
): Promise<Map<string, { gateway: number; peer: number }>> {
  const counts = new Map<string, { gateway: number; peer: number }>();
  const proxies = [await countStatements(prepared.url), await countStatements(prepared.url)] as const;
  const [gateway, peer] = await Promise.all([startGateway(proxies[0].url, 'serve'), startPostGraphile(proxies[1].url)]);
  for (const one of cases) {
    const post = async (url: string, headers: Record<string, string>, body = '') => {
      const answer = await (await fetch(url, { method: 'POST', headers, body })).json();
      if (answer.errors) throw new Error(`${one.name}: answered with ${JSON.stringify(answer.errors)}`);
      return answer;
    };
    const count = async (
      proxy: (typeof proxies)[number],
      url: string,
      headers: Record<string, string>,
      all: string[],
    ) => {
      for (let i = 0; i < 3; i++) await post(url, headers, all[i % all.length]);
      const counts: number[] = [];
      for (let i = 0; i < 10; i++) {
        const before = proxy.count();
        await post(url, headers, all[i % all.length]);
        counts.push(proxy.count() - before);
      }
      return counts.sort((one, other) => one - other)[5] ?? 0;
    };
    counts.set(one.name, {
      gateway: await count(proxies[0], gateway.url, gatewayHeaders, bodies(one.gateway)),
      peer: await count(proxies[1], peer.url, plainHeaders, bodies(one.postgraphile)),
    });
    const ours = await post(gateway.url, gatewayHeaders, bodies(one.gateway)[0]);
    const theirs = await post(hand.url, plainHeaders, byHandBodies(one.name, one.values)[0]);
    if (!isDeepStrictEqual(withoutCursors(ours), withoutCursors(theirs))) {
      throw new Error(
        `${one.name}: different answers\n${JSON.stringify(ours).slice(0, 1500)}\n${JSON.stringify(theirs).slice(0, 1500)}`,
      );
    }
  }
  for (const server of [gateway, peer]) await server.stop();
  for (const proxy of proxies) await proxy.close();
  return counts;
}

async function measureReads(
  prepared: Prepared,
  cases: readonly ReadCase[],
  { peer, hand }: { readonly peer: Server; readonly hand: Server },
  counts: Map<string, { gateway: number; peer: number }>,
  timing: Timing,
  add: (row: Row) => void,
): Promise<void> {
  const gateway = await startGateway(prepared.url);
  const load = { connections: connections.reads };
  // Just-in-time compilers need a warm-up, so every document is sent before any measurement.
  const heat = { warmUpMs: timing.warmUpMs, measureMs: 1 };
  for (const { gateway: ours, postgraphile } of cases) {
    await measure(fromGateway(gateway, { bodies: bodies(ours), ...load }), heat);
    await measure(fromPeer(peer, { bodies: bodies(postgraphile), ...load }), heat);
  }
  for (const one of cases) {
    const { name, sql, values } = one;
    const count = counts.get(name);
    await contest(
      name,
      [
        {
          contestant: 'gateway',
          statements: count?.gateway,
          load: fromGateway(gateway, { bodies: bodies(one.gateway), ...load }),
        },
        {
          contestant: 'PostGraphile 5.1',
          statements: count?.peer,
          load: fromPeer(peer, { bodies: bodies(one.postgraphile), ...load }),
        },
        { contestant: 'by hand', statements: 1, load: fromPeer(hand, { bodies: byHandBodies(name, values), ...load }) },
        { contestant: 'no server', statements: 1, load: statements({ url: prepared.url, sql, values, ...load }) },
      ],
      timing,
      add,
    );
  }
  await gateway.stop();
}

const firstUse = '20 transactions with customer, first use of the document';

/**
 * Measures documents that have never been sent before, so they must be parsed, validated and planned. Uses separate
 * servers, because such documents fill a server's caches.
 */
async function measureFirstUses(
  prepared: Prepared,
  peerOrder: string,
  timing: Timing,
  add: (row: Row) => void,
): Promise<void> {
  const list = (await readCases(prepared, peerOrder)).find(({ name }) => firstUse.startsWith(name));
  if (!list) throw new Error('the list is no longer among the read cases');
  const servers = await Promise.all([startGateway(prepared.url), startPostGraphile(prepared.url)]);
  const [gateway, peer] = servers;
  const load = { connections: connections.reads };
  const entries = [
    {
      contestant: 'gateway' as const,
      load: fromGateway(gateway, { bodies: neverAsked(list.gateway), ...load }),
    },
    {
      contestant: 'PostGraphile 5.1' as const,
      load: fromPeer(peer, { bodies: neverAsked(list.postgraphile), ...load }),
    },
  ];
  for (const entry of entries) await measure(entry.load, { warmUpMs: timing.warmUpMs, measureMs: 1 });
  await contest(firstUse, entries, timing, add);
  for (const server of servers) await server.stop();
}

/** Measures how a request's cost depends on the number of rows and on how deep in the list the page is. */
async function measureSizes(prepared: Prepared, small: Prepared, timing: Timing): Promise<Fact[]> {
  const sizes = [small, prepared] as const;
  const servers = await Promise.all(sizes.map(({ url }) => startGateway(url)));
  const cases = await Promise.all(sizes.map((size) => readCases(size)));
  const load = { connections: connections.reads };
  const costs: string[][] = [[], []];
  for (const position of [1, 2, 4]) {
    const contestants = servers.flatMap((server, size) => {
      const one = cases[size]?.[position];
      return one ? [fromGateway(server, { bodies: bodies(one.gateway), ...load })] : [];
    });
    const results = await measureInTurns(contestants, timing);
    for (const [size, { cpuMicros }] of results.entries()) costs[size]?.push(`${Math.round(cpuMicros)} µs`);
  }
  const pages = [1, 4, 5].flatMap((position) => {
    const one = cases[1]?.[position];
    return one && servers[1] ? [fromGateway(servers[1], { bodies: bodies(one.gateway), ...load })] : [];
  });
  const [first, ...deep] = await measureInTurns(pages, timing);
  for (const server of servers) await server.stop();
  const times = deep.map(({ perSecond }) => ((first?.perSecond ?? 0) / perSecond).toFixed(2));
  return [
    ...sizes.map(({ transactions }, size) => ({
      what: `CPU per request with ${transactions} transactions (list, filtered list, deep page)`,
      value: costs[size]?.join(', ') ?? '',
    })),
    {
      what: 'time of a deep page relative to the first page (forwards, backwards)',
      value: times.join(', '),
    },
  ];
}

async function measureWrites(prepared: Prepared, timing: Timing, add: (row: Row) => void): Promise<Fact[]> {
  const writes = await writesOf(prepared);
  const facts: Fact[] = [];
  const load = { connections: connections.writes };
  const gateway = await startGateway(prepared.url);
  facts.push({
    what: 'start, from nothing to listening',
    value: `${Math.round(gateway.startMs)} ms, ${Math.round(gateway.startCpuMs)} ms of CPU`,
  });
  facts.push({ what: 'resident memory after the start', value: `${Math.round(memoryOf(gateway.pid) ?? 0)} MiB` });
  await warmTables(prepared, gateway, writes, timing);
  const send = async (name: string, more: Omit<Sent, 'connections'>) => {
    const result = await measure(
      fromGateway(gateway, { ...load, ...more }),
      more.once ? { ...timing, warmUpMs: 50 } : timing,
    );
    add({ case: name, contestant: 'gateway', result });
    await drained(prepared.url);
    return result;
  };
  const quotes = await send('createQuote', { bodies: writes.createQuote, collect: quoteId });
  await send('executeQuote', { bodies: writes.executeQuote(quotes.collected), once: true });
  await send('transferOut, many accounts', { bodies: writes.transferMany });
  await send('transferOut, one hot account', { bodies: writes.transferHot });
  await send('idempotent replay', { bodies: writes.replay });

  await measureRest(gateway, writes, timing, add);
  await drained(prepared.url);

  const start = await feedEnd(gateway, gatewayHeaders);
  // A replay can read at most 10,000 events. These transfers cause 8,000.
  const told = Array.from({ length: 4_000 }, (_, at) => writes.transferMany[at % writes.transferMany.length] ?? '');
  await measure(fromGateway(gateway, { bodies: told, once: true, ...load }), timing);
  await drained(prepared.url);
  facts.push(...(await measureDeliveries(gateway, gatewayHeaders, start)));

  facts.push(...(await measureOverload(prepared, gateway, timing)));
  facts.push({ what: 'resident memory at the end', value: `${Math.round(memoryOf(gateway.pid) ?? 0)} MiB` });
  await gateway.stop();

  return facts;
}

/** Measures how much transfers and executed quotes write, and how much they store permanently. */
async function measureStored(prepared: Prepared, timing: Timing, only: RegExp): Promise<Fact[]> {
  const writes = await writesOf(prepared);
  const gateway = await startGateway(prepared.url);
  // Each body is sent only once.
  const send = async (bodies: readonly string[], collect?: string) => {
    const load = { bodies, once: true, connections: connections.writes, ...(collect && { collect }) };
    return (await measure(fromGateway(gateway, load), { ...timing, warmUpMs: 0, measureMs: 120_000 })).collected;
  };
  const times = (bodies: readonly string[]) =>
    Array.from({ length: timing.measureMs / 2 }, (_, at) => bodies[at % bodies.length] ?? '');
  const transferOn = (bodies: readonly string[]) => async () => {
    await send(times(bodies));
    return timing.measureMs / 2;
  };
  const makeQuotes = () => send(times(writes.createQuote), quoteId);
  const execute = async (quotes: readonly string[]) => {
    await send(writes.executeQuote(quotes));
    return quotes.length;
  };
  const { url } = prepared;
  const facts: Fact[] = [];
  if (only.test('kept')) {
    facts.push(await measureKept('transfer', url, transferOn(writes.transferMany)));
    facts.push(await measureKept('executed quote', url, async () => execute(await makeQuotes())));
  }
  if (only.test('written')) {
    facts.push(await measureWritten('transfer', url, transferOn(writes.transferMany)));
    facts.push(await measureWritten('transfer from one hot account', url, transferOn(writes.transferHot)));
    const quotes = await makeQuotes();
    facts.push(await measureWritten('execution of a quote', url, () => execute(quotes)));
  }
  await gateway.stop();
  return facts;
}

/** Measures one instance's streams while another instance makes the changes. */
async function measureSubscribers(prepared: Prepared, timing: Timing): Promise<Fact[]> {
  const writes = await writesOf(prepared);
  const gateway = await startGateway(prepared.url);
  await warmTables(prepared, gateway, writes, timing);
  const transfers = { url: gateway.url, headers: gatewayHeaders, bodies: writes.transferMany };
  const facts = await measureStreams({
    gateway,
    databaseUrl: prepared.url,
    platformId: prepared.platformId,
    authorization,
    customerIds: writes.customerIds,
    transfers,
    measureMs: timing.measureMs * 2,
  });
  await drained(prepared.url);
  await gateway.stop();
  return facts;
}

/**
 * Adds a few quotes and orders and analyzes the database, because Postgres' plans for empty tables are slow once the
 * tables have rows. In a real installation, autovacuum analyzes the tables within a minute of the first rows.
 */
async function warmTables(prepared: Prepared, gateway: Server, writes: Writes, timing: Timing): Promise<void> {
  const brief = { warmUpMs: 0, measureMs: timing.warmUpMs };
  const sent = { connections: connections.writes };
  const { collected } = await measure(
    fromGateway(gateway, { bodies: writes.createQuote, collect: quoteId, ...sent }),
    brief,
  );
  await measure(fromGateway(gateway, { bodies: writes.executeQuote(collected), once: true, ...sent }), brief);
  await measure(fromGateway(gateway, { bodies: writes.transferMany, ...sent }), brief);
  await drained(prepared.url);
  await execute(prepared.url, 'analyze');
}

/**
 * Measures payments without a worker, because the peers do not settle payments either.
 * `measureWrites` measures the gateway together with settlement.
 */
async function comparePayments(prepared: Prepared, timing: Timing, add: (row: Row) => void): Promise<void> {
  const writes = await writesOf(prepared);
  const load = { connections: connections.writes };
  const [served, peer, hand] = await Promise.all([
    startGateway(prepared.url, 'serve'),
    startPostGraphile(prepared.url),
    startByHand(prepared.url, { transfer: writes.peer.sql, execute: writes.peer.executeSql }),
  ]);
  // A quote can be executed only once, so each contestant gets only a third of the quotes and a short warm-up.
  const { collected } = await measure(
    fromGateway(served, { bodies: writes.createQuote, collect: quoteId, ...load }),
    timing,
  );
  const third = Math.floor(collected.length / 3);
  const share = (n: number) => collected.slice(n * third, (n + 1) * third);
  const sparing = { ...timing, warmUpMs: 50 * timing.turns, measureMs: timing.measureMs / 4 };
  const peers = [
    {
      name: 'executeQuote',
      once: true,
      ours: writes.executeQuote(share(0)),
      peer: writes.peer.executeQuote(share(1)),
      sql: 'execute',
      values: share(2).map((id) => [id, '%KEY%']),
    },
    {
      name: 'transferOut, many accounts',
      once: false,
      ours: writes.transferMany,
      peer: writes.peer.transferMany,
      sql: 'transfer',
      values: writes.peer.many,
    },
    {
      name: 'transferOut, one hot account',
      once: false,
      ours: writes.transferHot,
      peer: writes.peer.transferHot,
      sql: 'transfer',
      values: writes.peer.hot,
    },
  ];
  for (const { name, once, ours, peer: documents, sql, values } of peers) {
    const sent = { once, ...load };
    await contest(
      name,
      [
        { contestant: 'gateway, settling later', load: fromGateway(served, { bodies: ours, ...sent }) },
        { contestant: 'PostGraphile 5.1', load: fromPeer(peer, { bodies: documents, ...sent }) },
        { contestant: 'by hand', load: fromPeer(hand, { bodies: byHandBodies(sql, values), ...sent }) },
        ...(once
          ? []
          : [
              {
                contestant: 'no server' as const,
                load: statements({ url: prepared.url, sql: writes.peer.sql, values, ...load }),
              },
            ]),
      ],
      once ? sparing : timing,
      add,
    );
  }
  for (const server of [served, peer, hand]) await server.stop();
}

/**
 * Measures what a policy costs per transfer, by comparing customers with and without one. No worker runs, so the
 * figures exclude settlement, which policies do not affect.
 */
async function measurePolicies(prepared: Prepared, timing: Timing): Promise<Fact> {
  const { transferMany, customerIds } = await writesOf(prepared);
  const gateway = await startGateway(prepared.url, 'serve');
  const mutate = async (query: string, inputs: readonly object[]) => {
    const ask = {
      bodies: inputs.map((input) => JSON.stringify({ query, variables: { input } })),
      once: true,
      connections: 8,
    };
    const { wrong, firstWrong } = await measure(fromGateway(gateway, ask), { ...timing, warmUpMs: 0 });
    if (wrong > 0) throw new Error(`cannot set up the benchmark's policies: ${firstWrong}`);
  };
  const isLimited = (_: unknown, at: number) => at % 2 === 1;
  const limited = customerIds.filter(isLimited);
  await mutate(
    'mutation ($input: SetPolicyInput!) { setPolicy(input: $input) { ... on SetPolicySuccess { policy { version } } ... on UserError { code } } }',
    limited.map((subjectId) => ({
      subjectId,
      limits: [
        { period: 'PAYMENT', currency: 'USD', amount: { units: 1_000_000 } },
        { period: 'DAY', currency: 'USD', amount: { units: 1_000_000_000 } },
        { period: 'DAY', payments: 1_000_000 },
      ],
    })),
  );
  const loads = [transferMany.filter((_, at) => !isLimited(_, at)), transferMany.filter(isLimited)].map((bodies) =>
    fromGateway(gateway, { bodies, connections: connections.writes }),
  );
  for (const load of loads) await measure(load, { warmUpMs: timing.warmUpMs * 4, measureMs: 1 });
  const [free, bound] = await measureInTurns(loads, timing);
  await mutate(
    'mutation ($input: DeletePolicyInput!) { deletePolicy(input: $input) { ... on DeletePolicySuccess { deletedId } ... on UserError { code } } }',
    limited.map((subjectId) => ({ subjectId })),
  );
  await gateway.stop();
  const more = (what: (result: Result) => number) =>
    free && bound ? `${((what(bound) / what(free) - 1) * 100).toFixed(1)} %` : '';
  return {
    what: 'a transferOut under a policy with three limits, compared with one without a policy, settling later',
    value: `CPU of the gateway ${more(({ cpuMicros }) => cpuMicros)}, of Postgres ${more(({ postgresMicros }) => postgresMicros)}, of both ${more(({ cpuMicros, postgresMicros }) => cpuMicros + postgresMicros)}; requests/s ${more(({ perSecond }) => perSecond)}`,
  };
}

/** Measures a list and a transfer over REST; both are also measured over GraphQL. */
async function measureRest(gateway: Server, writes: Writes, timing: Timing, add: (row: Row) => void): Promise<void> {
  const rest = gateway.url.replace('/graphql', '/2025-10-13');
  const headers = { authorization, 'content-type': 'application/json' };
  const list = { url: `${rest}/transactions?limit=20`, headers, bodies: [''], connections: connections.reads };
  add({
    case: 'REST: 20 transactions',
    contestant: 'gateway',
    result: await measure(requests(list, gateway), timing),
  });
  const transfer = {
    url: `${rest}/transfer-out`,
    headers,
    bodies: writes.restTransfer,
    connections: connections.writes,
  };
  add({
    case: 'REST: transfer-out, many accounts',
    contestant: 'gateway',
    result: await measure(requests(transfer, gateway), timing),
  });
}

/** Sends twice the load that the service can sustain, without waiting for earlier responses. */
async function measureOverload(prepared: Prepared, gateway: Server, timing: Timing): Promise<Fact[]> {
  const list = (await readCases(prepared))[1];
  if (!list) return [];
  const job = { bodies: bodies(list.gateway) };
  const most = await measure(fromGateway(gateway, { ...job, connections: 64 }), timing);
  const offered = Math.round(most.perSecond * 2);
  const over = await measure(fromGateway(gateway, { ...job, rate: offered, connections: 1_000 }), timing);
  const answers = Object.entries(over.statuses).map(([status, count]) => `${count} × ${status}`);
  return [
    {
      what: `20 transactions with customer, ${offered} requests/s offered to a service that sustains ${Math.round(most.perSecond)}`,
      value: `${answers.join(', ')}; p99 ${Math.round(over.p99Good)} ms for status 200, ${Math.round(over.p99)} ms for all`,
    },
  ];
}

async function drainAndAudit(url: string) {
  const worker = await startGateway(url, 'work');
  await drained(url);
  await worker.stop();
  return audit({ url });
}
