import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { FaultStates } from '../../core/fault-states.ts';
import { loopFailures, loopSuccess } from '../../infra/instruments/instruments.ts';

export interface Loop {
  /** Ends the current pause, but not before its first `restMs` have passed. */
  wake(): void;
  /** Ends the loop after the current round. */
  stop(): Promise<void>;
}

/**
 * Runs `round` repeatedly until stopped. A round returns how many milliseconds to pause afterwards. If it throws, the
 * reason is logged once (FaultStates), and the next round follows after a second. `wake` ends the pause, but not its
 * first `restMs`, so that one round handles all the work that arrives in that time. A `wake` during a round is not
 * lost.
 */
export function startLoop(name: string, log: Logger, round: () => Promise<number>, restMs = 0): Loop {
  const succeeded = loopSuccess.labels(name);
  const failed = loopFailures.labels(name);
  // Prometheus counts the first failure as an increase only if there is an earlier value.
  failed.inc(0);
  succeeded.setToCurrentTime();
  const states = FaultStates.of(log);
  let stopped = false;
  let woken = false;
  let resting = true;
  let pausing = new AbortController();

  async function pause(ms: number): Promise<void> {
    pausing = new AbortController();
    await delay(ms, undefined, { signal: pausing.signal }).catch(() => undefined);
  }

  async function run(): Promise<void> {
    while (!stopped) {
      woken = false;
      resting = true;
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
      if (stopped || pauseMs <= 0) continue;
      const rest = Math.min(restMs, pauseMs);
      if (rest > 0) await pause(rest);
      resting = false;
      if (!stopped && !woken && pauseMs > rest) await pause(pauseMs - rest);
    }
  }

  const ended = run();
  return {
    wake() {
      woken = true;
      if (!resting) pausing.abort();
    },
    async stop() {
      stopped = true;
      pausing.abort();
      await ended;
    },
  };
}
