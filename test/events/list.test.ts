import { expect, test, vi } from 'vitest';
import { pay, quote, usdToEur } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { often } from '../setup/often.ts';
import { makeScene } from '../setup/scene.ts';
import { nextOf } from '../setup/streams.ts';

const t = await testGateway({ SANDBOX_PACE_MS: 0 });

/** All fields of an event, of the changed object and of the objects that it refers to. */
const told = `type cursor
  transaction { id status customer { id name accounts(first: 2) { edges { node { id } } } } ledgerEntries { id } source { __typename } }
  quote { id status customer { id name } destination { __typename } }
  customer { id name accounts(first: 1) { pageInfo { hasNextPage } } transactions(last: 1) { edges { node { id } } } }
  account { id customer { id } }
  subject { __typename id ... on Transaction { customer { name } } ... on Quote { customer { name } } }`;

test('an event is the same in a list, alone and in a stream, for all fields and repeatedly', async () => {
  const { viewer } = await t.platform.ask('{ viewer { feedCursor } }');
  const scene = await makeScene(t.platform, 100_000n);
  const paid = await quote(t.platform, usdToEur(scene, { immediatelyExecute: true }));
  const client = t.platform.socket();
  const stream = client.iterate<Data>({
    query: `subscription ($after: String!) { events(after: $after) { ${told} } }`,
    variables: { after: viewer.feedCursor },
  });
  const streamed: Data[] = [];
  const isLast = ({ type, transaction }: Data) =>
    type === 'OUTGOING_PAYMENT' && transaction.id === paid.transaction.id && transaction.status === 'COMPLETED';
  do streamed.push((await nextOf(stream)).data?.events);
  while (!isLast(streamed.at(-1)));
  await client.dispose();
  expect(new Set(streamed.map(({ type }) => type)).size).toBeGreaterThan(3);

  const list = async (after: string, first: number): Promise<Data[]> =>
    (
      await t.platform.ask(
        `query ($after: String!, $first: Int!) { events(after: $after, first: $first) { edges { node { ${told} } } } }`,
        { after, first },
      )
    ).events.edges.map(({ node }: Data) => node);
  let after = viewer.feedCursor;
  const alone: Data[] = [];
  for (const { cursor } of streamed) {
    alone.push(...(await list(after, 1)));
    after = cursor;
  }
  expect(alone.map(({ cursor }) => cursor)).toEqual(streamed.map(({ cursor }) => cursor));
  for (let again = 0; again < often; again++) expect(await list(viewer.feedCursor, streamed.length)).toEqual(alone);
  // The objects of an event show their current state: only those that have changed since may differ from the stream's.
  const lasting = (events: Data[]) =>
    events.map(({ type, cursor, subject, customer }) => ({ type, cursor, subject, customer: customer?.id }));
  expect(lasting(streamed)).toEqual(lasting(alone));
});

test('the feed of each platform has every number from 1 to its end, despite concurrent writes', async () => {
  const platforms = [await t.newPlatform('one'), await t.newPlatform('other')];
  const scenes = await Promise.all(platforms.map((platform) => makeScene(platform, 100_000n)));
  await Promise.all(
    scenes.flatMap((scene, at) => [1, 2, 3].map((amount) => pay(platforms[at] ?? t.platform, scene, amount))),
  );
  const { pool } = t.gateway.payments.database;
  for (const { platformId } of platforms) {
    await vi.waitFor(async () => expect((await pool.query('select from outbox')).rowCount).toBe(0), {
      timeout: 10_000,
    });
    const { rows } = await pool.query(
      `select array_agg(sequence order by sequence) as numbers, (select sequence from feed_head where platform_id = $1) as head
       from event where platform_id = $1`,
      [platformId],
    );
    const { numbers, head } = rows[0];
    expect(numbers.length).toBeGreaterThan(6);
    expect(numbers.map(Number)).toEqual(Array.from({ length: Number(head) }, (_, index) => index + 1));
  }
});
