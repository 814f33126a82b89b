import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { stepLock } from '../../src/events/sequencer.ts';
import { ended, execute, quote, transactionOf } from '../setup/acts.ts';
import { type Data, startTestGateway, type TestPlatform } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';
import { nextOf, openEventStream } from '../setup/streams.ts';

/** A stream of one payment ends when its payment has ended, wherever its reader comes in. */

const streams = {
  transactionUpdates: `subscription ($id: ID!, $after: String) { transactionUpdates(transactionId: $id, after: $after) {
    cursor status terminal } }`,
  quoteUpdates: `subscription ($id: ID!, $after: String) { quoteUpdates(quoteId: $id, after: $after) {
    cursor status terminal } }`,
} as const;
type Stream = keyof typeof streams;

async function messages(platform: TestPlatform, name: Stream, variables: object): Promise<Data[]> {
  const all: Data[] = [];
  for await (const { data } of platform.watch(streams[name], variables)) all.push(data[name]);
  return all;
}

function quoteOf(platform: TestPlatform, scene: Scene): Promise<Data> {
  return quote(platform, {
    source: { account: { accountId: scene.usd } },
    destination: { account: { accountId: scene.outsideEur } },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 10_000,
  });
}

test('a stream resumed anywhere brings the rest and completes, also at its last message', async () => {
  const t = await startTestGateway();
  const scene = await makeScene(t.platform);
  const { viewer } = await t.platform.ask('{ viewer { feedCursor } }');
  const { id, transaction } = await quoteOf(t.platform, scene);
  await execute(t.platform, id);
  await ended(t.platform, transaction.id);
  for (const [name, of] of [
    ['transactionUpdates', transaction.id],
    ['quoteUpdates', id],
  ] as const) {
    const all = await messages(t.platform, name, { id: of, after: viewer.feedCursor });
    expect(all.at(-1)).toMatchObject({ terminal: true });
    for (const [at, { cursor }] of all.entries()) {
      expect(await messages(t.platform, name, { id: of, after: cursor })).toEqual(all.slice(at + 1));
    }
    const open = await openEventStream(`${t.url}/graphql`, t.platform.authorization, {
      query: streams[name],
      variables: { id: of, after: all.at(-1)?.cursor },
    });
    expect(await nextOf(open.events)).toMatchObject({ event: 'complete' });
    open.cut();
  }
  await t.stop();
});

test('what has ended, and whose end is not in the feed yet, is shown at once; the stream completes when it is', async () => {
  const t = await startTestGateway();
  const scene = await makeScene(t.platform);
  const { id, transaction } = await quoteOf(t.platform, scene);
  // Whoever holds the sequencer's lock keeps all others from their steps.
  const holder = new pg.Client(t.databaseUrl);
  await holder.connect();
  await holder.query('select pg_advisory_lock($1)', [stepLock]);
  await execute(t.platform, id);
  await vi.waitFor(
    async () => expect((await transactionOf(t.platform, transaction.id)).status).toBe('COMPLETED'),
    30_000,
  );
  const open = [
    t.platform.watch(streams.transactionUpdates, { id: transaction.id }),
    t.platform.watch(streams.quoteUpdates, { id }),
  ];
  const firsts = await Promise.all(open.map((stream) => nextOf(stream)));
  expect(firsts.map(({ data }) => Object.values(data as object)[0])).toMatchObject([
    { status: 'COMPLETED', terminal: true },
    { status: 'COMPLETED', terminal: true },
  ]);
  const rests = open.map((stream) => stream.next());
  const resumed = messages(t.platform, 'quoteUpdates', { id, after: firsts[1]?.data.quoteUpdates.cursor });
  await holder.end();
  expect(await Promise.all(rests)).toEqual([
    { done: true, value: undefined },
    { done: true, value: undefined },
  ]);
  // The cursor of a present state is the feed's own at that time: what was not in it comes after it.
  expect((await resumed).at(-1)).toMatchObject({ status: 'COMPLETED', terminal: true });
  await t.stop();
});
