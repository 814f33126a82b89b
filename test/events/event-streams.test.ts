import { createInterface } from 'node:readline';
import { createClient } from 'graphql-sse';
import { expect, test, vi } from 'vitest';
import { type Data, testGateway } from '../setup/gateway.ts';
import { answerTo } from '../setup/raw-http.ts';
import { commitEvents } from '../setup/streams.ts';

/** Event streams as read by clients that follow the HTML standard and resume without any code in the app. */

const t = await testGateway({}, undefined, { pace: { keepAliveMs: 20 } });

const query = 'subscription ($after: String) { events(after: $after) { id cursor } }';

async function commit(count: number): Promise<string[]> {
  const after = await t.platform.feedEnd();
  await commitEvents(t, count);
  return vi.waitFor(
    async () => {
      const { events } = await t.platform.ask(
        'query ($after: String) { events(after: $after, first: 100) { edges { cursor } } }',
        { after },
      );
      expect(events.edges).toHaveLength(count);
      return events.edges.map((edge: Data) => edge.cursor);
    },
    { timeout: 60_000 },
  );
}

interface Dispatched {
  readonly type: string;
  readonly data: string;
  readonly lastEventId: string;
}

/** Implements only https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream. */
class StandardClient {
  readonly events: Dispatched[] = [];
  readonly lines: string[] = [];
  lastEventId = '';
  retryMs: number | undefined;
  #type = '';
  #data = '';

  read(line: string): void {
    this.lines.push(line);
    if (line === '') this.#dispatch();
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === 'event') this.#type = value;
    if (field === 'data') this.#data += `${value}\n`;
    if (field === 'id') this.lastEventId = value;
    if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
  }

  #dispatch(): void {
    const data = this.#data;
    // Parsers that are less strict than the standard would dispatch an empty message.
    expect(data).not.toBe('');
    this.events.push({ type: this.#type, data: data.slice(0, -1), lastEventId: this.lastEventId });
    this.#type = '';
    this.#data = '';
  }
}

/** Opens an event stream with a GET, as EventSource does, reads it until `isDone`, and cuts the connection. */
async function readUntil(
  isDone: (client: StandardClient) => boolean,
  { variables = {}, lastEventId }: { variables?: object; lastEventId?: string } = {},
): Promise<StandardClient> {
  const url = new URL(`${t.url}/graphql`);
  url.search = String(new URLSearchParams({ query, variables: JSON.stringify(variables) }));
  const headers = { authorization: t.platform.authorization, accept: 'text/event-stream' };
  const client = new StandardClient();
  const response = await answerTo(url, {
    headers: { ...headers, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
  });
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  for await (const line of createInterface({ input: response })) {
    client.read(line);
    if (isDone(client)) break;
  }
  response.destroy();
  return client;
}

test('every message has its cursor as id, and keep-alives are not messages', async () => {
  const start = await t.platform.feedEnd();
  const cursors = await commit(3);
  const client = await readUntil(
    ({ events, lines }) => events.length === 3 && lines.filter((line) => line === ':').length > 3,
    { variables: { after: start } },
  );
  expect(client.events.map(({ type, lastEventId }) => [type, lastEventId])).toEqual(
    cursors.map((cursor) => ['next', cursor]),
  );
  for (const { data, lastEventId } of client.events) expect(JSON.parse(data).data.events.cursor).toBe(lastEventId);
  expect(client.retryMs).toBeGreaterThanOrEqual(500);
  expect(client.retryMs).toBeLessThan(2_500);
});

test('a stream resumes after Last-Event-ID, even if the request still has its original `after`', async () => {
  const start = await t.platform.feedEnd();
  const cursors = await commit(4);
  for (const variables of [{}, { after: start }]) {
    const resumed = await readUntil(({ events }) => events.length === 2, { variables, lastEventId: cursors[1] ?? '' });
    expect(resumed.events.map(({ lastEventId }) => lastEventId)).toEqual(cursors.slice(2));
  }
  // A later `after` takes precedence, because the app may have read further by other means.
  const later = await readUntil(({ events }) => events.length === 1, {
    variables: { after: cursors[2] },
    lastEventId: cursors[0] ?? '',
  });
  expect(later.events.map(({ lastEventId }) => lastEventId)).toEqual(cursors.slice(3));
});

test('if Last-Event-ID is not a cursor of this feed, the error names it and the stream completes', async () => {
  const { events } = await readUntil(({ events: all }) => all.length === 2, { lastEventId: 'nonsense' });
  expect(JSON.parse(events[0]?.data ?? '')).toMatchObject({
    errors: [{ message: 'Last-Event-ID is not a cursor of this feed', extensions: { code: 'INVALID_INPUT' } }],
  });
  expect(events[1]).toMatchObject({ type: 'complete', data: '' });
});

test('graphql-sse reads these streams unchanged', async () => {
  const start = await t.platform.feedEnd();
  const cursors = await commit(2);
  const client = createClient({
    url: `${t.url}/graphql/stream`,
    headers: { authorization: t.platform.authorization, 'last-event-id': cursors[0] ?? '' },
    retryAttempts: 0,
  });
  const messages = client.iterate({ query, variables: { after: start } });
  expect((await messages.next()).value).toMatchObject({ data: { events: { cursor: cursors[1] } } });
  await messages.return?.();
  client.dispose();
});
