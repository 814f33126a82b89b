import type { Logger } from 'pino';

export interface Loop {
  /** Lets the loop look at once, instead of after its pause. */
  wake(): void;
  /** Ends the loop after the round that is under way. */
  stop(): Promise<void>;
}

/**
 * Runs `round` again and again until stopped. A round answers how many milliseconds to pause; one that throws is logged
 * and tried again after a second. `wake` during a round means no pause after it, so nothing announced is overlooked.
 */
export function startLoop(name: string, log: Logger, round: () => Promise<number>): Loop {
  let stopped = false;
  let woken = false;
  let endPause: (() => void) | undefined;

  async function turn(): Promise<void> {
    while (!stopped) {
      woken = false;
      let pauseMs: number;
      try {
        pauseMs = await round();
      } catch (error) {
        if (stopped) return;
        log.error({ err: error, loop: name }, 'background work failed; trying again');
        pauseMs = 1000;
      }
      if (stopped || woken || pauseMs <= 0) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs);
        endPause = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      endPause = undefined;
    }
  }

  const ended = turn();
  return {
    wake() {
      woken = true;
      endPause?.();
    },
    async stop() {
      stopped = true;
      endPause?.();
      await ended;
    },
  };
}
