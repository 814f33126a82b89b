import { createClient } from 'graphql-sse';
import { expect, test } from 'vitest';
import { type Data, testGateway } from '../setup/gateway.ts';
import { commitEvents, nextOf, openEventStream, sequenced } from '../setup/streams.ts';

/** Event streams as read by clients that follow the HTML standard and resume without any code in the app. */

const t = await testGateway({}, undefined, { pace: { keepAliveMs: 20 } });

const query = 'subscription ($after: String) { events(after: $after) { id cursor } }';

async function commit(count: number): Promise<string[]> {
  const after = await t.platform.feedEnd();
  await commitEvents(t, count);
  await sequenced(t);
  const list = 'query ($after: String) { events(after: $after, first: 100) { edges { cursor } } }';
  return (await t.platform.ask(list, { after })).events.edges.map(({ cursor }: Data) => cursor);
}

const { authorization } = t.platform;
const addressOf = (variables: object) =>
  `${t.url}/graphql?${new URLSearchParams({ query, variables: JSON.stringify(variables) })}`;

/** Opens an event stream with a GET, as EventSource does, reads its first messages, and drops the connection. */
async function take(count: number, variables: object, lastEventId = '') {
  const resume = { 'last-event-id': lastEventId };
  const stream = await openEventStream(addressOf(variables), authorization, undefined, resume);
  const taken = await Promise.all(Array.from({ length: count }, () => nextOf(stream.events)));
  stream.cut();
  return taken;
}

test('every message has its cursor as its id, and keep-alives are not messages', async () => {
  const after = await t.platform.feedEnd();
  const cursors = await commit(3);
  const response = await fetch(addressOf({ after }), { headers: { authorization, accept: 'text/event-stream' } });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  let text = '';
  const found = (form: RegExp) => Array.from(text.matchAll(form), ([, part = '']) => part);
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (found(/^id: (.+)$/gm).length === 3 && found(/^:$/gm).length > 3) break;
  }
  expect(found(/^id: (.+)$/gm)).toEqual(cursors);
  expect(found(/^event: (.+)$/gm)).toEqual(['next', 'next', 'next']);
  expect(found(/^data: (.+)$/gm).map((data) => JSON.parse(data).data.events.cursor)).toEqual(cursors);
  // Parsers that are less strict than the HTML standard dispatch an empty message for a block without data.
  for (const block of text.split('\n\n').slice(0, -1)) expect(block).toMatch(/^data:/m);
  const [retryMs] = found(/^retry: (\d+)$/gm).map(Number);
  expect(retryMs).toBeGreaterThanOrEqual(500);
  expect(retryMs).toBeLessThan(2_500);
});

test('a stream resumes after Last-Event-ID, even if the request still has its original `after`', async () => {
  const start = await t.platform.feedEnd();
  const cursors = await commit(4);
  for (const variables of [{}, { after: start }])
    expect((await take(2, variables, cursors[1])).map(({ id }) => id)).toEqual(cursors.slice(2));
  // A later `after` takes precedence, because the app may have read further by other means.
  const later = await take(1, { after: cursors[2] }, cursors[0]);
  expect(later.map(({ id }) => id)).toEqual(cursors.slice(3));
});

test('if Last-Event-ID is not a cursor of this feed, the error names it and the stream completes', async () => {
  const [error, end] = await take(2, {}, 'nonsense');
  expect(error?.data).toMatchObject({
    errors: [{ message: 'Last-Event-ID is not a cursor of this feed', extensions: { code: 'INVALID_INPUT' } }],
  });
  expect(end).toMatchObject({ event: 'complete', data: null });
});

test('an unmodified graphql-sse client can read these streams', async () => {
  const start = await t.platform.feedEnd();
  const cursors = await commit(2);
  const client = createClient({
    url: `${t.url}/graphql/stream`,
    headers: { authorization, 'last-event-id': cursors[0] ?? '' },
    retryAttempts: 0,
  });
  const messages = client.iterate({ query, variables: { after: start } });
  expect((await messages.next()).value).toMatchObject({ data: { events: { cursor: cursors[1] } } });
  await messages.return?.();
  client.dispose();
});
