import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** Processes that do nothing but sequence a database's feed, one of them leading, to be killed and replaced. */
export interface Sequencers {
  /**
   * Kills the leader without a word, once another stands by (a process takes its time to start), and waits until that one
   * leads; then starts a replacement. Tells how many ms nobody led.
   */
  killLeader(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts two of them and waits until one leads. */
export async function startSequencers(databaseUrl: string): Promise<Sequencers> {
  const all = new Set<ChildProcess>();
  const standbys = new Set<ChildProcess>();
  let leader: ChildProcess | undefined;
  const waiting = new Set<() => void>();
  const until = (condition: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!condition()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  const start = () => {
    const child = fork(new URL('../events/sequencer-process.ts', import.meta.url), {
      env: { ...process.env, TEST_DATABASE_URL: databaseUrl },
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    all.add(child);
    child.on('message', (message) => {
      if (message === 'leads') {
        leader = child;
        standbys.delete(child);
      } else standbys.add(child);
      for (const look of waiting) look();
    });
    child.on('exit', () => {
      all.delete(child);
      standbys.delete(child);
    });
  };

  start();
  start();
  await until(() => leader !== undefined);
  return {
    async killLeader() {
      await until(() => standbys.size > 0);
      const former = leader;
      const killed = performance.now();
      former?.kill('SIGKILL');
      await until(() => leader !== former);
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
