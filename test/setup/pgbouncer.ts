import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { query } from './embedded-servers.ts';
import { freePort } from './free-port.ts';

/** A PgBouncer in transaction mode in front of a database. */
export type PgBouncer = Awaited<ReturnType<typeof startPgBouncer>>;

/** The program to run: the installed `pgbouncer`, or the one that PGBOUNCER_PATH names. */
const program = process.env.PGBOUNCER_PATH ?? 'pgbouncer';

/** Returns the version of the installed PgBouncer, or undefined if there is none. */
export function pgBouncerVersion(): string | undefined {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', env: withSystemPrograms() });
  return /PgBouncer (\S+)/.exec(stdout ?? '')?.[1];
}

/** @param poolSize the maximum number of server sessions, which all clients share */
export async function startPgBouncer(databaseUrl: string, poolSize: number) {
  const { hostname, port, password, pathname } = new URL(databaseUrl);
  const folder = await mkdtemp(path.join(tmpdir(), 'pgbouncer-'));
  await chmod(folder, 0o755);
  const users = ['postgres', 'gateway'].map((login) => `"${login}" "${password}"\n`).join('');
  await writeFile(path.join(folder, 'users.txt'), users);
  const ownPort = await freePort();
  const settings = [
    '[databases]',
    `${pathname.slice(1)} = host=${hostname} port=${port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${ownPort}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${path.join(folder, 'users.txt')}`,
    'pool_mode = transaction',
    `default_pool_size = ${poolSize}`,
    'max_client_conn = 1000',
    // After a server crash, PgBouncer must retry soon, because tests cause faults in quick succession.
    'server_login_retry = 1',
    '',
  ];
  await writeFile(path.join(folder, 'pgbouncer.ini'), settings.join('\n'));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(ownPort);

  let child: ChildProcess | undefined;
  const start = async () => {
    // PgBouncer refuses to run as root.
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    child = spawn(program, ['-q', path.join(folder, 'pgbouncer.ini')], {
      stdio: 'ignore',
      env: withSystemPrograms(),
      ...user,
    });
    while (!(await query(url.href, 'select').catch(() => undefined))) {
      if (child.exitCode !== null) throw new Error(`PgBouncer exited with ${child.exitCode}`);
      await delay(20);
    }
  };
  const end = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  await start();
  return {
    url: url.href,
    /** Kills the pooler together with all its client connections. */
    kill: () => end('SIGKILL'),
    start,
    async stop() {
      await end('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Debian installs PgBouncer in a folder that is only in root's PATH. */
function withSystemPrograms(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
}
