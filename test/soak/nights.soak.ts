import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Prometheus, shortenedRules, startPrometheus, untilHolds } from '../alerts/prometheus.ts';
import { check, type Violation } from '../faults/checker.ts';
import { startFollowers } from '../faults/followers.ts';
import { furnish } from '../faults/furnish.ts';
import { type Load, startLoad } from '../faults/load.ts';
import { usualActs } from '../faults/load-acts.ts';
import { Random } from '../faults/random.ts';
import { gather } from '../faults/under-load.ts';
import { connect } from '../setup/gateway.ts';
import { isOnPath } from '../setup/programs.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { type Installation, install } from './nights/installation.ts';
import { type Night, nights } from './nights/nights.ts';
import { operatorOf } from './nights/operator.ts';

// Stages on-call nights: an installation breaks under load, alerts fire, an operator repairs it, and no command is lost
// or duplicated. The soak itself plays the operator, and uses only documented commands. NIGHTS selects nights. NIGHT=1,
// NIGHT=2 … stages a single night for a person, in an order that NIGHT_SEED decides.

const isInstalled = process.getuid?.() === 0 && isOnPath('prometheus', 'promtool', 'psql');
if (!isInstalled)
  console.warn('Skipped: nights need root on Linux, and the packages prometheus and postgresql-client.');

const seed = Number(process.env.NIGHT_SEED ?? randomInt(1_000_000));
const wanted = new RegExp(process.env.NIGHTS ?? '');
const number = Number(process.env.NIGHT ?? 0);
/** How long alerts may take to fire, and how long an installation may take to recover after its repair. */
const patienceMs = 300_000;
/** How long a client pauses between two commands, so that a long night does not produce too many. */
const restMs = 100;
/** The service counts as recovered after this many acknowledged commands. */
const answering = 10;

/** Alerts that may also fire merely because other work keeps this machine busy. */
const ofBusyMachines = /^Payments(RequestsSlow|LoadRefused|PoolWaits|EventLoopHangs|FeedBehind|FiguresMissing)$/;

describe.skipIf(!isInstalled)('an operator who knows the pages', { timeout: 7_200_000 }, () => {
  const all = 'ends each night, and nothing is lost or doubled meanwhile, with a standby: %s';
  test.skipIf(number > 0).each([false, true])(all, async (hasStandby) => {
    const group = Object.entries(nights).filter(
      ([name, night]) => wanted.test(name) && (night.hasStandby ?? false) === hasStandby,
    );
    if (group.length === 0) return;
    const violations = await inInstallation(hasStandby, async (scene) => {
      for (const [name, night] of group) {
        const staged = await stage(scene, name, night);
        await night.repair(operatorOf(scene.machine));
        await untilSound(scene);
        console.log(`${name}: ${await staged.ended()}`);
      }
      return undefined;
    });
    expect(violations.slice(0, 20)).toEqual([]);
  });

  test.skipIf(number === 0)('ends a night without a name, and nothing is lost or doubled meanwhile', async () => {
    const random = new Random(seed);
    const left = Object.values(nights);
    for (let before = 1; before < number && left.length > 1; before += 1) left.splice(random.below(left.length), 1);
    const night = random.oneOf(left);
    const violations = await inInstallation(night.hasStandby ?? false, async (scene) => {
      const { machine } = scene;
      const staged = await stage(scene, 'the night', night);
      await machine.write('page.md', pageOf(machine, night, staged.fired));
      console.log(`${machine.folder}/page.md`);
      await machine.called();
      for (let wrong = await lastingTroubles(scene); wrong.length > 0; wrong = await lastingTroubles(scene)) {
        await machine.say(`Not yet:\n${wrong.join('\n')}`);
        await machine.called();
      }
      const report = await staged.ended();
      return (found) => machine.say(`It is over: ${report}. Broken promises: ${found.length}`);
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

/**
 * Starts an installation and its load, and runs `pass` on it. Returns the broken promises that were found meanwhile,
 * after passing them to the function that `pass` returned, while the installation still exists.
 */
async function inInstallation(
  hasStandby: boolean,
  pass: (scene: Scene) => Promise<((found: readonly Violation[]) => Promise<void>) | undefined>,
): Promise<readonly Violation[]> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const machine = await install(hasStandby);
    ends.push(() => machine.remove());
    const receiver = await startReceiver();
    ends.push(() => receiver.stop());
    await machine.machine('start', 'postgres');
    if (hasStandby) await machine.machine('start', 'standby');
    const { platform, scenes, start } = await furnish(machine.databaseUrl, receiver, 2, false);
    for (const { unit } of machine.gateways) await machine.machine('start', unit);
    const urls = () => machine.gateways.map(({ url }) => url);
    const { authorization, platformId } = platform;
    const followers = startFollowers(2, urls, authorization, start);
    ends.push(() => Promise.all(followers.map((follower) => follower.stop())));
    let during = 'nothing';
    let mayFail = false;
    const load = startLoad({ urls, authorization, scenes, seed, during: () => during, acts: () => restingActs });
    ends.push(() => load.stop());
    // The operator relies on the alert's text, so the half hour that it mentions must not be shortened.
    const rules = (await shortenedRules()).map((text) =>
      text.replace('snapshot_seconds > 5', 'snapshot_seconds > 1800'),
    );
    const prometheus = await startPrometheus(rules, machine.targets);
    ends.push(() => prometheus.stop());
    const note: Scene['note'] = (name, { fails = false }) => {
      during = name;
      mayFail ||= fails;
    };
    const listener = await pass({ machine, load, prometheus, note });
    await load.stop();
    const asking = connect(urls()[0] ?? '', platformId, authorization);
    const postgres = { url: await machine.primaryUrl() };
    const evidence = await gather(asking, { load, followers, receiver, scenes, start, postgres });
    const violations = check(evidence).filter(({ kind }) => !(mayFail && kind === 'internal error'));
    await listener?.(violations);
    return violations;
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function stage(scene: Scene, name: string, night: Night) {
  const { machine, load, prometheus, note } = scene;
  await load.more(answering);
  await untilSound(scene);
  const [acknowledged, disturbed] = [load.acknowledged, load.disturbed];
  note(name, night);
  const broken = performance.now();
  await night.breakIt(machine);
  const missing = async () => {
    const firing = await prometheus.firing();
    return night.alerts.filter((alert) => !firing.has(alert));
  };
  await untilHolds(
    async () => (await missing()).length === 0,
    async () => [`no ${await missing()}`, ...(await prometheus.firing()).keys()],
    patienceMs,
  );
  const seen = secondsSince(broken);
  const fired = await prometheus.firing();
  const called = performance.now();
  return {
    fired,
    /** Waits until commands are acknowledged again. Returns a report. */
    async ended() {
      const seconds = secondsSince(called);
      await load.more(answering);
      return (
        `${[...fired.keys()].join(', ') || 'no alert'} after ${seen} s, repaired after ${seconds} s; ` +
        `${load.acknowledged - acknowledged} commands acknowledged, ${load.disturbed - disturbed} not`
      );
    },
  };
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

const untilSound = (scene: Scene) =>
  untilHolds(
    async () => (await troubles(scene)).length === 0,
    () => troubles(scene),
    patienceMs,
  );

/** Returns what is still wrong after half a minute, the time that alerts take to resolve. */
async function lastingTroubles(scene: Scene): Promise<string[]> {
  for (const began = performance.now(); ; ) {
    const left = await troubles(scene);
    if (left.length === 0 || secondsSince(began) > 30) return left;
    await delay(500);
  }
}

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

/** Writes the operator's page: the alerts, what people say, and how to reach the machine. */
function pageOf(machine: Installation, { said }: Night, fired: ReadonlyMap<string, string>): string {
  const { folder, gateways, hasStandby } = machine;
  const units = [...gateways.map(({ unit }) => unit), 'postgres', ...(hasStandby ? ['standby'] : [])];
  return [
    ...(fired.size > 0 ? ['The pager shows:', ''] : ['The pager is silent.']),
    ...[...fired].map(([alert, words]) => `- ${alert}: ${words}`),
    '',
    typeof said === 'string' ? said : said(machine),
    '',
    `${folder}/machine start|stop|restart|status|log UNIT   stands for systemctl and journalctl. Units: ${units.join(', ')}`,
    `${folder}/gateway-1.settings   the settings of an instance: set -a; . ${folder}/gateway-1.settings; set +a; npm run ops -- …`,
    `${folder}/psql   psql as a superuser of the database`,
    ...(hasStandby ? [`${folder}/psql-standby   the same on the standby`] : []),
    `${folder}/pgdata   the disk of Postgres; mount -o remount,size=… enlarges it`,
    `${folder}/done   when the night seems to be over`,
    '',
  ].join('\n');
}

const secondsSince = (moment: number) => Math.round((performance.now() - moment) / 1_000);
