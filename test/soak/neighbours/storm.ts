import { setTimeout as delay } from 'node:timers/promises';
import { setPriorityOfSession } from './machine.ts';
import { connection, type Storm } from './storms.ts';

// Runs storms in a separate process with the lowest priority. Messages start and stop a storm. When it stops, the
// process reports how many acts had each result.
setPriorityOfSession(19);

let goesOn = false;

/** Repeats the storm's act on one connection until the storm ends. If the storm has a rate, spaces the acts evenly. */
async function rage(storm: Storm, connectionAt: number, statuses: Map<string, number>): Promise<void> {
  const own = connection(storm);
  const everyMs = storm.perSecond === undefined ? 0 : (storm.connections * 1_000) / storm.perSecond;
  let due = performance.now() + (connectionAt / storm.connections) * everyMs;
  while (goesOn) {
    for (let wait = due - performance.now(); everyMs > 0 && wait > 0 && goesOn; wait = due - performance.now()) {
      await delay(Math.min(wait, 50));
    }
    if (!goesOn) break;
    due += everyMs;
    const status = await own.act();
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  await own.close?.();
}

process.on('message', (storm: Storm | 'end') => {
  if (storm === 'end') {
    goesOn = false;
    return;
  }
  goesOn = true;
  const statuses = new Map<string, number>();
  Promise.all(Array.from({ length: storm.connections }, (_, at) => rage(storm, at, statuses))).then(
    () => process.send?.(Object.fromEntries(statuses)),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
