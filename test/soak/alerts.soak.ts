import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { uuidOf } from '../../src/core/ids.ts';
import { type Prometheus, rulesFiles, shortenedRules, startPrometheus, untilHolds } from '../alerts/prometheus.ts';
import type { Stage, StagedFault } from '../alerts/staged-fault.ts';
import { scenes } from '../alerts/staged-faults.ts';
import type { Surroundings } from '../faults/faults.ts';
import type { Command } from '../faults/history.ts';
import { underLoad } from '../faults/under-load.ts';
import { secretKey } from '../setup/cursors.ts';
import { query } from '../setup/embedded-servers.ts';
import { freePort } from '../setup/free-port.ts';
import { connect } from '../setup/gateway.ts';
import { runOps } from '../setup/ops.ts';
import { isOnPath } from '../setup/programs.ts';

// Injects each fault from test/alerts, one after the other, while clients move money. The faults hit two instances;
// replica faults hit two other instances that have a replica. A real Prometheus scrapes the instances, using the rules
// from deploy/prometheus with shortened times. ALERT_FAULTS selects faults.

const isInstalled = isOnPath('prometheus', 'promtool');
if (!isInstalled) console.warn('Skipped: the alerts in a real Prometheus. Install the package prometheus for them.');

const seed = Number(process.env.FAULT_SEED ?? randomInt(1_000_000));
const wanted = new RegExp(process.env.ALERT_FAULTS ?? '');
/** The longest time that an alert may take to fire or to be resolved. */
const patienceMs = 120_000;
/** The service counts as answering again after this many acknowledged commands. */
const answering = 5;

/** How long a fault's alerts took to fire, and what was measured after the fault's end, in milliseconds. */
interface Measured {
  readonly name: string;
  readonly fault: StagedFault;
  readonly seen?: ReadonlyMap<string, number>;
  readonly resolvedMs?: number;
  readonly answersMs?: number;
  readonly acknowledged?: number;
  readonly disturbed?: number;
  /** Why the fault was not measured. */
  readonly skipped?: string;
  readonly failed?: string;
}

describe.skipIf(!isInstalled)('the alert rules, in a real Prometheus', () => {
  test('parse', () => {
    expect(execFileSync('promtool', ['check', 'rules', ...rulesFiles], { encoding: 'utf8' })).toContain('SUCCESS');
  });

  const title = 'see each fault and its end, and nothing is lost or doubled meanwhile, with a replica: $hasReplica';
  test.each(scenes)(title, { timeout: 3_600_000 }, async ({ hasReplica, faults }) => {
    const chosen = Object.entries(faults).filter(([name]) => wanted.test(name));
    if (chosen.length === 0) return;
    const ports = [await freePort(), await freePort()];
    const options = {
      ...{ seed, instances: 2, clients: 2, followers: 1, hasReplica },
      settings: (position: number) => ({
        ...{ METRICS_PORT: String(ports[position]), MAX_IN_FLIGHT: '32' },
      }),
    };
    const {
      told,
      evidence,
      violations,
      seconds: took,
    } = await underLoad(options, async (around, note) => {
      const prometheus = await startPrometheus(
        await shortenedRules(),
        ports.map((port) => `127.0.0.1:${port}`),
      );
      try {
        return await measureAll(prometheus, around, { chosen, note });
      } finally {
        await prometheus.stop();
      }
    });
    const count = (kind: 'lost' | 'doubled', name: string) =>
      violations.filter((violation) => violation.kind === kind && violation.during === name).length;
    const ended = (outcome: Command['outcome']) => evidence.history.filter((one) => one.outcome === outcome).length;
    console.log(
      `${tableOf(told, count)}\n\n${evidence.history.length} commands in ${Math.round(took)} s: ${ended('succeeded')} acknowledged, ` +
        `${ended('refused')} refused, ${ended('unknown')} unknown; ${evidence.feed.length} changes; ${violations.length} violations (seed ${seed})`,
    );
    expect(told.filter(({ failed }) => failed !== undefined).map(({ name, failed }) => [name, failed])).toEqual([]);
    expect(violations.slice(0, 20)).toEqual([]);
  });
});

async function measureAll(
  prometheus: Prometheus,
  around: Surroundings,
  { chosen, note }: { readonly chosen: [string, StagedFault][]; readonly note: (name: string) => void },
): Promise<Measured[]> {
  const ops = operatorOn(around.databaseUrl);
  const { id, authorization } = await ops('platform', 'create', 'other', '--sandbox');
  const measured: Measured[] = [];
  for (const [name, fault] of chosen) {
    const skipped = fault.unavailable?.(around.postgres);
    if (skipped !== undefined) {
      measured.push({ name, fault, skipped });
      continue;
    }
    const [instance] = around.instances;
    if (!instance) throw new Error('there is no instance');
    const stage: Stage = {
      ...around,
      instance,
      other: connect(instance.url, uuidOf(id, 'Platform') ?? '', authorization),
      ops,
      own: (sql) => query(around.databaseUrl, sql),
    };
    note(name);
    measured.push(
      await measure(prometheus, stage, name, fault).catch(
        (error: unknown): Measured => ({ name, fault, failed: String(error) }),
      ),
    );
    console.log(lineOf(measured.at(-1)));
  }
  return measured;
}

/**
 * Injects a fault until its alerts fire, and then ends it. Waits until the alerts are resolved and commands are
 * acknowledged.
 */
async function measure(prometheus: Prometheus, stage: Stage, name: string, fault: StagedFault): Promise<Measured> {
  const { load } = stage;
  await untilHolds(
    async () => (await prometheus.firing()).size === 0,
    () => `alerts fire before ${name}`,
    patienceMs,
  );
  const [acknowledged, disturbed] = [load.acknowledged, load.disturbed];
  const since = stopwatch();
  const { end, cleanUp } = await fault.stage(stage);
  const seen = new Map<string, number>();
  const allSeen = async () => {
    const firing = await prometheus.firing();
    for (const alert of fault.alerts) if (firing.has(alert) && !seen.has(alert)) seen.set(alert, since());
    return seen.size === fault.alerts.length;
  };
  const late = await untilHolds(allSeen, () => `not all of ${fault.alerts} fire`, patienceMs).catch(
    (error: unknown) => error,
  );
  const sinceEnd = stopwatch();
  const answers = load.more(answering).then(sinceEnd);
  answers.catch(() => undefined);
  await end();
  const noneFires = async () => {
    const firing = await prometheus.firing();
    return !fault.alerts.some((alert) => firing.has(alert));
  };
  await untilHolds(noneFires, () => `some of ${fault.alerts} still fire`, patienceMs);
  const resolvedMs = sinceEnd();
  const answersMs = await answers;
  await cleanUp?.();
  if (late !== undefined) throw late;
  return {
    ...{ name, fault, seen, resolvedMs, answersMs },
    acknowledged: load.acknowledged - acknowledged,
    disturbed: load.disturbed - disturbed,
  };
}

function stopwatch(): () => number {
  const began = performance.now();
  return () => performance.now() - began;
}

/** Returns a function that runs operator commands with the instances' keys. */
function operatorOn(databaseUrl: string): Stage['ops'] {
  return async (...args) => JSON.parse((await runOps(databaseUrl, ['--json', ...args], { SECRET_KEY: secretKey })).out);
}

const seconds = (ms = 0) => (ms / 1_000).toFixed(1);

function lineOf(measured: Measured | undefined): string {
  if (!measured) return '';
  const { name, seen, resolvedMs, answersMs, skipped, failed } = measured;
  if (skipped ?? failed) return `${name}: ${skipped ? 'SKIPPED' : 'FAILED'}, ${skipped ?? failed}`;
  const when = [...(seen ?? [])].map(([alert, ms]) => `${alert} after ${seconds(ms)} s`).join(', ');
  return `${name}: ${when}; resolved ${seconds(resolvedMs)} s, answers ${seconds(answersMs)} s after its end`;
}

/** Builds the table of docs/faults.md. */
function tableOf(all: readonly Measured[], count: (kind: 'lost' | 'doubled', name: string) => number): string {
  const rows = all
    .filter(({ seen }) => seen !== undefined)
    .map(({ name, fault, seen, resolvedMs, answersMs, acknowledged, disturbed }) => {
      const alerts = [...(seen ?? [])].map(([alert, ms]) => `\`${alert}\` ${seconds(ms)} s`).join(', ');
      const cells = [
        ...[`**${name}**: ${fault.staged}`, alerts, `${seconds(resolvedMs)} s`, `${seconds(answersMs)} s`],
        ...[acknowledged, disturbed, count('lost', name), count('doubled', name)],
      ];
      return `| ${cells.join(' | ')} |`;
    });
  return [
    '| Fault, and how it is staged | Seen by, after | Resolved after | Answers after | Acknowledged | Not | Lost | Doubled |',
    '|---|---|--:|--:|--:|--:|--:|--:|',
    ...rows,
  ].join('\n');
}
