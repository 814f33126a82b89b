import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** Two processes that do nothing but sequence a database's feed. */
export interface Sequencers {
  /** Kills one without a word and waits until the other has made a step; then replaces it. Answers how many ms the step took. */
  kill(): Promise<number>;
  /** Pauses one, calls `meanwhile`, and lets it go on; then the same with the other. */
  freezeEach(meanwhile: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Starts them and waits until each has made a step. */
export async function startSequencers(databaseUrl: string): Promise<Sequencers> {
  const start = async () => {
    const child = fork(new URL('../events/sequencer-process.ts', import.meta.url), {
      env: { ...process.env, TEST_DATABASE_URL: databaseUrl },
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    await nextStep(child);
    return child;
  };
  let [one, other] = await Promise.all([start(), start()]);
  return {
    async kill() {
      const killed = performance.now();
      one.kill('SIGKILL');
      await nextStep(other);
      const taken = performance.now() - killed;
      [one, other] = [other, await start()];
      return taken;
    },
    async freezeEach(meanwhile) {
      for (const child of [one, other]) {
        child.kill('SIGSTOP');
        try {
          await meanwhile();
        } finally {
          child.kill('SIGCONT');
        }
      }
    },
    async stop() {
      const ended = [one, other].map((child) => once(child, 'exit'));
      for (const child of [one, other]) child.kill('SIGKILL');
      await Promise.all(ended);
    },
  };
}

/** Waits until a process has made a step that began after this. */
async function nextStep(child: ChildProcess): Promise<void> {
  const answer = once(child, 'message');
  child.send('step');
  await answer;
}
