import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { checkCommands } from '../faults/checker.ts';
import { readPayments, readReceipts } from '../faults/evidence.ts';
import { type Load, startLoad } from '../faults/load.ts';
import type { Act } from '../faults/load-acts.ts';
import { moving } from '../setup/acts.ts';
import { connect, type Data, type TestPlatform } from '../setup/gateway.ts';
import { isOnPath } from '../setup/programs.ts';
import type { Scene } from '../setup/scene.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const maxBuffer = 64 * 1024 ** 2;

function machineTrouble(): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs root';
  const missing = ['debootstrap', 'systemd-nspawn', 'nsenter'].filter((program) => !isOnPath(program));
  return missing.length === 0
    ? undefined
    : `${missing.join(' and ')} must be installed (Debian: debootstrap, systemd-container)`;
}

/** A new Debian machine with systemd, in a container that shares this machine's network. */
type Machine = Awaited<ReturnType<typeof startMachine>>;

/** The certificates that this machine trusts. The new machine needs them if the network has its own CA. */
const trusted = '/etc/ssl/certs/ca-certificates.crt';

/** Boots a machine with the given Debian release. Scripts run on it find a clone of the repository at `$REPOSITORY`. */
async function startMachine(release: string) {
  const folder = await mkdtemp('/var/tmp/machine-');
  // The folder becomes the machine's root directory, which all of its users must be able to enter.
  await chmod(folder, 0o755);
  const remove = () => rm(folder, { recursive: true, force: true });
  const packages = '--include=systemd,systemd-sysv,dbus,procps,ca-certificates';
  await run('debootstrap', ['--variant=minbase', packages, release, folder], { maxBuffer });
  await mkdir(path.join(folder, 'srv'), { recursive: true });
  await run('git', ['clone', '-q', '--bare', root, path.join(folder, 'srv/repository.git')]);
  if (existsSync(trusted)) copyFileSync(trusted, path.join(folder, trusted));
  const container = spawn(
    'systemd-nspawn',
    ['--quiet', '--register=no', '--keep-unit', '--console=pipe', '--resolv-conf=copy-host', '-D', folder, '--boot'],
    { stdio: 'ignore' },
  );
  const ended = once(container, 'exit');
  const leader = () =>
    readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, 'utf8').trim().split(' ')[0];
  const machine = {
    /** Runs a script as root, and returns its output. @throws Error with the output if the script fails */
    async run(script: string) {
      const environment = {
        HOME: '/root',
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        REPOSITORY: '/srv/repository.git',
        NODE_EXTRA_CA_CERTS: trusted,
        ...(process.env.npm_config_registry && { npm_config_registry: process.env.npm_config_registry }),
      };
      const first = leader();
      if (!first) throw new Error('the machine has not begun to boot');
      const inside = ['-t', first, '-m', '-u', '-i', '-p', '-C', '--', 'sh', '-eu'];
      const running = run('nsenter', inside, { env: environment, maxBuffer });
      // Ignores write errors, because the exit code shows whether the script succeeded.
      running.child.stdin?.on('error', () => undefined);
      running.child.stdin?.end(script);
      const { stdout } = await running.catch(({ stdout = '', stderr = '' }: { stdout?: string; stderr?: string }) => {
        throw new Error(`${script}\nfailed:\n${stdout.slice(-2_000)}\n${stderr.slice(-2_000)}`);
      });
      return stdout;
    },
    async stop() {
      await machine.run('systemctl poweroff --force').catch(() => undefined);
      const first = leader();
      const timer = setTimeout(() => {
        // Kills all processes in the machine.
        if (first) process.kill(Number(first), 'SIGKILL');
        container.kill('SIGKILL');
      }, 20_000);
      await ended;
      clearTimeout(timer);
      await remove();
    },
  };
  try {
    await vi.waitFor(() => machine.run(isUp), { timeout: 60_000, interval: 500 });
  } catch (error) {
    await machine.stop();
    throw error;
  }
  return machine;
}

/** Succeeds once the machine has booted, even if some units have failed. */
const isUp = 'case "$(systemctl is-system-running)" in running | degraded) ;; *) exit 1 ;; esac';

// Follows docs/production.md to the letter on a new Debian machine, whose parts then fail one after another under load.

const trouble = machineTrouble();
if (trouble) console.log(`skipped: ${trouble}`);

const page = readFileSync(path.join(root, 'docs/production.md'), 'utf8');
/** The ports that the page uses, which must be free because the new machine shares this machine's network. */
const ports = [80, 4001, 4002, 5432, 5433, 6432, 9090, 9461, 9462];

/** The headings and scripts of the page's steps. */
const steps = page
  .split(/^## (?=\d+\. )/m)
  .slice(1)
  .map((step) => ({
    name: step.slice(0, step.indexOf('\n')),
    script: [...step.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, script]) => script).join('\n'),
  }));

const scriptOf = (heading: string) =>
  steps.find(({ name }) => name.endsWith(heading))?.script ?? expect.fail(`the page has no step "${heading}"`);

const stopPostgres = 'pg_ctlcluster 15 main stop -m immediate';

const underLoad = ['Upgrade', 'Fail over to the replica'];

/** The page's settings for operator commands. */
const operator = [
  'cd /opt/payments-gateway',
  ...(scriptOf('Create the first platform').match(/^export .*$/gm) ?? []),
].join('\n');

let machine: Machine;
let platform: TestPlatform;
let scene: Scene;
/** A second platform, whose payments share database connections with those of the first. */
let other: TestPlatform;

async function requireFreePort(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening').catch((cause: unknown) => {
    throw new Error(`the port ${port} is taken here`, { cause });
  });
  await new Promise((resolve) => server.close(resolve));
}

const fetchJson = async (url: string): Promise<Data> => (await fetch(url)).json();

/** Returns the alerts whose expressions are true now, even if they have not been true for long enough to fire. */
async function alerts(): Promise<string[]> {
  const { data } = await fetchJson('http://127.0.0.1:9090/api/v1/alerts');
  return data.alerts.map(({ labels }: Data) => labels.alertname);
}

/** How many clients make payments through the load balancer, and how long each pauses after a payment. */
const callers = 8;
const restMs = 20;

const payment: Act = async ({ transfer, scene: { usd, outsideUsd } }) => {
  await transfer('transferOut', moving(usd, outsideUsd, 100), { change: -100n });
  await delay(restMs);
};

/** Measures, until `isOver`, the longest time without an acknowledged payment, in milliseconds. */
async function longestPause(load: Load, isOver: () => boolean): Promise<number> {
  let longest = 0;
  while (!isOver()) {
    const since = performance.now();
    await load.more(1);
    longest = Math.max(longest, performance.now() - since);
  }
  return Math.round(longest);
}

describe.runIf(trouble === undefined)('a new machine', { timeout: 1_800_000 }, () => {
  beforeAll(async () => {
    for (const port of ports) await requireFreePort(port);
    machine = await startMachine('bookworm');
  }, 600_000);
  afterAll(() => machine?.stop());

  const atRest = steps.filter(({ name }) => !underLoad.some((heading) => name.endsWith(heading)));
  test.each(atRest)('$name', async ({ script }) => {
    expect(script).not.toBe('');
    const began = performance.now();
    const printed = await machine.run(script);
    console.log(
      `${Math.round((performance.now() - began) / 1_000)} s\n${printed.trim().split('\n').slice(-20).join('\n')}`,
    );
    if (!script.includes('doctor')) return;
    expect(printed).toContain('"kind":"PLATFORM"');
    expect(printed).not.toMatch(/ (warning|fault) /);
    const { id, authorization } = JSON.parse(await machine.run('cat /root/acme.json'));
    platform = connect('http://127.0.0.1', id, authorization);
    scene = await platform.makeScene(1_000_000n);
    const second = JSON.parse(
      await machine.run(`${operator}\nnpm run -s ops -- --json platform create beta --sandbox`),
    );
    other = connect('http://127.0.0.1', second.id, second.authorization);
    const { usd } = await other.makeScene();
    const funding = Array.from({ length: 50 }, () => [platform.fund(scene.usd, 1n), other.fund(usd, 1n)]);
    await Promise.all(funding.flat());
  });

  test('is monitored: both instances answer Prometheus, and no alert fires', async () => {
    await vi.waitFor(
      async () => {
        const { data } = await fetchJson('http://127.0.0.1:9090/api/v1/query?query=sum(up%7Bjob%3D%22payments%22%7D)');
        expect(data.result[0]?.value[1]).toBe('2');
      },
      { timeout: 30_000, interval: 500 },
    );
    expect(await alerts()).toEqual([]);
  });

  test('payments continue while its parts fail one after another, and none is lost or duplicated', async () => {
    await platform.fund(scene.usd, 100_000_000n);
    let during = 'nothing';
    const load = startLoad({
      ...{ urls: () => ['http://127.0.0.1'], authorization: platform.authorization, seed: Date.now() },
      ...{ scenes: Array<Scene>(callers).fill(scene), during: () => during, acts: () => [payment] },
    });
    const faults: readonly (readonly [name: string, begin: string, seconds: number, end: string])[] = [
      ['kill -9 of an instance', 'systemctl kill -s KILL payments-gateway@1', 15, ''],
      ['an instance stopped', 'systemctl stop payments-gateway@1', 20, 'systemctl start payments-gateway@1'],
      ['an upgrade, instance by instance', scriptOf('Upgrade'), 5, ''],
      ['HAProxy reloaded', 'systemctl reload haproxy', 5, ''],
      ['kill -9 of PgBouncer', 'systemctl kill -s KILL pgbouncer', 10, 'systemctl restart pgbouncer'],
      ['the replica stopped', 'systemctl stop postgresql@15-replica', 20, 'systemctl start postgresql@15-replica'],
      ['immediate stop of Postgres', stopPostgres, 10, 'systemctl start postgresql@15-main'],
      ['failover to the replica, and a new replica', scriptOf('Fail over to the replica'), 10, ''],
    ];
    const table: object[] = [];
    for (const [fault, begin, seconds, end] of faults) {
      await delay(8_000);
      during = fault;
      const [disturbed, troubles] = [load.disturbed, load.troubles.length];
      const seen = new Set<string>();
      const watch = async (until: number) => {
        while (performance.now() < until) {
          for (const name of await alerts()) seen.add(name);
          await delay(500);
        }
      };
      let isOver = false;
      const pause = longestPause(load, () => isOver);
      await machine.run(begin);
      await watch(performance.now() + seconds * 1_000);
      if (end) await machine.run(end);
      await watch(performance.now() + 15_000);
      isOver = true;
      table.push({
        ...{ fault, seconds, longestPauseMs: await pause, alerts: [...seen] },
        ...{ failedAttempts: load.disturbed - disturbed, examples: load.troubles.slice(troubles, troubles + 5) },
      });
    }
    await load.stop();
    console.log(JSON.stringify(table, undefined, 1));
    expect(load.internalErrors).toEqual([]);
    const { history } = load;
    const payments = await readPayments(platform);
    const receipts = await readReceipts(platform, history);
    expect(checkCommands({ history, payments, receipts, feed: [] }).slice(0, 20)).toEqual([]);
    console.log({ acknowledged: load.acknowledged, payments: payments.length });
    console.log(await machine.run(`${operator}\nnpm run -s ops -- audit`));
  });
});
