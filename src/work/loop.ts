import type { Logger } from 'pino';

export interface Loop {
  /** Lets the loop look at once, instead of after its pause, but not before its rest. */
  wake(): void;
  /** Ends the loop after the round that is under way. */
  stop(): Promise<void>;
}

/**
 * Runs `round` again and again until stopped. A round answers how many milliseconds to pause; one that throws is logged
 * and tried again after a second. `wake` during a round means no pause after it, so nothing announced is overlooked.
 * @param restMs of each pause, what no `wake` cuts short: what is announced meanwhile is done together in one round
 */
export function startLoop(name: string, log: Logger, round: () => Promise<number>, restMs = 0): Loop {
  let stopped = false;
  let woken = false;
  let resting = true;
  let endPause: (() => void) | undefined;

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function turn(): Promise<void> {
    while (!stopped) {
      woken = false;
      resting = true;
      let pauseMs: number;
      try {
        pauseMs = await round();
      } catch (error) {
        if (stopped) return;
        log.error({ err: error, loop: name }, 'background work failed; trying again');
        pauseMs = 1000;
      }
      if (stopped || pauseMs <= 0) continue;
      const rest = Math.min(restMs, pauseMs);
      if (rest > 0) await pause(rest);
      resting = false;
      if (!stopped && !woken && pauseMs > rest) await pause(pauseMs - rest);
      endPause = undefined;
    }
  }

  const ended = turn();
  return {
    wake() {
      woken = true;
      if (!resting) endPause?.();
    },
    async stop() {
      stopped = true;
      endPause?.();
      await ended;
    },
  };
}
