import { WebSocket } from 'ws';

/** Concurrent replays of a feed from its beginning, over a few sockets. Each is repeated until the process ends. */
export interface ReplayJob {
  readonly url: string;
  readonly authorization: string;
  /** The cursor before the first event. */
  readonly after: string;
  readonly replays: number;
  /** The number of messages after which a replay starts again. */
  readonly messages: number;
}

const perSocket = 10;
const query = 'subscription ($after: String) { transactionUpdates(after: $after) { status cursor } }';
let received = 0;

process.on('message', (message: ReplayJob | 'read') => {
  if (message === 'read') process.send?.({ received });
  else {
    Promise.all(Array.from({ length: Math.ceil(message.replays / perSocket) }, (_, at) => replay(message, at))).then(
      () => process.send?.('replaying'),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  }
});

/** Starts one socket's replays; resolves on the first message. Uses graphql-transport-ws, as subscribers.ts does. */
function replay({ url, authorization, after, replays, messages }: ReplayJob, at: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
    const say = (message: object) => socket.send(JSON.stringify(message));
    const counts = new Map<string, number>();
    let last = 0;
    const begin = () => {
      last += 1;
      const id = String(last);
      counts.set(id, 0);
      say({ type: 'subscribe', id, payload: { query, variables: { after } } });
    };
    socket.on('open', () => say({ type: 'connection_init', payload: { authorization } }));
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.type === 'connection_ack') {
        for (let left = Math.min(perSocket, replays - at * perSocket); left > 0; left -= 1) begin();
      } else if (message.type === 'ping') say({ type: 'pong' });
      else if (message.type === 'next') {
        const count = counts.get(message.id);
        if (count === undefined) return;
        resolve();
        received += 1;
        counts.set(message.id, count + 1);
        if (count + 1 < messages) return;
        counts.delete(message.id);
        say({ type: 'complete', id: message.id });
        begin();
      }
    });
    socket.on('error', reject);
  });
}
