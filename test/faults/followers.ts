import { setTimeout as delay } from 'node:timers/promises';
import { connect, type Data } from '../setup/gateway.ts';
import { openEventStream } from '../setup/streams.ts';

/** A subscriber that reconnects whenever its connection is dropped, and continues after its last cursor. */
export type Follower = ReturnType<typeof startFollowers>[number];

const query = 'subscription ($after: String) { events(after: $after) { id cursor } }';
const pauseMs = 20;
/** If a follower gets no message for this long, it drops its connection, because the instance may be hanging. */
const silentMs = 5_000;

/** Starts followers of the entire feed, over sockets and event streams. Each reconnect goes to another instance. */
export function startFollowers(count: number, urls: () => readonly string[], authorization: string, start: string) {
  return Array.from({ length: count }, (_, position) => {
    const overSocket = position % 2 === 0;
    const read = overSocket ? readSocket : readEventStream;
    const received: string[] = [];
    const stopping = new AbortController();
    const follow = async () => {
      let cursor = start;
      for (let connections = position; !stopping.signal.aborted; connections += 1) {
        const all = urls();
        const life = new AbortController();
        let timer = setTimeout(() => life.abort(), silentMs);
        const take = ({ data, errors }: Data) => {
          // Messages that arrive after the follower has dropped the connection are sent again on the next one.
          if (life.signal.aborted || errors) return;
          received.push(data.events.id);
          cursor = data.events.cursor;
          clearTimeout(timer);
          timer = setTimeout(() => life.abort(), silentMs);
        };
        const stop = AbortSignal.any([stopping.signal, life.signal]);
        const url = all[connections % all.length] ?? '';
        await read(url, authorization, cursor, take, stop).catch(() => undefined);
        life.abort();
        clearTimeout(timer);
        await delay(pauseMs);
      }
    };
    const running = follow();
    return {
      name: `${overSocket ? 'socket' : 'event stream'} ${position}`,
      received,
      async stop() {
        stopping.abort();
        await running;
      },
    };
  });
}

type Read = (
  url: string,
  authorization: string,
  after: string,
  take: (message: Data) => void,
  stop: AbortSignal,
) => Promise<void>;

const readSocket: Read = async (url, authorization, after, take, stop) => {
  const client = connect(url, '', authorization).socket();
  stop.addEventListener('abort', () => client.terminate());
  for await (const message of client.iterate({ query, variables: { after } })) take(message);
};

const readEventStream: Read = async (url, authorization, after, take, stop) => {
  const document = { query, variables: { after } };
  const { events } = await openEventStream(`${url}/graphql`, authorization, document, {}, stop);
  for await (const { event, data } of events) {
    if (event === 'next') take(data);
  }
};
