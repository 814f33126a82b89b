import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { openCluster } from '../../../src/infra/database/embedded/embedded.ts';
import { locateServer } from '../../../src/infra/database/embedded/embedded-location.ts';
import { environment } from '../../faults/furnish.ts';
import { query } from '../../setup/embedded-servers.ts';
import { freePort, listen } from '../../setup/free-port.ts';

/** A production installation in a single folder, which its operator starts, stops and repairs from a shell. */
export type Installation = Awaited<ReturnType<typeof install>>;

export type Unit = 'postgres' | 'standby' | 'gateway-1' | 'gateway-2';

const project = path.resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);
/** The size of the disk for Postgres, in megabytes. */
const diskSize = 700;
const filler = (bytes: number) => `pg_logical_emit_message(true, 'filler', repeat('x', ${bytes}))`;

/**
 * Installs Postgres, on a separate disk, and two instances, without starting them.
 * @param hasStandby whether a second Postgres follows the first one synchronously
 */
export async function install(hasStandby: boolean) {
  const folder = await mkdtemp(path.join(tmpdir(), 'night-'));
  await chmod(folder, 0o711);
  const at = (...names: string[]) => path.join(folder, ...names);
  const disk = at('pgdata');
  await mkdir(disk);
  await run('mount', ['-t', 'tmpfs', '-o', `size=${diskSize}m`, 'none', disk]);
  const { primary, standby, servers } = await layOutServers(folder, hasStandby);
  const gateways = [
    await layOutGateway(folder, 'gateway-1', servers),
    await layOutGateway(folder, 'gateway-2', servers),
  ];
  const exporter = await exportDisk(disk);
  const ends: (() => unknown)[] = [];
  const machine = async (action: 'start' | 'stop' | 'restart' | 'status' | 'log', unit: Unit) =>
    (await run(at('machine'), [action, unit])).stdout;
  const open = async (program: string, login?: { readonly user: string; readonly password: string }) => {
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
    hasStandby,
    databaseUrl: primary,
    /** The addresses that Prometheus scrapes: those of the instances and of the exporter of disk space. */
    targets: [...gateways.map(({ metrics }) => metrics), exporter.target],
    /** Starts or stops a unit, or shows its status or log. Returns the output. */
    machine,
    read: (file: string) => readFile(at(file), 'utf8'),
    write: (file: string, text: string) => writeFile(at(file), text),
    async edit(file: string, from: string | RegExp, to: string) {
      const text = await readFile(at(file), 'utf8');
      const edited = text.replace(from, to);
      if (edited === text) throw new Error(`${file} has no ${from}`);
      await writeFile(at(file), edited);
    },
    /** Runs a shell command with the first instance's settings. Returns the output, even if the command fails. */
    async shell(command: string) {
      const script = `set -a; . ${at('gateway-1.settings')}; cd ${project}; ${command}`;
      const { PATH, HOME } = process.env;
      const output = run('bash', ['-c', script], { env: { PATH, HOME } });
      const { stdout, stderr } = await output.catch(
        (failed: { readonly stdout: string; readonly stderr: string }) => failed,
      );
      return `${stdout}${stderr}`;
    },
    own: (sql: string) => query(primary, sql),
    /** Opens a session as the superuser, under a program's name. The session stays open until someone else ends it. */
    async session(program: string, ...statements: readonly string[]) {
      const client = await open(program);
      for (const sql of statements) await client.query(sql);
      return client;
    },
    /** Opens sessions with a new login until Postgres accepts no more, and again whenever it accepts some. */
    async takeConnections(program: string) {
      await query(primary, `create role ${program} login password '${program}'`);
      await query(primary, `grant connect on database payments to ${program}`);
      let isEnded = false;
      ends.push(() => {
        isEnded = true;
      });
      const take = () => open(program, { user: program, password: program }).catch(() => undefined);
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
    async processes(unit: Unit) {
      const first = (await readFile(at(`${unit}.pid`), 'utf8')).trim();
      const { stdout } = await run('pgrep', ['-P', first]).catch(() => ({ stdout: '' }));
      return [first, ...stdout.trim().split('\n')].filter(Boolean).map(Number);
    },
    remount: (options: string) => run('mount', ['-o', `remount,${options}`, disk]),
    /** Fills the disk with a file until only this many bytes are free, and makes Postgres write until it fails. */
    async fill(file: string, leftBytes: number) {
      await run('fallocate', ['-l', String(Math.max(1, (await free()).bytes - leftBytes)), path.join(disk, file)]);
      while (await query(primary, `select ${filler(1_000_000)}`).catch(() => undefined));
    },
    /** Makes Postgres write to its log until only this share of the disk is free. */
    async fillWithLog(share: number) {
      while ((await free()).share > share) await query(primary, `select ${filler(16_000_000)}, pg_switch_wal()`);
    },
    async primaryUrl() {
      const answers = await query(primary, 'select').catch(() => undefined);
      return answers ? primary : standby;
    },
    async called() {
      while (!existsSync(at('called'))) await delay(200);
      await rm(at('called'));
    },
    /** Gives the verdict to the operator who has declared the night over, and waits until it has been read. */
    async say(verdict: string) {
      await writeFile(at('verdict'), `${verdict}\n`);
      while (existsSync(at('verdict'))) await delay(200);
    },
    async remove() {
      for (const end of ends) end();
      for (const unit of ['gateway-1', 'gateway-2', 'standby', 'postgres'] as const) await machine('stop', unit);
      await exporter.stop();
      await run('umount', ['--lazy', disk]);
      await rm(folder, { recursive: true, force: true });
    },
  };
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

/** Declares the night over, and waits for the verdict. */
const doneScript = `#!/bin/sh
cd "$(dirname "$0")" && touch called
until [ -s verdict ]; do sleep 0.2; done
cat verdict && rm verdict
`;

/** Creates the data directories of Postgres and a standby, and the operator's programs. Returns the addresses. */
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
  const settings = {
    ...{ PROJECT: project, NODE: process.execPath, POSTGRES: path.join(programs, 'postgres') },
    ...{ POSTGRES_USER: user?.uid, POSTGRES_PORT: port, STANDBY_PORT: standbyPort },
  };
  await writeFile(at('machine.conf'), linesOf(settings));
  await copyFile(path.join(import.meta.dirname, 'machine.sh'), at('machine'));
  await writeFile(at('psql'), `#!/bin/sh\nexec psql '${primary}' "$@"\n`);
  await writeFile(at('psql-standby'), `#!/bin/sh\nexec psql '${standby}' "$@"\n`);
  await writeFile(at('done'), doneScript);
  for (const program of ['machine', 'psql', 'psql-standby', 'done']) await chmod(at(program), 0o755);
  const servers = addressOf(`127.0.0.1:${port}${hasStandby ? `,127.0.0.1:${standbyPort}` : ''}`);
  return { primary, standby, servers };
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
  await writeFile(path.join(folder, `${unit}.settings`), linesOf(settings));
  return { unit, url: `http://127.0.0.1:${port}`, metrics: `127.0.0.1:${metricsPort}` };
}

const linesOf = (settings: object) =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${/^\w+$/.test(String(value)) ? value : `'${value}'`}\n`)
    .join('');

/** Exports the free space of a disk, under the names that node_exporter uses. */
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
