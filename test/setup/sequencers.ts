import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** Starts two processes that do nothing but sequence a database's feed. Waits until each has completed a step. */
export async function startSequencers(databaseUrl: string) {
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
    /** Kills one process, and replaces it once the other has completed a step. Returns the time until then, in ms. */
    async kill() {
      const killed = performance.now();
      one.kill('SIGKILL');
      await nextStep(other);
      const taken = performance.now() - killed;
      [one, other] = [other, await start()];
      return taken;
    },
    /** Pauses one process, calls `meanwhile`, and resumes the process; then does the same with the other. */
    async freezeEach(meanwhile: () => Promise<void>) {
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

/** Waits until a process has completed a step that began after this call. */
async function nextStep(child: ChildProcess): Promise<void> {
  const answer = once(child, 'message');
  child.send('step');
  await answer;
}
