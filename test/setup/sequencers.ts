import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** Processes that do nothing but sequence a database's feed, one of them leading, to be killed and replaced. */
export interface Sequencers {
  /** Kills the leader without a word, waits until another leads, starts a replacement; tells how many ms that took. */
  killLeader(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts two of them and waits until one leads. */
export async function startSequencers(databaseUrl: string): Promise<Sequencers> {
  const all = new Set<ChildProcess>();
  let leader: ChildProcess | undefined;
  let announce: (() => void) | undefined;
  const start = () => {
    const child = fork(new URL('../events/sequencer-process.ts', import.meta.url), {
      env: { ...process.env, TEST_DATABASE_URL: databaseUrl },
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    all.add(child);
    child.on('message', () => {
      leader = child;
      announce?.();
    });
    child.on('exit', () => all.delete(child));
  };
  const leads = () =>
    new Promise<void>((resolve) => {
      announce = resolve;
    });

  const first = leads();
  start();
  start();
  await first;
  return {
    async killLeader() {
      const next = leads();
      const killed = performance.now();
      leader?.kill('SIGKILL');
      await next;
      const taken = performance.now() - killed;
      start();
      return taken;
    },
    async stop() {
      const children = [...all];
      const ended = children.map((child) => once(child, 'exit'));
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(ended);
    },
  };
}
