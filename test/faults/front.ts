import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../setup/free-port.ts';
import { directoryFile } from '../setup/two-clusters.ts';

/** A front before the instances, in a process of its own, which keeps its address. */
export interface FrontProcess {
  readonly url: string;
  readonly metricsUrl: string;
  /** Writes another text into the file of its directory, or the right one again. */
  write(text?: string): void;
  kill(): Promise<void>;
  /** Starts it again, and waits until it answers. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const program = path.resolve(import.meta.dirname, '../../src/front/main.ts');

/** @param instances the addresses of the instances of its one cluster */
export async function startFrontProcess(instances: readonly string[]): Promise<FrontProcess> {
  const file = directoryFile({ clusters: { north: { instances } }, default: 'north' });
  const [port, metricsPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  const start = async () => {
    child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
      stdio: 'ignore',
      env: {
        ...process.env,
        ...{ CLUSTER_DIRECTORY: file.path, PORT: String(port), METRICS_PORT: String(metricsPort), LOG_LEVEL: 'silent' },
      },
    });
    while (!(await fetch(url).catch(() => undefined))) {
      if (child.exitCode !== null) throw new Error(`the front ended with ${child.exitCode}`);
      await delay(20);
    }
  };
  await start();
  return {
    ...{ url, metricsUrl: `http://127.0.0.1:${metricsPort}`, write: file.write, kill, start },
    async stop() {
      await kill();
      file.remove();
    },
  };
}
