import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { setPriorityOfSession } from './machine.ts';

/** Requests that are sent at a fixed rate, however late the responses are. */
export interface Requests {
  readonly body: { readonly query: string; readonly variables?: { readonly input: object } };
  readonly perSecond: number;
}

export interface Calm {
  readonly url: string;
  readonly authorization: string;
  readonly requests: readonly Requests[];
  readonly ms: number;
}

export interface Measured {
  /** The latency of each request, in milliseconds. */
  readonly took: readonly number[];
  readonly refused: number;
}

// This process has a raised priority, so that waiting for a processor adds little to the latencies that it measures.
setPriorityOfSession(-10);

let pool: Pool | undefined;

async function measure({ url, authorization, requests, ms }: Calm): Promise<Measured> {
  pool ??= new Pool(url, { connections: 64 });
  const headers = { authorization, 'content-type': 'application/json' };
  const took: number[] = [];
  let refused = 0;
  const send = async (to: Pool, body: string) => {
    const at = performance.now();
    const answer = await to.request({ path: '/graphql', method: 'POST', headers, body });
    const text = await answer.body.text();
    if (/"errors"|Error"/.test(text)) refused += 1;
    else took.push(performance.now() - at);
  };
  const open: Promise<void>[] = [];
  const sent = requests.map(() => 0);
  const began = performance.now();
  while (performance.now() - began < ms) {
    for (const [at, { body, perSecond }] of requests.entries()) {
      const due = ((performance.now() - began) * perSecond) / 1_000;
      for (; (sent[at] ?? 0) < due; sent[at] = (sent[at] ?? 0) + 1) open.push(send(pool, textOf(body)));
    }
    await delay(1);
  }
  await Promise.all(open);
  return { took, refused };
}

/** Writes a body. Each command gets a new key. */
function textOf({ query, variables }: Requests['body']): string {
  const input = variables && { ...variables.input, idempotencyKey: randomUUID() };
  return JSON.stringify({ query, ...(input && { variables: { input } }) });
}

process.on('message', async (calm: Calm) => {
  process.send?.(await measure(calm));
});
