import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { type Prometheus, rulesFiles, shortenedRules, startPrometheus } from '../alerts/prometheus.ts';
import type { Stage, StagedFault } from '../alerts/staged-fault.ts';
import { scenes } from '../alerts/staged-faults.ts';
import type { Surroundings } from '../faults/faults.ts';
import { summaryOf, underLoad } from '../faults/under-load.ts';
import { secretKey } from '../setup/cursors.ts';
import { query } from '../setup/embedded-servers.ts';
import { freePort } from '../setup/free-port.ts';
import { connect, uuidIn } from '../setup/gateway.ts';
import { runOps } from '../setup/ops.ts';
import { isOnPath } from '../setup/programs.ts';

// Injects the faults from test/alerts, one after the other, while clients move money. Most faults hit two instances;
// replica faults hit two others, which have a replica. A real Prometheus scrapes the instances, and evaluates the rules
// from deploy/prometheus with shortened times. ALERT_FAULTS, a regular expression, selects faults by name.

const isInstalled = isOnPath('prometheus', 'promtool');
if (!isInstalled) console.warn('Skipped: the alerts in a real Prometheus. They need the package prometheus.');

const seed = Number(process.env.FAULT_SEED ?? randomInt(1_000_000));
const wanted = new RegExp(process.env.ALERT_FAULTS ?? '');
/** The longest time that an alert may take to fire or to be resolved. */
const patience = { timeout: 120_000, interval: 200 };
/** The service counts as recovered after this many acknowledged commands. */
const answering = 5;

/** How long a fault's alerts took to fire and to be resolved, in milliseconds, and how the load fared meanwhile. */
interface Measured {
  readonly name: string;
  readonly fault: StagedFault;
  readonly seen: ReadonlyMap<string, number>;
  readonly resolvedMs: number;
  readonly answersMs: number;
  readonly acknowledged: number;
  readonly disturbed: number;
}

describe.skipIf(!isInstalled)('the alert rules, in a real Prometheus', () => {
  test('parse', () => {
    expect(execFileSync('promtool', ['check', 'rules', ...rulesFiles], { encoding: 'utf8' })).toContain('SUCCESS');
  });

  const title = 'detect each fault and its end, while nothing is lost or duplicated, with a replica: $hasReplica';
  test.each(scenes)(title, { timeout: 3_600_000 }, async ({ hasReplica, faults }) => {
    const chosen = Object.entries(faults).filter(([name]) => wanted.test(name));
    if (chosen.length === 0) return;
    const ports = [await freePort(), await freePort()];
    const options = {
      ...{ seed, instances: 2, clients: 2, followers: 1, hasReplica },
      settings: (position: number) => ({ METRICS_PORT: String(ports[position]), MAX_IN_FLIGHT: '32' }),
    };
    const failed: string[] = [];
    const outcome = await underLoad(options, async (around, note) => {
      const targets = ports.map((port) => `127.0.0.1:${port}`);
      const prometheus = await startPrometheus(await shortenedRules(), targets);
      const stage = await stageOf(around);
      const measured: Measured[] = [];
      for (const [name, fault] of chosen) {
        const skipped = fault.unavailable?.(around.postgres);
        if (skipped !== undefined) {
          console.log(`${name}: SKIPPED, ${skipped}`);
          continue;
        }
        note(name);
        try {
          const one = await measure(prometheus, stage, name, fault);
          console.log(cellsOf(one).join(' | '));
          measured.push(one);
        } catch (error) {
          failed.push(`${name}: ${error}`);
        }
      }
      await prometheus.stop();
      return measured;
    });
    const { told, violations } = outcome;
    const count = (kind: 'lost' | 'doubled', name: string) =>
      violations.filter((violation) => violation.kind === kind && violation.during === name).length;
    const rows = told.map((one) => [...cellsOf(one), count('lost', one.name), count('doubled', one.name)]);
    const table = [
      '| Fault, and how it is staged | Seen by, after | Resolved after | Answers after | Acknowledged | Not | Lost | Doubled |',
      '|---|---|--:|--:|--:|--:|--:|--:|',
      ...rows.map((cells) => `| ${cells.join(' | ')} |`),
    ];
    console.log(`${table.join('\n')}\n\n${summaryOf(outcome)} (seed ${seed})`);
    expect(failed).toEqual([]);
    expect(violations.slice(0, 20)).toEqual([]);
  });
});

/** Returns what a fault acts on: the first instance, and a second platform on it. */
async function stageOf(around: Surroundings): Promise<Stage> {
  const { databaseUrl } = around;
  const ops: Stage['ops'] = async (...args) =>
    JSON.parse((await runOps(databaseUrl, ['--json', ...args], { SECRET_KEY: secretKey })).out);
  const { id, authorization } = await ops('platform', 'create', 'other', '--sandbox');
  const [instance] = around.instances;
  if (!instance) throw new Error('there is no instance');
  return {
    ...around,
    instance,
    // An instance's address changes each time it starts.
    get other() {
      return connect(instance.url, uuidIn(id), authorization);
    },
    ops,
    own: (sql) => query(databaseUrl, sql),
  };
}

async function measure(prometheus: Prometheus, stage: Stage, name: string, fault: StagedFault): Promise<Measured> {
  const { load } = stage;
  const firing = async () => [...(await prometheus.firing()).keys()];
  await vi.waitFor(async () => expect(await firing(), `before ${name}`).toEqual([]), patience);
  const [acknowledged, disturbed] = [load.acknowledged, load.disturbed];
  const began = performance.now();
  const [end, cleanUp] = await fault.stage(stage);
  const seen = new Map<string, number>();
  const expectAll = async () => {
    for (const alert of await firing())
      if (fault.alerts.includes(alert) && !seen.has(alert)) seen.set(alert, performance.now() - began);
    expect([...seen.keys()]).toEqual(expect.arrayContaining([...fault.alerts]));
  };
  const late = await vi.waitFor(expectAll, patience).catch((error: unknown) => error);
  const ended = performance.now();
  const answers = load.more(answering).then(() => performance.now() - ended);
  answers.catch(() => undefined);
  await end();
  const left = async () => (await firing()).filter((alert) => fault.alerts.includes(alert));
  await vi.waitFor(async () => expect(await left()).toEqual([]), patience);
  const resolvedMs = performance.now() - ended;
  const answersMs = await answers;
  await cleanUp?.();
  if (late !== undefined) throw late;
  return {
    ...{ name, fault, seen, resolvedMs, answersMs },
    acknowledged: load.acknowledged - acknowledged,
    disturbed: load.disturbed - disturbed,
  };
}

/** Returns all but the last two cells of a row for the table in docs/faults.md. */
function cellsOf({ name, fault, seen, resolvedMs, answersMs, acknowledged, disturbed }: Measured) {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  const alerts = [...seen].map(([alert, ms]) => `\`${alert}\` ${seconds(ms)}`).join(', ');
  return [`**${name}**: ${fault.staged}`, alerts, seconds(resolvedMs), seconds(answersMs), acknowledged, disturbed];
}
