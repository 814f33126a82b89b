import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { requestsForCost } from '../../src/api/graphql/server/operations.ts';
import type { Rate } from '../../src/domain/access/rates.ts';
import { changeRates } from '../../src/domain/platforms/platforms.ts';
import { moving } from '../setup/acts.ts';
import { startChildGateway } from '../setup/child-gateway.ts';
import { tester, testGateway } from '../setup/gateway.ts';
import type { Calm, Measured } from './neighbours/calm.ts';
import { watchOthers } from './neighbours/machine.ts';
import { accountQuery, expensive, type Kind, kinds, payment, type Storm } from './neighbours/storms.ts';

/**
 * Measures how much a storm of 300 connections from one platform slows down another platform. Three situations
 * alternate: only the measured platform is active; the other platform is polite and sends as much as its limit allows,
 * so that nothing is refused; the other platform storms, sending as fast as it gets responses. The test compares the
 * median p99 during a storm with the higher of the other two medians: requests within the limit may slow down the
 * measured platform, but a storm should hardly slow it down any further. To show the noise, the odd and the even
 * rounds without the other platform are compared. Rounds in which other processes were busy are repeated.
 */

const connections = 300;
const cycles = Number(process.env.NEIGHBOUR_ROUNDS ?? 10);
const roundMs = 4_000;
/** How many rounds are run in a row. With more than one, storms last longer, and fewer of them are started. */
const roundsInTurn = 2;
/** How long a polite sender runs before its round, and the pause between a storm and the next round. */
const leadMs = 1_000;
/** How long a storm runs before its round. This exceeds the time for which any refusal is delayed. */
const stormLeadMs = 13_000;
/** The maximum share of one processor that other processes may use in a round. */
const mostOfOthers = Number(process.env.NEIGHBOUR_OTHERS ?? 0.05);
/** The promised maximum ratio of the p99 during a storm to the p99 without one, if a limit applies. */
const most = 1.2;
/** How many wrong credentials an address may try in a minute. */
const wrongPerMinute = 100;

/**
 * The storming platform's limit, in requests per second: 5 % or 1 % of the payments that two cores can make.
 * Refused requests cost the same under both limits. Under the higher limit, a polite sender may cost as much as the
 * storm, which hides the storm's effect.
 */
const ways = { 'against its limit': 50, 'against a low limit': 10, 'without a limit': undefined } as const;
type Way = keyof typeof ways;

const neighbours = {
  calm: { readsPerSecond: 200, paymentsPerSecond: 0 },
  /** Alone, this load uses about a third of two cores. At twice this rate, p99 varies tenfold even without a storm. */
  busy: { readsPerSecond: 150, paymentsPerSecond: 50 },
} as const;
type Neighbour = keyof typeof neighbours;

const t = await testGateway({ ROLE: 'serve' });
const stormy = await t.newPlatform('stormy');
const { usd, outsideUsd } = await t.platform.makeScene(1_000_000_000n);
const scene = await stormy.makeScene(1_000_000_000n);
for (let payment = 0; payment < 60; payment += 1) {
  await stormy.succeed('transferOut', moving(scene.usd, scene.outsideUsd, 100));
}
const cost = await stormy.post({ query: expensive, extensions: { cost: true } });
const documentRequests = requestsForCost((await cost.json()).extensions.cost.cost);
const child = await startChildGateway({
  DATABASE_URL: t.databaseUrl,
  NODE_ENV: 'production',
  WRONG_CREDENTIALS_PER_MINUTE: String(wrongPerMinute),
  CLIENT_TOKEN_KEY: 'a key that only this soak uses, for nothing else',
  SECRET_KEY: randomBytes(32).toString('base64'),
});
/** Runs a program only on otherwise idle cores, because a real storm's clients run on other machines. Linux only. */
const whenIdle = ['chrt', '--idle', '0'];
const storm = start('storm.ts', whenIdle);
const calmClient = start('calm.ts');
afterAll(async () => {
  for (const client of [storm, calmClient]) client.kill();
  expect(await child.end('SIGTERM')).toBe(0);
});

/** Starts a program as the leader of a separate session, so that it can have its own priority. */
function start(file: string, runner: readonly string[] = []): ChildProcess {
  const isThere = runner.length > 0 && spawnSync(runner[0] ?? '', ['--version']).status === 0;
  const [execPath = process.execPath, ...execArgv] = [...(isThere ? runner : []), process.execPath];
  return fork(path.join(import.meta.dirname, 'neighbours', file), {
    detached: true,
    execPath,
    execArgv: [...execArgv, '--disable-warning=ExperimentalWarning'],
  });
}

async function round(neighbour: Neighbour, ms = roundMs): Promise<Measured> {
  const { readsPerSecond, paymentsPerSecond } = neighbours[neighbour];
  const reads = { body: { query: accountQuery(usd) }, perSecond: readsPerSecond };
  const input = moving(usd, outsideUsd, 1);
  const payments = { body: { query: payment, variables: { input } }, perSecond: paymentsPerSecond };
  const { authorization } = t.platform;
  calmClient.send({ url: child.url, authorization, requests: [reads, payments], ms } satisfies Calm);
  const [measured] = (await once(calmClient, 'message')) as [Measured];
  return measured;
}

/** Returns the `part` quantile of the latencies, in milliseconds (0.99 for the 99th percentile). */
function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(2));
}
const p99 = ({ took }: Measured) => quantile(took, 0.99);
const median = (values: readonly number[]) => quantile(values, 0.5);

/** Returns the median of all latencies, and the median and the spread of the rounds' p99. */
const summary = (rounds: readonly Measured[]) => {
  const each = rounds.map(p99);
  const p50 = median(rounds.flatMap(({ took }) => took));
  return { p50, p99: median(each), from: quantile(each, 0.1), to: quantile(each, 0.9) };
};

/**
 * Returns how many acts per second a storm may perform within the limit. A document counts as several requests at once,
 * so its rate must be slightly lower. A socket counts as two requests: its opening and its query.
 */
function politeRate(kind: Kind, perSecond: number): number {
  if (kind === 'documents') return (0.95 * perSecond) / documentRequests;
  if (kind === 'sockets') return perSecond / 2;
  return kind === 'wrong credentials' ? wrongPerMinute / 60 : perSecond;
}

type Answers = Record<string, number>;

async function beside(job: Storm, all: Answers, work: () => Promise<void>): Promise<void> {
  storm.send(job);
  await delay(job.perSecond === undefined ? stormLeadMs : leadMs);
  await work();
  storm.send('end');
  const [answers] = (await once(storm, 'message')) as [Answers];
  for (const [answer, count] of Object.entries(answers)) all[answer] = (all[answer] ?? 0) + count;
  // Lets the service deal with what the storm has left behind, such as payments in flight and memory to be freed.
  await delay(leadMs);
}

type Situation = 'alone' | 'polite' | 'storm';

async function measure(neighbour: Neighbour, kind: Kind, way: Way) {
  const perSecond = ways[way];
  const rate: Rate | null = perSecond === undefined ? null : { perSecond, burst: perSecond };
  await changeRates(t.gateway.payments.database, stormy.platformId, tester, { platform: rate });
  const { authorization } = stormy;
  const { usd: from, outsideUsd: to } = scene;
  const storming: Storm = { url: child.url, authorization, connections, kind, perSecond: undefined, from, to };
  // This round warms up the service and outlasts the old limits, which instances cache for two seconds.
  await round(neighbour, 3_000);
  const all: Record<Situation, Measured[]> = { alone: [], polite: [], storm: [] };
  const answers = { polite: {}, storm: {} };
  const others = watchOthers();
  let leftOut = 0;
  const keepRounds = async (measured: Measured[]) => {
    for (let turn = 0; turn < roundsInTurn; turn += 1) {
      others();
      const result = await round(neighbour);
      if (others() > mostOfOthers) leftOut += 1;
      else measured.push(result);
    }
  };
  while (Object.values(all).some(({ length }) => length < cycles)) {
    if (leftOut > 4 * cycles) throw new Error(`other processes were busy in ${leftOut} rounds, so there is no result`);
    await keepRounds(all.alone);
    const polite = { ...storming, perSecond: politeRate(kind, perSecond ?? ways['against its limit']) };
    await beside(polite, answers.polite, () => keepRounds(all.polite));
    await beside(storming, answers.storm, () => keepRounds(all.storm));
  }
  return { answers, leftOut, ...compared(all) };
}

function compared(all: Readonly<Record<Situation, readonly Measured[]>>) {
  const [alone, polite, stormy] = [summary(all.alone), summary(all.polite), summary(all.storm)];
  const half = (rest: number) => summary(all.alone.filter((_, index) => index % 2 === rest)).p99;
  const ratio = (a: number, b: number) => Number((a / b).toFixed(2));
  return {
    ...{ alone, polite, storm: stormy },
    refused: all.storm.reduce((sum, { refused }) => sum + refused, 0),
    stormToPolite: ratio(stormy.p99, polite.p99),
    stormToAlone: ratio(stormy.p99, alone.p99),
    stormToNone: ratio(stormy.p99, Math.max(polite.p99, alone.p99)),
    noise: ratio(half(1), half(0)),
  };
}

const cases = (Object.keys(neighbours) as Neighbour[]).flatMap((neighbour) =>
  (Object.keys(ways) as Way[]).flatMap((way) => kinds.map((kind) => [kind, way, neighbour] as const)),
);

const title = 'during a storm of %s %s, a %s neighbor gets no errors and, if a limit applies, hardly slower responses';
test.each(cases)(title, { timeout: 1_200_000 }, async (kind, way, neighbour) => {
  const measured = await measure(neighbour, kind, way);
  console.log(`${kind} ${way}, ${neighbour}: ${JSON.stringify(measured)}`);
  expect(measured.refused).toBe(0);
  expect(Object.keys(measured.answers.polite)).not.toEqual(expect.arrayContaining([expect.stringMatching(/429|1013/)]));
  if (way !== 'without a limit') expect(measured.stormToNone).toBeLessThanOrEqual(most);
});
