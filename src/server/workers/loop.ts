import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { FaultStates } from '../../core/fault-states.ts';
import { loopFailures, loopSuccess } from '../../infra/instruments/instruments.ts';

/**
 * Runs `round` repeatedly until stopped. A round returns how many milliseconds to pause afterwards. If it throws, the
 * reason is logged once (FaultStates), and the next round follows after a second. `wake` ends the pause, but never
 * before `restMs` have passed, so that work arriving in that time is handled in one round. A `wake` during a round ends
 * the pause that follows it.
 */
export function startLoop(name: string, log: Logger, round: () => Promise<number>, restMs = 0) {
  const succeeded = loopSuccess.labels(name);
  const failed = loopFailures.labels(name);
  // Prometheus counts the first failure as an increase only if there is an earlier value.
  failed.inc(0);
  succeeded.setToCurrentTime();
  const states = FaultStates.of(log);
  let stopped = false;
  /** Each round has its own controller, so that a `wake` during the round ends the pause after it. */
  let waking = new AbortController();

  async function run(): Promise<void> {
    while (!stopped) {
      waking = new AbortController();
      let pauseMs: number;
      try {
        pauseMs = await round();
        succeeded.setToCurrentTime();
        states.succeeded(name);
      } catch (error) {
        if (stopped) return;
        failed.inc();
        states.failed(name, error);
        pauseMs = 1000;
      }
      const rest = Math.min(restMs, pauseMs);
      if (rest > 0) await delay(rest);
      if (pauseMs > rest) await delay(pauseMs - rest, undefined, { signal: waking.signal }).catch(() => undefined);
    }
  }

  const ended = run();
  return {
    /** Ends the current pause, but not before its first `restMs` have passed. */
    wake: () => waking.abort(),
    /** Ends the loop after the current round. */
    async stop(): Promise<void> {
      stopped = true;
      waking.abort();
      await ended;
    },
  };
}
