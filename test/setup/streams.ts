import { once } from 'node:events';
import { expect, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Data, TestGateway } from './gateway.ts';

export interface ServerEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: Data;
}

/** An event stream that the test reads, and can abort at any time. */
export type EventStream = Awaited<ReturnType<typeof openEventStream>>;

/** Opens an event stream, with POST if a document is given, and with GET otherwise. */
export async function openEventStream(
  url: string,
  authorization: string,
  document?: { readonly query?: string; readonly variables?: object; readonly extensions?: object },
  headers: Record<string, string> = {},
  stop?: AbortSignal,
) {
  const control = new AbortController();
  const response = await fetch(url, {
    method: document ? 'POST' : 'GET',
    headers: { authorization, accept: 'text/event-stream', 'content-type': 'application/json', ...headers },
    signal: AbortSignal.any([control.signal, ...(stop ? [stop] : [])]),
    ...(document && { body: JSON.stringify(document) }),
  });
  return {
    status: response.status,
    headers: response.headers,
    events: serverEvents(response),
    cut: () => control.abort(),
  };
}

async function* serverEvents(response: Response): AsyncGenerator<ServerEvent, void> {
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
      const [event, data] = [field('event'), field('data')];
      if (event) yield { event, id: field('id'), data: data ? JSON.parse(data) : null };
    }
  }
}

/** Returns a stream's next message. @throws Error if the stream has ended */
export async function nextOf<T>(stream: AsyncIterator<T, unknown>): Promise<T> {
  const { done, value } = await stream.next();
  if (done) throw new Error('the stream has ended');
  return value as T;
}

/** A graphql-transport-ws connection without a client library, for tests that violate the protocol. */
export type RawSocket = Awaited<ReturnType<typeof openRawSocket>>;

/** Opens a socket, sends the credentials, and waits until they are accepted or the socket is closed. */
export async function openRawSocket(
  url: string,
  authorization: string,
  {
    params = {},
    ...options
  }: {
    readonly origin?: string;
    readonly headers?: Readonly<Record<string, string>>;
    /** What the first message contains besides the credentials. */
    readonly params?: object;
  } = {},
) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', options);
  const messages: Data[] = [];
  const waiting = new Set<() => void>();
  socket.on('message', (message) => {
    messages.push(JSON.parse(String(message)));
    for (const look of waiting) look();
  });
  socket.on('error', () => undefined);
  const closed = once(socket, 'close').then(([code, reason]) => ({ code: Number(code), reason: String(reason) }));
  const raw = {
    socket,
    closed,
    send: (message: object) => socket.send(JSON.stringify(message)),
    /** Returns the next message of this type. */
    receive: (type: string) =>
      new Promise<Data>((resolve, reject) => {
        const look = () => {
          const at = messages.findIndex((message) => message.type === type);
          if (at < 0) return;
          waiting.delete(look);
          resolve(messages.splice(at, 1)[0]);
        };
        waiting.add(look);
        look();
        closed.then(({ code }) => {
          if (waiting.delete(look)) reject(new Error(`closed with ${code} while waiting for ${type}`));
        });
      }),
  };
  await Promise.race([
    once(socket, 'open'),
    closed.then(({ code }) => Promise.reject(new Error(`refused: closed with ${code}`))),
  ]);
  raw.send({ type: 'connection_init', payload: { authorization, ...params } });
  await Promise.race([raw.receive('connection_ack').catch(() => undefined), closed]);
  return raw;
}

/** Waits until `count` streams are open at the gateway. */
export const subscribed = ({ gateway }: Pick<TestGateway, 'gateway'>, count: number): Promise<void> =>
  vi.waitFor(() => expect(gateway.feed.subscriptions).toBe(count), 60_000);

/** Waits until all committed events are in the feed. */
export const sequenced = ({ owner }: Pick<TestGateway, 'owner'>): Promise<void> =>
  vi.waitFor(async () => expect((await owner.query('select from outbox limit 1')).rowCount).toBe(0), 60_000);

/** Waits until every event has its sequence number and every webhook delivery has been created. */
export async function quiet({ owner }: Pick<TestGateway, 'owner'>): Promise<void> {
  for (;;) {
    const { rows } = await owner.query<{ busy: boolean }>(
      `select exists (select from outbox) or exists (
         select from webhook_endpoint e join feed_head h on h.platform_id = e.platform_id where e.position < h.sequence) as busy`,
    );
    if (rows[0]?.busy === false) return;
    await new Promise(setImmediate);
  }
}

/** Commits test events for the gateway's platform, dated `daysOld` days ago. */
export async function commitEvents({ owner, platform }: TestGateway, count = 1, daysOld = 0): Promise<void> {
  await owner.query(
    `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
     select $1, uuid_v7(), 'TEST', now() - $3 * interval '1 day', n, '{}' from generate_series(1, $2::int) n`,
    [platform.platformId, count, daysOld],
  );
}
