import { WebSocket } from 'ws';
import { percentile } from './latencies.ts';

/** Clients, each with one socket and one subscription, that reconnect automatically when the connection is lost. */
export interface ReturningJob {
  readonly url: string;
  readonly authorization: string;
  /** For each client, the customer whose payments it follows. */
  readonly customerIds: readonly string[];
  /** The cursor from which each client subscribes. A client has caught up once it has received all later changes. */
  readonly after: string;
  /** The number of changes to each customer's payments after that cursor. */
  readonly changes: number;
}

/** The time from the start signal until the clients had caught up, in milliseconds. */
export interface Returned {
  readonly p50: number;
  readonly last: number;
  /** The number of failed attempts to connect. */
  readonly failures: number;
}

const query =
  'subscription ($id: ID!, $after: String) { transactionUpdates(of: { customerId: $id }, after: $after) { status cursor } }';
/**
 * Returns a client's pause before the next attempt, as in the client package: longer after each failure, with jitter.
 */
function pauseMs(failed: number): number {
  const ms = Math.min(30_000, 500 * 2 ** Math.min(failed, 6));
  return ms / 2 + (Math.random() * ms) / 2;
}

let began = 0;
let failures = 0;
let back: number[] = [];
let all = 0;

process.on('message', (message: ReturningJob | 'begin') => {
  if (message === 'begin') {
    began = performance.now();
    back = [];
    failures = 0;
    return;
  }
  all = message.customerIds.length;
  openAll(message).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});

/** Opens only 200 sockets at a time, so that none is refused before the measurement. */
async function openAll(job: ReturningJob): Promise<void> {
  for (let from = 0; from < all; from += 200) {
    await Promise.all(
      job.customerIds.slice(from, from + 200).map((id) => new Promise<void>((done) => open(job, id, done))),
    );
  }
}

function open(job: ReturningJob, id: string, done?: () => void, failed = 0): void {
  const socket = new WebSocket(job.url.replace('http', 'ws'), 'graphql-transport-ws', { perMessageDeflate: false });
  const say = (message: object) => socket.send(JSON.stringify(message));
  let left = job.changes;
  socket.on('open', () => say({ type: 'connection_init', payload: { authorization: job.authorization } }));
  socket.on('message', (data) => {
    const { type } = JSON.parse(String(data));
    if (type === 'connection_ack') {
      say({ type: 'subscribe', id: '1', payload: { query, variables: { id, after: job.after } } });
    } else if (type === 'ping') say({ type: 'pong' });
    else if (type === 'next') {
      left -= 1;
      if (left === 0) arrive(done);
    } else socket.terminate();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    const again = left > 0 ? failed + 1 : 0;
    failures += left > 0 ? 1 : 0;
    setTimeout(() => open(job, id, done, again), pauseMs(again));
  });
}

function arrive(done: (() => void) | undefined): void {
  done?.();
  back.push(performance.now() - began);
  if (back.length < all) return;
  const sorted = back.sort((a, b) => a - b);
  const returned: Returned = { p50: percentile(sorted, 0.5), last: sorted.at(-1) ?? 0, failures };
  process.send?.({ returned });
}
