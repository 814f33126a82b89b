import { WebSocket } from 'ws';
import { percentile } from './latencies.ts';

/** Many subscriptions over few sockets, each to one customer's payments. */
export interface SubscriberJob {
  readonly url: string;
  readonly authorization: string;
  readonly customerIds: readonly string[];
  /** Operations on one socket. */
  readonly perSocket: number;
}

/** What arrived: from the change's own moment (the database's clock, in milliseconds) to the subscriber. */
export interface Arrivals {
  readonly messages: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const query = 'subscription ($id: ID!) { transactionUpdates(customerId: $id) { status occurredAt cursor } }';
let delays: number[] = [];

process.on('message', (message: SubscriberJob | 'reset' | 'read') => {
  if (message === 'reset') delays = [];
  else if (message === 'read') {
    const sorted = delays.sort((a, b) => a - b);
    const arrivals: Arrivals = {
      messages: sorted.length,
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
    await openSocket(job, job.customerIds.slice(from, from + job.perSocket));
  }
}

/** graphql-transport-ws by hand: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */
function openSocket(job: SubscriberJob, customerIds: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(job.url.replace('http', 'ws'), 'graphql-transport-ws');
    const say = (message: object) => socket.send(JSON.stringify(message));
    socket.on('open', () => say({ type: 'connection_init', payload: { authorization: job.authorization } }));
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.type === 'connection_ack') {
        for (const [position, id] of customerIds.entries()) {
          say({ type: 'subscribe', id: String(position), payload: { query, variables: { id } } });
        }
        resolve();
      } else if (message.type === 'ping') say({ type: 'pong' });
      else if (message.type === 'next')
        delays.push(Date.now() - Date.parse(message.payload.data.transactionUpdates.occurredAt));
    });
    socket.on('error', reject);
  });
}
