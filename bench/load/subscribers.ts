import { WebSocket } from 'ws';
import { percentile } from './latencies.ts';

/** Many subscriptions, each to the payments of one customer, or of the whole platform. */
export interface SubscriberJob {
  readonly url: string;
  readonly authorization: string;
  /** For each subscription, the customer whose payments it follows, or null for the whole platform. */
  readonly customerIds: readonly (string | null)[];
  /** The number of operations on each socket. */
  readonly perSocket: number;
  /** One in this many sockets records the times of its messages. The others only count them, which is cheaper. */
  readonly sampled: number;
}

/** The messages that arrived, and the time in ms from the change (by the database's clock) to the arrival. */
export interface Arrivals {
  /** The total number of messages. Times are measured for the sampled subscribers only. */
  readonly messages: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const fields = '{ status occurredAt cursor }';
const ofCustomer = `subscription ($id: ID!) { transactionUpdates(of: { customerId: $id }) ${fields} }`;
const ofPlatform = `subscription { transactionUpdates ${fields} }`;
let delays: number[] = [];
let messages = 0;

process.on('message', (message: SubscriberJob | 'reset' | 'read') => {
  if (message === 'reset') {
    delays = [];
    messages = 0;
  } else if (message === 'read') {
    const sorted = delays.sort((a, b) => a - b);
    const arrivals: Arrivals = {
      messages,
      p50: percentile(sorted, 0.5),
      p99: percentile(sorted, 0.99),
      max: sorted.at(-1) ?? 0,
    };
    process.send?.({ arrivals });
  } else {
    subscribeAll(message).then(
      () => process.send?.('subscribed'),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  }
});

async function subscribeAll(job: SubscriberJob): Promise<void> {
  for (let from = 0; from < job.customerIds.length; from += job.perSocket) {
    const isSampled = (from / job.perSocket) % job.sampled === 0;
    await openSocket(job, job.customerIds.slice(from, from + job.perSocket), isSampled);
  }
}

/** Implements graphql-transport-ws: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */
function openSocket(job: SubscriberJob, customerIds: SubscriberJob['customerIds'], isSampled: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(job.url.replace('http', 'ws'), 'graphql-transport-ws');
    const say = (message: object) => socket.send(JSON.stringify(message));
    socket.on('open', () => say({ type: 'connection_init', payload: { authorization: job.authorization } }));
    socket.on('message', (data: Buffer) => {
      const isNext = data.includes('"type":"next"');
      if (isNext) messages += 1;
      if (isNext && !isSampled) return;
      const message = JSON.parse(String(data));
      if (isNext) delays.push(Date.now() - Date.parse(message.payload.data.transactionUpdates.occurredAt));
      else if (message.type === 'connection_ack') {
        for (const [position, id] of customerIds.entries()) {
          const payload = id === null ? { query: ofPlatform } : { query: ofCustomer, variables: { id } };
          say({ type: 'subscribe', id: String(position), payload });
        }
        resolve();
      } else if (message.type === 'ping') say({ type: 'pong' });
    });
    socket.on('error', reject);
  });
}
