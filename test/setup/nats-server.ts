import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { freePort } from './free-port.ts';

/** A nats-server with JetStream. */
export interface NatsServer {
  readonly url: string;
  readonly pid: number;
  /** Ends it without a word. */
  kill(): Promise<void>;
  /** Starts it again, at the same address, with what it had stored or with nothing. */
  start(store: 'kept' | 'lost'): Promise<void>;
  stop(): Promise<void>;
}

export interface NatsAccount {
  readonly user: string;
  readonly password: string;
  readonly permissions: object;
}

/** The program: Debian's package `nats-server`, or another one that NATS_SERVER_PATH names. */
const program = process.env.NATS_SERVER_PATH ?? 'nats-server';

/** Returns the version of the installed nats-server; undefined where there is none. */
export function natsServerVersion(): string | undefined {
  const { stdout } = spawnSync(program, ['--version'], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
  });
  return /v(\d+\.\d+\.\d+)/.exec(stdout ?? '')?.[1];
}

/**
 * @param args more arguments of the program: by default, with JetStream
 * @param account the only one whom it lets in, as its configuration says it; without it, anybody
 */
export async function startNatsServer(
  args: readonly string[] = ['--jetstream'],
  account?: NatsAccount,
): Promise<NatsServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nats-'));
  const port = await freePort();
  const url = `nats://${account ? `${account.user}:${account.password}@` : ''}127.0.0.1:${port}`;
  const [config, store] = [path.join(folder, 'nats.conf'), path.join(folder, 'store')];
  await writeFile(config, account ? `authorization: ${JSON.stringify({ users: [account] })}` : '');
  let child: ChildProcess;
  const start = async () => {
    const where = ['--addr', '127.0.0.1', '--port', String(port), '--store_dir', store, '--config', config];
    child = spawn(program, [...where, ...args], {
      stdio: 'ignore',
      env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
    });
    for (;;) {
      const connection = await connect({
        ...{ servers: `127.0.0.1:${port}`, reconnect: false },
        ...(account && { user: account.user, pass: account.password }),
      }).catch(() => undefined);
      if (connection) return connection.close();
      if (child.exitCode !== null) throw new Error(`nats-server ended with ${child.exitCode}`);
      await delay(20);
    }
  };
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  await start();
  return {
    url,
    get pid() {
      return child.pid ?? 0;
    },
    kill,
    async start(stored) {
      if (stored === 'lost') await rm(store, { recursive: true, force: true });
      await start();
    },
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
