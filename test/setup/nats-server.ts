import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';

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

export async function startNatsServer(): Promise<NatsServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nats-'));
  const port = await freePort();
  const url = `nats://127.0.0.1:${port}`;
  let child: ChildProcess;
  const start = async () => {
    child = spawn(program, ['--addr', '127.0.0.1', '--port', String(port), '--jetstream', '--store_dir', folder], {
      stdio: 'ignore',
      env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
    });
    for (;;) {
      const connection = await connect({ servers: url, reconnect: false }).catch(() => undefined);
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
    async start(store) {
      if (store === 'lost') await rm(folder, { recursive: true, force: true });
      await start();
    },
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (typeof address === 'object' && address !== null) return address.port;
  throw new Error('there is no free port');
}
