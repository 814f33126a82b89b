import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { setPriorityOfSession } from './machine.ts';

/** A round of the client whose latency is measured: so many requests a second for so long, whatever the answers do. */
export interface Calm {
  readonly url: string;
  readonly authorization: string;
  readonly body: string;
  readonly perSecond: number;
  readonly ms: number;
}

/** What came of a round. */
export interface Measured {
  /** The latency of each request, in milliseconds. */
  readonly took: readonly number[];
  readonly refused: number;
}

// A process of its own, before all others where it may: its own waits for a processor are not the service's.
setPriorityOfSession(-10);

let pool: Pool | undefined;

async function measure({ url, authorization, body, perSecond, ms }: Calm): Promise<Measured> {
  pool ??= new Pool(url, { connections: 64 });
  const headers = { authorization, 'content-type': 'application/json' };
  const took: number[] = [];
  let refused = 0;
  const send = async (to: Pool) => {
    const at = performance.now();
    const answer = await to.request({ path: '/graphql', method: 'POST', headers, body });
    const text = await answer.body.text();
    if (text.startsWith('{"data":{"account":{')) took.push(performance.now() - at);
    else refused += 1;
  };
  const open: Promise<void>[] = [];
  const began = performance.now();
  while (performance.now() - began < ms) {
    const due = ((performance.now() - began) * perSecond) / 1_000;
    while (open.length < due) open.push(send(pool));
    await delay(1);
  }
  await Promise.all(open);
  return { took, refused };
}

process.on('message', async (calm: Calm) => {
  process.send?.(await measure(calm));
});
