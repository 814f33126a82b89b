import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, cp, mkdir, mkdtemp, open, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseEnv, promisify } from 'node:util';
import pg from 'pg';
import { openCluster } from '../../../src/infra/database/embedded/embedded.ts';
import { locateServer } from '../../../src/infra/database/embedded/embedded-location.ts';
import { environment } from '../../faults/furnish.ts';
import { query } from '../../setup/embedded-servers.ts';
import { freePort, listen } from '../../setup/free-port.ts';

/** A production installation in a single folder. An operator starts, stops and repairs it. */
export type Installation = Awaited<ReturnType<typeof install>>;

export type Unit = 'postgres' | 'standby' | 'gateway-1' | 'gateway-2';

const project = path.resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);
/** The arguments that `npm start` passes to Node. */
const program = [
  ...['--disable-warning=ExperimentalWarning', '--import', './src/server/start/compile-cache.ts'],
  'src/main.ts',
];
/** The size of the disk for Postgres, in megabytes. */
const diskSize = 700;
const filler = (bytes: number) => `pg_logical_emit_message(true, 'filler', repeat('x', ${bytes}))`;

/**
 * Installs Postgres on a separate disk, and two instances of the service, without starting them.
 * @param hasStandby whether the primary has a synchronous standby
 */
export async function install(hasStandby: boolean) {
  const folder = await mkdtemp(path.join(tmpdir(), 'night-'));
  await chmod(folder, 0o711);
  const at = (...names: string[]) => path.join(folder, ...names);
  const disk = at('pgdata');
  await mkdir(disk);
  await run('mount', ['-t', 'tmpfs', '-o', `size=${diskSize}m`, 'none', disk]);
  const { primary, standby, servers, programs, user } = await layOutServers(folder, hasStandby);
  const gateways = [
    await layOutGateway(folder, 'gateway-1', servers),
    await layOutGateway(folder, 'gateway-2', servers),
  ];
  const exporter = await exportDisk(disk);
  const ends: (() => unknown)[] = [];
  const { PATH, HOME } = process.env;
  const read = (file: string) => readFile(at(file), 'utf8');
  const settingsOf = async (unit: Unit) => ({ PATH, ...parseEnv(await read(`${unit}.settings`)) });
  const units = new Map<Unit, ChildProcess>();
  const isReady = (unit: Unit) => {
    const metrics = gateways.find((gateway) => gateway.unit === unit)?.metrics;
    return metrics
      ? fetch(`http://${metrics}/health/ready`, { signal: AbortSignal.timeout(3_000) }).then(({ ok }) => ok)
      : query(unit === 'standby' ? standby : primary, 'select').then(() => true);
  };

  /** Starts a unit, and waits briefly until it is ready. A broken unit may never become ready. */
  async function start(unit: Unit) {
    if (isRunning(units.get(unit))) return;
    const log = await open(at(`${unit}.log`), 'a');
    const stdio = ['ignore' as const, log.fd, log.fd];
    const child = unit.startsWith('gateway')
      ? spawn(process.execPath, program, { cwd: project, env: await settingsOf(unit), stdio })
      : spawn(path.join(programs, 'postgres'), ['-D', at('pgdata', unit, 'data')], {
          ...{ cwd: '/', env: { PATH }, stdio },
          ...user,
        });
    await log.close();
    units.set(unit, child);
    const deadline = performance.now() + 15_000;
    while (performance.now() < deadline && isRunning(child) && !(await isReady(unit).catch(() => false)))
      await delay(100);
  }

  /** Stops a unit. Like systemd, kills it if that takes longer than 20 s. */
  async function stop(unit: Unit) {
    const child = units.get(unit);
    if (!isRunning(child)) return;
    // Postgres ends its sessions on SIGINT; on SIGTERM it would wait for them.
    child.kill(unit.startsWith('gateway') ? 'SIGTERM' : 'SIGINT');
    await once(child, 'exit', { signal: AbortSignal.timeout(20_000) }).catch(() => signal(unit, 'SIGKILL'));
  }

  /** Sends a signal to all processes of a unit. After SIGKILL, waits until they are gone. */
  async function signal(unit: Unit, name: 'SIGKILL' | 'SIGSTOP') {
    const first = units.get(unit)?.pid;
    const { stdout } = await run('pgrep', ['-P', String(first)]).catch(() => ({ stdout: '' }));
    const pids = [first, ...stdout.split('\n')].filter(Boolean).map(Number);
    for (const pid of pids) send(pid, name);
    while (name === 'SIGKILL' && pids.some((pid) => send(pid, 0))) await delay(50);
  }

  const openSession = async (program: string, login?: { readonly user: string; readonly password: string }) => {
    const { hostname, port, username, password, pathname } = new URL(primary);
    const client = new pg.Client({
      ...{ host: hostname, port: Number(port), database: pathname.slice(1), application_name: program },
      ...(login ?? { user: username, password }),
    });
    client.on('error', () => undefined);
    ends.push(() => client.end().catch(() => undefined));
    await client.connect();
    return client;
  };
  const free = async () => {
    const { blocks, bavail, bsize } = await statfs(disk);
    return { share: bavail / blocks, bytes: bavail * bsize };
  };
  return {
    folder,
    disk,
    gateways,
    databaseUrl: primary,
    /** The addresses that Prometheus scrapes: those of the instances and of the exporter that reports disk space. */
    targets: [...gateways.map(({ metrics }) => metrics), exporter.target],
    start,
    stop,
    async restart(unit: Unit) {
      await stop(unit);
      await start(unit);
    },
    signal,
    read,
    write: (file: string, text: string) => writeFile(at(file), text),
    async edit(file: string, from: string | RegExp, to: string) {
      const text = await readFile(at(file), 'utf8');
      const edited = text.replace(from, to);
      if (edited === text) throw new Error(`${file} has no ${from}`);
      await writeFile(at(file), edited);
    },
    /** Runs a shell command with the first instance's settings. Returns the output, even if the command fails. */
    async shell(command: string) {
      const env = { HOME, ...(await settingsOf('gateway-1')) };
      const output = run('bash', ['-c', command], { cwd: project, env });
      const { stdout, stderr } = await output.catch(
        (failed: { readonly stdout: string; readonly stderr: string }) => failed,
      );
      return `${stdout}${stderr}`;
    },
    own: (sql: string) => query(primary, sql),
    /** Runs a statement in psql as a superuser. Returns the output. */
    async psql(sql: string, server: 'postgres' | 'standby') {
      const url = server === 'standby' ? standby : primary;
      return (await run('psql', [url, '-X', '-v', 'ON_ERROR_STOP=1', '-c', sql])).stdout;
    },
    /** Opens a superuser session with `program` as its application name. It stays open until someone ends it. */
    async session(program: string, ...statements: readonly string[]) {
      const client = await openSession(program);
      for (const sql of statements) await client.query(sql);
      return client;
    },
    /** Opens connections as a new login until Postgres refuses more, then keeps taking any that become free. */
    async takeConnections(program: string) {
      await query(primary, `create role ${program} login password '${program}'`);
      await query(primary, `grant connect on database payments to ${program}`);
      let isEnded = false;
      ends.push(() => {
        isEnded = true;
      });
      const take = () => openSession(program, { user: program, password: program }).catch(() => undefined);
      while (await take());
      void (async () => {
        for (; !isEnded; await delay(1_000)) while (await take());
      })();
    },
    program(command: string, ...args: readonly string[]) {
      const child = spawn(command, args, { stdio: 'ignore' });
      ends.push(() => child.kill());
    },
    atEnd: (end: () => unknown) => void ends.push(end),
    remount: (options: string) => run('mount', ['-o', `remount,${options}`, disk]),
    /** Fills the disk with a file until only `leftBytes` are free, and then makes Postgres write until it fails. */
    async fill(file: string, leftBytes: number) {
      await run('fallocate', ['-l', String(Math.max(1, (await free()).bytes - leftBytes)), path.join(disk, file)]);
      while (await query(primary, `select ${filler(1_000_000)}`).catch(() => undefined));
    },
    /** Makes Postgres write WAL until no more than the given share of the disk is free. */
    async fillWithLog(share: number) {
      while ((await free()).share > share) await query(primary, `select ${filler(16_000_000)}, pg_switch_wal()`);
    },
    async primaryUrl() {
      const answers = await query(primary, 'select').catch(() => undefined);
      return answers ? primary : standby;
    },
    async remove() {
      for (const end of ends) end();
      for (const unit of ['gateway-1', 'gateway-2', 'standby', 'postgres'] as const) await stop(unit);
      await exporter.stop();
      await run('umount', ['--lazy', disk]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const isRunning = (child: ChildProcess | undefined): child is ChildProcess =>
  child?.exitCode === null && child.signalCode === null;

/** Sends a signal to a process. Signal 0 only checks for existence. Returns whether the process exists. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

const postgresSettings = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
timezone = 'UTC'
max_connections = 100
max_prepared_transactions = 5
shared_buffers = 64MB
min_wal_size = 80MB
max_wal_size = 128MB
archive_mode = on
archive_command = 'true'
# Postgres 18 itself can hang if its recovery fails on a full disk.
restart_after_crash = off
`;

/** Creates the data directories of a primary and, if wanted, a standby. Returns their addresses, programs and user. */
async function layOutServers(folder: string, hasStandby: boolean) {
  const at = (...names: string[]) => path.join(folder, ...names);
  const { password, programs, user } = await openCluster(await locateServer(at('pgdata')), true);
  const [port, standbyPort] = [await freePort(), await freePort()];
  const configure = (unit: Unit, more: string) =>
    appendFile(at('pgdata', unit, 'data/postgresql.conf'), `${postgresSettings}${more}\n`);
  if (hasStandby) {
    await cp(at('pgdata/postgres'), at('pgdata/standby'), { recursive: true });
    const primary = `host=127.0.0.1 port=${port} user=postgres password=${password} application_name=standby`;
    await configure('standby', `port = ${standbyPort}\nprimary_conninfo = '${primary}'`);
    await writeFile(at('pgdata/standby/data/standby.signal'), '');
    await chmod(at('pgdata/standby/data'), 0o700);
    await run('chown', ['-R', `${user?.uid}:${user?.gid}`, at('pgdata/standby')]);
  }
  await configure('postgres', `port = ${port}${hasStandby ? "\nsynchronous_standby_names = 'standby'" : ''}`);
  const addressOf = (servers: string) => `postgresql://postgres:${password}@${servers}/payments`;
  const [primary, standby] = [addressOf(`127.0.0.1:${port}`), addressOf(`127.0.0.1:${standbyPort}`)];
  const servers = addressOf(`127.0.0.1:${port}${hasStandby ? `,127.0.0.1:${standbyPort}` : ''}`);
  return { primary, standby, servers, programs, user };
}

async function layOutGateway(folder: string, unit: 'gateway-1' | 'gateway-2', servers: string) {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const settings = {
    ...{ NODE_ENV: 'production', PORT: port, METRICS_PORT: metricsPort },
    DATABASE_URL: servers.replace('//postgres:', '//gateway:'),
    ...environment,
    ...{ CLIENT_TOKEN_KEY: 'a key that only tests use, for nothing else', ALLOW_UNSAFE: 'loopback-webhooks' },
    LOG_LEVEL: 'info',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(path.join(folder, `${unit}.settings`), lines);
  return { unit, url: `http://127.0.0.1:${port}`, metrics: `127.0.0.1:${metricsPort}` };
}

/** Exports a disk's size and free space, under the metric names that node_exporter uses. */
async function exportDisk(disk: string) {
  const server = createServer(async (_request, response) => {
    const { bsize, blocks, bavail } = await statfs(disk);
    const line = (name: string, value: number) => `node_filesystem_${name}_bytes{mountpoint="${disk}"} ${value}\n`;
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(line('avail', bsize * bavail) + line('size', bsize * blocks));
  });
  const target = `127.0.0.1:${await listen(server)}`;
  return {
    target,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
