import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { type Prometheus, shortenedRules, startPrometheus } from '../alerts/prometheus.ts';
import { check, type Violation } from '../faults/checker.ts';
import { startFollowers } from '../faults/followers.ts';
import { furnish } from '../faults/furnish.ts';
import { type Load, startLoad } from '../faults/load.ts';
import { usualActs } from '../faults/load-acts.ts';
import { gather } from '../faults/under-load.ts';
import { connect } from '../setup/gateway.ts';
import { isOnPath } from '../setup/programs.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { type Installation, install } from './nights/installation.ts';
import { type Night, nights } from './nights/nights.ts';
import { operatorOf } from './nights/operator.ts';

// Simulates on-call nights: an installation breaks under load, alerts fire, an operator repairs it, and no command is
// lost or duplicated. The soak plays the operator, using only documented commands. NIGHTS selects the nights to run.

const isInstalled = process.getuid?.() === 0 && isOnPath('prometheus', 'promtool', 'psql');
if (!isInstalled)
  console.warn('Skipped: nights need root on Linux, and the packages prometheus and postgresql-client.');

const seed = Number(process.env.NIGHT_SEED ?? randomInt(1_000_000));
const wanted = new RegExp(process.env.NIGHTS ?? '');
/** How long alerts may take to fire, and how long an installation may take to recover after its repair. */
const patience = { timeout: 300_000, interval: 200 };
/** How long a client pauses between two commands, so that a long night does not produce too many. */
const restMs = 100;
/** The service counts as recovered after this many acknowledged commands. */
const answering = 10;

/** Alerts that may also fire merely because other work keeps this machine busy. */
const ofBusyMachines = /^Payments(RequestsSlow|LoadRefused|PoolWaits|EventLoopHangs|FeedBehind|FiguresMissing)$/;

describe.skipIf(!isInstalled)('an operator who follows the documentation', { timeout: 7_200_000 }, () => {
  const all = 'repairs each fault, while nothing is lost or duplicated, with a standby: %s';
  test.each([false, true])(all, async (hasStandby) => {
    const group = Object.entries(nights).filter(
      ([name, night]) => wanted.test(name) && (night.hasStandby ?? false) === hasStandby,
    );
    if (group.length === 0) return;
    const violations = await inInstallation(hasStandby, async (scene) => {
      for (const [name, night] of group) console.log(`${name}: ${await passNight(scene, name, night)}`);
    });
    expect(violations.slice(0, 20)).toEqual([]);
  });
});

interface Scene {
  readonly machine: Installation;
  readonly load: Load;
  readonly prometheus: Prometheus;
  /** Records the current night, so that violations can name it. */
  readonly note: (name: string, night: Night) => void;
}

/** Starts an installation, puts it under load, and runs `pass` on it. Returns the violations. */
async function inInstallation(
  hasStandby: boolean,
  pass: (scene: Scene) => Promise<void>,
): Promise<readonly Violation[]> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const machine = await install(hasStandby);
    ends.push(() => machine.remove());
    const receiver = await startReceiver();
    ends.push(() => receiver.stop());
    await machine.start('postgres');
    if (hasStandby) await machine.start('standby');
    const { platform, scenes, start } = await furnish(machine.databaseUrl, receiver, 2, false);
    for (const { unit } of machine.gateways) await machine.start(unit);
    const urls = () => machine.gateways.map(({ url }) => url);
    const { authorization, platformId } = platform;
    const followers = startFollowers(2, urls, authorization, start);
    ends.push(() => Promise.all(followers.map((follower) => follower.stop())));
    let during = 'nothing';
    let mayFail = false;
    const load = startLoad({ urls, authorization, scenes, seed, during: () => during, acts: () => restingActs });
    ends.push(() => load.stop());
    // The operator relies on the text of the snapshot alert, which mentions half an hour, so its threshold must match.
    const rules = (await shortenedRules()).map((text) =>
      text.replace('snapshot_seconds > 5', 'snapshot_seconds > 1800'),
    );
    const prometheus = await startPrometheus(rules, machine.targets);
    ends.push(() => prometheus.stop());
    const note: Scene['note'] = (name, { fails = false }) => {
      during = name;
      mayFail ||= fails;
    };
    await pass({ machine, load, prometheus, note });
    await load.stop();
    const asking = connect(urls()[0] ?? '', platformId, authorization);
    const postgres = { url: await machine.primaryUrl() };
    const evidence = await gather(asking, { load, followers, receiver, scenes, start, postgres });
    return check(evidence).filter(({ kind }) => !(mayFail && kind === 'internal error'));
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** Breaks the installation, repairs it once the alerts fire, and waits until it is sound. Returns a report. */
async function passNight(scene: Scene, name: string, night: Night): Promise<string> {
  const { machine, load, prometheus, note } = scene;
  await load.more(answering);
  await untilSound(scene);
  const [acknowledged, disturbed] = [load.acknowledged, load.disturbed];
  note(name, night);
  const broken = performance.now();
  await night.breakIt(machine);
  const firing = async () => [...(await prometheus.firing()).keys()];
  await vi.waitFor(async () => expect(await firing()).toEqual(expect.arrayContaining([...night.alerts])), patience);
  const seen = secondsSince(broken);
  const fired = (await firing()).join(', ') || 'no alert';
  const called = performance.now();
  await night.repair(operatorOf(machine));
  await untilSound(scene);
  const seconds = secondsSince(called);
  await load.more(answering);
  return (
    `${fired} after ${seen} s, repaired after ${seconds} s; ` +
    `${load.acknowledged - acknowledged} commands acknowledged, ${load.disturbed - disturbed} not`
  );
}

async function troubles({ machine, prometheus }: Scene): Promise<string[]> {
  const seen = [
    ...(await Promise.all(machine.gateways.map(unreadiness))).flat(),
    ...[...(await prometheus.firing())]
      .filter(([alert]) => !ofBusyMachines.test(alert))
      .map(([alert, words]) => `${alert}: ${words}`),
  ];
  if (seen.length > 0) return seen;
  const [, ...findings] = (await machine.shell('npm run -s ops -- doctor')).trim().split('\n');
  return findings.filter((line) => !/^\S.* (ok|skipped) /.test(line));
}

const untilSound = (scene: Scene) => vi.waitFor(async () => expect(await troubles(scene)).toEqual([]), patience);

async function unreadiness({ unit, metrics }: Installation['gateways'][number]): Promise<string[]> {
  const answer = await fetch(`http://${metrics}/health/ready`, { signal: AbortSignal.timeout(5_000) }).then(
    async (response) => `${response.status} ${await response.text()}`,
    String,
  );
  return /"status":"ok"/.test(answer) ? [] : [`${unit}: ${answer}`];
}

const restingActs = usualActs.map((act): typeof act => async (client) => {
  await act(client);
  await delay(restMs);
});

const secondsSince = (moment: number) => Math.round((performance.now() - moment) / 1_000);
