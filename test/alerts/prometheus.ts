import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../setup/free-port.ts';

export const rulesFiles = globSync('deploy/prometheus/*alerts.yml');

export const alertsIn = (rules: string): string[] =>
  [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name);

/** Replacements that lower the rules' durations and thresholds, so that a run takes only minutes. */
const shorter: readonly [time: RegExp, instead: string][] = [
  [/for: \d+[sm]/g, 'for: 0s'],
  [/\[5m\]/g, '[10s]'],
  [/\[1m\]/g, '[10s]'],
  [/(slot_kept_bytes\)) > 10e9/g, '$1 > 1e6'],
  [/(oldest_snapshot_seconds) > 1800/g, '$1 > 5'],
];

export async function shortenedRules(): Promise<string[]> {
  let rules = await Promise.all(rulesFiles.map((file) => readFile(file, 'utf8')));
  for (const [time, instead] of shorter) {
    const shortened = rules.map((text) => text.replace(time, instead));
    if (String(shortened) === String(rules)) throw new Error(`no rule has a duration like ${time}`);
    rules = shortened;
  }
  return rules;
}

interface FiringAlert {
  readonly state: string;
  readonly labels: { readonly alertname: string };
  readonly annotations: { readonly summary: string };
}

/**
 * A real Prometheus that scrapes the instances every three seconds. A scrape takes less time than that even if the
 * database does not respond.
 */
export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

/** @param targets the hosts and ports that serve the metrics */
export async function startPrometheus(rules: readonly string[], targets: readonly string[]) {
  const folder = await mkdtemp(path.join(tmpdir(), 'alerts-'));
  for (const [at, text] of rules.entries()) await writeFile(path.join(folder, `${at}.yml`), text);
  const config = {
    global: { scrape_interval: '3s', scrape_timeout: '3s', evaluation_interval: '1s' },
    rule_files: ['[0-9].yml'],
    // The alerting rules refer to the job by this name.
    scrape_configs: [{ job_name: 'payments', static_configs: [{ targets }] }],
  };
  await writeFile(path.join(folder, 'prometheus.yml'), JSON.stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${path.join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${path.join(folder, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: 'ignore' },
  );
  const ask = async (question: string) => {
    const response = await fetch(`http://${address}/api/v1/${question}`);
    return (await response.json()).data;
  };
  const scraped = () =>
    ask('query?query=up').then(
      ({ result }) => result.filter(({ value: [, up] }: { value: string[] }) => up === '1').length === targets.length,
      () => false,
    );
  while (!(await scraped())) await delay(100);
  return {
    /** Returns the firing alerts' summaries, by alert name. */
    async firing() {
      const { alerts }: { alerts: FiringAlert[] } = await ask('alerts');
      const firing = alerts.filter(({ state }) => state === 'firing');
      return new Map(firing.map(({ labels, annotations }) => [labels.alertname, annotations.summary]));
    },
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      await rm(folder, { recursive: true });
    },
  };
}
