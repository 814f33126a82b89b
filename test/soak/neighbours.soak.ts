import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Rate } from '../../src/access/rates.ts';
import { changeRates } from '../../src/payments/platforms/platform-rates.ts';
import { succeed } from '../setup/acts.ts';
import { type ChildGateway, startChildGateway } from '../setup/child-gateway.ts';
import { startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';
import { tester } from '../setup/tester.ts';
import type { Calm, Measured } from './neighbours/calm.ts';
import { watchProcessors } from './neighbours/machine.ts';
import { accountQuery, type Kind, kinds, type Storm } from './neighbours/storms.ts';

/**
 * What one platform's storm of 300 connections costs another platform: the same requests of the same calm client, in rounds
 * without and with the storm by turns. Each round has a p99; medians of these are compared, and beside them the medians of the
 * odd and of the even rounds without a storm: what differs there is noise. In a third kind of rounds there is no storm, but
 * processes that do nothing use the processors as much as the service and its database did for the storm: what these rounds cost
 * is the machine's. Rounds in which other processes were busy are left out, and made again.
 */

const connections = 300;
/** Rounds with a storm, of each kind. */
const cycles = Number(process.env.NEIGHBOUR_ROUNDS ?? 10);
const roundMs = 2_000;
/** A storm begins so long before its round: 300 connections are opened once, and the storm lasts. */
const leadMs = 1_000;
/** The most of one processor that others may use in a round. */
const mostOfOthers = Number(process.env.NEIGHBOUR_OTHERS ?? 0.05);
/** What the calm client sends a second. */
const calmRate = 200;
/** The promise, for a platform whose neighbour has a limit that fits the machine. */
const most = 1.2;
/** A twentieth of the payments that such a machine makes in a second. */
const limit: Rate = { perSecond: 50, burst: 50 };

/** How a storm blows: within its limit at its own pace, against its limit, or without one. */
const ways = {
  'within its limit': { rate: null, perSecond: limit.perSecond },
  'against its limit': { rate: limit, perSecond: undefined },
  'without a limit': { rate: null, perSecond: undefined },
} as const;
type Way = keyof typeof ways;

let t: TestGateway;
let child: ChildGateway;
let stormy: TestPlatform;
let scene: Scene;
let calm: Omit<Calm, 'ms'>;
let calmClient: ChildProcess;
let storm: ChildProcess;
let burners: ChildProcess[];
beforeAll(async () => {
  t = await startTestGateway({ ROLE: 'serve' });
  stormy = await t.newPlatform('stormy');
  const { usd } = await makeScene(t.platform);
  scene = await makeScene(stormy, 1_000_000_000n);
  for (let payment = 0; payment < 60; payment += 1) {
    const input = { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 100 };
    await succeed(stormy, 'transferOut', input);
  }
  child = await startChildGateway({
    DATABASE_URL: t.databaseUrl,
    NODE_ENV: 'production',
    CLIENT_TOKEN_KEY: 'a key that only this soak uses, for nothing else',
    SECRET_KEY: randomBytes(32).toString('base64'),
  });
  const body = JSON.stringify({ query: accountQuery(usd) });
  calm = { url: child.url, authorization: t.platform.authorization, body, perSecond: calmRate };
  storm = start('storm.ts', whenIdle);
  calmClient = start('calm.ts');
  burners = [start('burn.ts'), start('burn.ts')];
});
afterAll(async () => {
  for (const client of [storm, calmClient, ...burners]) client.kill();
  expect(await child.end('SIGTERM')).toBe(0);
  await t.stop();
});

/** Runs a program on processors that nobody else wants: a real storm takes no time of the service's. Only Linux can. */
const whenIdle = ['chrt', '--idle', '0'];

function start(file: string, runner: readonly string[] = []): ChildProcess {
  const isThere = runner.length > 0 && spawnSync(runner[0] ?? '', ['--version']).status === 0;
  const [execPath = process.execPath, ...execArgv] = [...(isThere ? runner : []), process.execPath];
  return fork(path.join(import.meta.dirname, 'neighbours', file), {
    execPath,
    execArgv: [...execArgv, '--disable-warning=ExperimentalWarning'],
  });
}

/** Lets the calm client send for one round. */
async function round(ms = roundMs): Promise<Measured> {
  calmClient.send({ ...calm, ms } satisfies Calm);
  const [measured] = (await once(calmClient, 'message')) as [Measured];
  return measured;
}

/** The latency in milliseconds that such a part of the values does not exceed. */
function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(2));
}
const p99 = ({ took }: Measured) => quantile(took, 0.99);
const median = (values: readonly number[]) => quantile(values, 0.5);

/** The median of the rounds' p99, and its spread. */
const summary = (rounds: readonly Measured[]) => {
  const each = rounds.map(p99);
  return {
    p50: quantile(
      rounds.flatMap(({ took }) => took),
      0.5,
    ),
    p99: median(each),
    from: quantile(each, 0.1),
    to: quantile(each, 0.9),
  };
};

async function measure(kind: Kind, way: Way) {
  const { rate, perSecond } = ways[way];
  await changeRates(t.gateway.payments.database, 'stormy', tester, { platform: rate });
  const job: Storm = {
    ...{ url: child.url, authorization: stormy.authorization, connections, kind, perSecond },
    ...{ from: scene.usd, to: scene.outsideUsd },
  };
  // What is compiled with the first use is not the storm's fault; and instances remember old limits for two seconds.
  await round(3_000);
  const alone: Measured[] = [];
  const beside: Measured[] = [];
  const besideBurners: Measured[] = [];
  const used: { alone: number[]; storm: number[] } = { alone: [], storm: [] };
  const answers: Record<string, number> = {};
  const processors = watchProcessors([storm, calmClient, ...burners].map(({ pid }) => pid));
  let leftOut = 0;
  const keepRound = async (rounds: Measured[], services: number[] = []) => {
    processors();
    const measured = await round();
    const { service, others } = processors();
    if (others > mostOfOthers) leftOut += 1;
    else {
      rounds.push(measured);
      services.push(service);
    }
  };
  const burn = (part: number) => {
    for (const burner of burners) burner.send(Math.min(1, Math.max(0, part / burners.length)));
  };
  while (alone.length < cycles || beside.length < cycles || besideBurners.length < cycles) {
    if (leftOut > 3 * cycles) throw new Error(`others were busy in ${leftOut} rounds: nothing can be said`);
    await keepRound(alone, used.alone);
    if (used.storm.length > 0) {
      burn(median(used.storm) - median(used.alone));
      await keepRound(besideBurners);
      burn(0);
    }
    storm.send(job);
    await delay(leadMs);
    await keepRound(beside, used.storm);
    storm.send('end');
    const [ended] = (await once(storm, 'message')) as [Record<string, number>];
    for (const [answer, count] of Object.entries(ended)) answers[answer] = (answers[answer] ?? 0) + count;
    // What it has left behind, such as payments under way, is done.
    await delay(300);
  }
  const odd = summary(alone.filter((_, index) => index % 2 === 1));
  const even = summary(alone.filter((_, index) => index % 2 === 0));
  return {
    alone: summary(alone),
    beside: summary(beside),
    besideBurners: summary(besideBurners),
    processors: { alone: median(used.alone), storm: median(used.storm) },
    refused: beside.reduce((sum, { refused }) => sum + refused, 0),
    answers,
    leftOut,
    ratio: Number((summary(beside).p99 / summary(alone).p99).toFixed(2)),
    bound: Number((summary(besideBurners).p99 / summary(alone).p99).toFixed(2)),
    noise: Number((odd.p99 / even.p99).toFixed(2)),
  };
}

const cases = (Object.keys(ways) as Way[]).flatMap((way) => kinds.map((kind) => [kind, way] as const));

test.each(cases)('a storm of %s %s', { timeout: 600_000 }, async (kind, way) => {
  const measured = await measure(kind, way);
  console.log(`${kind} ${way}: ${JSON.stringify(measured)}`);
  expect(measured.refused).toBe(0);
  if (way !== 'without a limit') expect(measured.ratio).toBeLessThanOrEqual(most);
});
