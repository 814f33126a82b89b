import { expect, test } from 'vitest';
import { uuidOf } from '../../src/core/ids.ts';
import { stepLock } from '../../src/domain/events/sequencer.ts';
import { usdToEur } from '../setup/acts.ts';
import { type Data, ownGateway, type TestPlatform } from '../setup/gateway.ts';
import type { Scene } from '../setup/scene.ts';
import { nextOf, openEventStream } from '../setup/streams.ts';

/** A payment's stream completes once the payment is terminal (or, if requested, final), wherever the stream starts. */

const streams = {
  untilFinal: `subscription ($id: ID!, $after: String) {
    transactionUpdates(of: { transactionId: $id }, until: FINAL, after: $after) {
    cursor status terminal transaction { final } } }`,
  transactionUpdates: `subscription ($id: ID!, $after: String) { transactionUpdates(of: { transactionId: $id }, after: $after) {
    cursor status terminal } }`,
  quoteUpdates: `subscription ($id: ID!, $after: String) { quoteUpdates(quoteId: $id, after: $after) {
    cursor status terminal } }`,
} as const;
type Stream = keyof typeof streams;

const messages = (platform: TestPlatform, name: Stream, variables: object): Promise<Data[]> =>
  platform.followed(streams[name], variables);

test('a stream resumed from any point, even after its last message, sends the rest and completes', async () => {
  const t = await ownGateway();
  const scene = await t.platform.makeScene();
  const after = await t.platform.feedEnd();
  const { id, transaction } = await t.platform.quote(usdToEur(scene));
  await t.platform.execute(id);
  await t.platform.ended(transaction.id);
  for (const [name, of] of [
    ['transactionUpdates', transaction.id],
    ['quoteUpdates', id],
  ] as const) {
    const all = await messages(t.platform, name, { id: of, after });
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
});

test("a finished payment is shown immediately; the stream completes when the payment's last event is in the feed", async () => {
  const t = await ownGateway();
  const scene = await t.platform.makeScene();
  const { id, transaction } = await t.platform.quote(usdToEur(scene));
  // While this connection holds the sequencer's lock, no sequencer can proceed.
  const holder = await t.owner.connect();
  await holder.query('select pg_advisory_lock($1)', [stepLock]);
  await t.platform.execute(id);
  const status = async () => (await t.platform.fieldsOf('transaction', transaction.id, 'status')).status;
  await expect.poll(status).toBe('COMPLETED');
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
  holder.release(true);
  expect(await Promise.all(rests)).toEqual([
    { done: true, value: undefined },
    { done: true, value: undefined },
  ]);
  // The cursor of a message about the current state is the feed's end at that time, so all later events follow it.
  expect((await resumed).at(-1)).toMatchObject({ status: 'COMPLETED', terminal: true });
});

/** Quotes a payment that the receiving bank will return `returnAfterMs` milliseconds after its delivery. */
function returned(platform: TestPlatform, scene: Scene, returnAfterMs: number): Promise<Data> {
  return platform.quote(usdToEur(scene, { sandboxScenario: { returnAfterMs } }));
}

const finalityOf = (platform: TestPlatform, id: string) => platform.fieldsOf('transaction', id, 'terminal final');

test('a stream with `until: FINAL` stays open while a bank may return the money, and ends with or without a return', async () => {
  const t = await ownGateway();
  const scene = await t.platform.makeScene();
  const after = await t.platform.feedEnd();

  const delivered = await t.platform.quote(usdToEur(scene));
  await t.platform.execute(delivered.id);
  const plain = await messages(t.platform, 'untilFinal', { id: delivered.transaction.id, after });
  expect(plain.at(-1)).toMatchObject({ status: 'COMPLETED', terminal: true, transaction: { final: true } });

  const { id, transaction } = await returned(t.platform, scene, 300);
  const following = messages(t.platform, 'untilFinal', { id: transaction.id });
  await t.platform.execute(id);
  const all = await following;
  expect(all.slice(-2)).toMatchObject([
    { status: 'COMPLETED', terminal: true, transaction: { final: false } },
    { status: 'REFUNDED', terminal: true, transaction: { final: true } },
  ]);
  expect(await finalityOf(t.platform, transaction.id)).toEqual({ terminal: true, final: true });
  // The payment is now final. A stream resumed at any point sends the remaining messages and completes, and repeated
  // messages show the current state.
  for (const [at, { cursor }] of all.entries()) {
    expect(await messages(t.platform, 'untilFinal', { id: transaction.id, after: cursor })).toEqual(all.slice(at + 1));
  }
  expect(await messages(t.platform, 'untilFinal', { id: transaction.id })).toEqual([all.at(-1)]);

  const watched = await returned(t.platform, scene, 1_200);
  await t.platform.execute(watched.id);
  const stream = t.platform.watch(streams.untilFinal, { id: watched.transaction.id });
  let last: Data;
  do last = (await nextOf(stream)).data.transactionUpdates;
  while (!last.terminal);
  expect(last).toMatchObject({ status: 'COMPLETED', transaction: { final: false } });
  expect(await finalityOf(t.platform, watched.transaction.id)).toEqual({ terminal: true, final: false });
  const resumed = messages(t.platform, 'untilFinal', { id: watched.transaction.id, after: last.cursor });
  // Simulates the rail reporting that the money was not returned.
  await t.gateway.payments.database.pool.query('update rail_order set due_at = null where transaction_id = $1', [
    uuidOf(watched.transaction.id, 'Transaction'),
  ]);
  expect(await stream.next()).toEqual({ done: true, value: undefined });
  expect(await resumed).toEqual([]);
  expect(await finalityOf(t.platform, watched.transaction.id)).toEqual({ terminal: true, final: true });
});

test('a payment to an internal account cannot be returned, so it is final once it is COMPLETED', async () => {
  const t = await ownGateway();
  const [payer, payee] = [await t.platform.makeScene(), await t.platform.makeScene(0n)];
  for (const accountId of [payer.eur, payee.eur]) {
    const input = { destination: { account: { accountId } }, sandboxScenario: { returnAfterMs: 3_600_000 } };
    const { id, transaction } = await t.platform.quote(usdToEur(payer, input));
    const following = messages(t.platform, 'untilFinal', { id: transaction.id });
    await t.platform.execute(id);
    expect((await following).at(-1)).toMatchObject({ status: 'COMPLETED', transaction: { final: true } });
  }
});
