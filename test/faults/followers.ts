import { setTimeout as delay } from 'node:timers/promises';
import { connect, type Data } from '../setup/gateway.ts';
import { openEventStream } from '../setup/streams.ts';

/** A subscriber that reconnects whenever its connection is cut and continues after its last cursor. */
export type Follower = ReturnType<typeof startFollower>;

const query = 'subscription ($after: String) { events(after: $after) { id cursor } }';
const pauseMs = 20;
/** A follower drops its connection after this time without messages, because the instance may be hanging. */
const silentMs = 5_000;

/** Starts followers of the entire feed, over sockets and event streams. Each reconnect goes to another instance. */
export function startFollowers(count: number, urls: () => readonly string[], authorization: string, after: string) {
  return Array.from({ length: count }, (_, at) => {
    const name = at % 2 === 0 ? 'socket' : 'event stream';
    return startFollower(`${name} ${at}`, at % 2 === 0 ? readSocket : readEventStream, urls, authorization, after, at);
  });
}

type Read = (
  url: string,
  authorization: string,
  after: string,
  take: (message: Data) => void,
  stop: AbortSignal,
) => Promise<void>;

function startFollower(
  name: string,
  read: Read,
  urls: () => readonly string[],
  authorization: string,
  after: string,
  offset: number,
) {
  const received: string[] = [];
  const stopping = new AbortController();
  let cursor = after;
  let connections = 0;
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const all = urls();
      const url = all[(connections + offset) % all.length] ?? '';
      connections += 1;
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
      await read(url, authorization, cursor, take, AbortSignal.any([stopping.signal, life.signal])).catch(
        () => undefined,
      );
      life.abort();
      clearTimeout(timer);
      await delay(pauseMs);
    }
  })();
  return {
    name,
    received,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

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
