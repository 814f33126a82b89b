import { Latencies, type Measured } from './latencies.ts';

/** How long a load tool runs at a time: what it sends at first only warms up. */
export interface Turn {
  readonly warmUpMs: number;
  readonly measureMs: number;
}

/** The messages to a load tool: its job once, then its turns, and at last the request for its results. */
export type Told<Job> = { readonly job: Job } | { readonly turn: Turn } | 'measured';

/** What it says: when a turn begins and ends to count, that a turn is over, and all that it saw. */
export type Said = 'begin' | 'end' | 'over' | { readonly measured: Measured };

/** Does the job until `end`, a moment of Date.now(); what happens goes to `latencies` while `counts` says so. */
export type Work = (end: number, counts: () => boolean, latencies: Latencies) => Promise<void>;

/** Makes this process a load tool: a child whose parent says when it is its turn, so that contestants can alternate. */
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
