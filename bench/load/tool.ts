import { Latencies, type Measured } from './latencies.ts';

/** The duration of a load tool's turn. Requests during the warm-up do not count. */
export interface Turn {
  readonly warmUpMs: number;
  readonly measureMs: number;
}

/** The messages sent to a load tool: its job once, then its turns, and finally the request for its results. */
export type Told<Job> = { readonly job: Job } | { readonly turn: Turn } | 'measured';

/** The messages from a load tool: the beginning and end of a turn's counted part, the end of the turn, the results. */
export type Said = 'begin' | 'end' | 'over' | { readonly measured: Measured };

/** Does the job until `Date.now()` reaches `end`, and records results in `latencies` while `counts` returns true. */
export type Work = (end: number, counts: () => boolean, latencies: Latencies) => Promise<void>;

/**
 * Turns this process into a load tool: a child process that works only when its parent tells it to, so that contestants
 * can alternate.
 */
export function loadTool<Job>(start: (job: Job) => Work): void {
  const latencies = new Latencies();
  const say = (said: Said) => process.send?.(said);
  let work: Work | undefined;

  async function take({ warmUpMs, measureMs }: Turn): Promise<void> {
    let counting = false;
    const begin = setTimeout(() => {
      counting = true;
      latencies.begin();
      say('begin');
    }, warmUpMs);
    await work?.(Date.now() + warmUpMs + measureMs, () => counting, latencies);
    clearTimeout(begin);
    if (counting) {
      latencies.end();
      say('end');
    }
    say('over');
  }

  process.on('message', (told: Told<Job>) => {
    if (told === 'measured') process.send?.({ measured: latencies.measured() }, () => process.exit(0));
    else if ('job' in told) work = start(told.job);
    else {
      take(told.turn).catch((error: unknown) => {
        console.error(error);
        process.exit(1);
      });
    }
  });
}
