import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { schema } from '../../src/api/graphql/server/schema.ts';
import { Cursors } from '../../src/core/cursors.ts';
import { usdToEur } from '../setup/acts.ts';
import { cursors, secretKey } from '../setup/cursors.ts';
import { type Data, ownGateway, startTestGateway, testGateway } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';
import { nextOf, openEventStream } from '../setup/streams.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';

const t = await testGateway();
const other = await t.newPlatform('other');
const scene = await t.platform.makeScene();
await other.makeScene();
const { id: quoteId } = await t.platform.quote(usdToEur(scene));
const endpointId = (await createEndpoint(t.platform, { url: 'https://example.com/', eventTypes: ['TEST'] })).id;
const rest = await restClient(t.url, t.platform.authorization);

/** Required arguments, by field. */
const needed: Readonly<Record<string, string>> = { quoteUpdates: `quoteId: "${quoteId}"` };
const args = (...all: readonly (string | undefined)[]) => `(${all.filter((one) => one !== undefined).join(', ')})`;

const refused = ({ errors }: Data) => ({ code: errors?.[0]?.extensions.code, at: errors?.[0]?.extensions.field });

/**
 * The places in both APIs that accept a cursor. Each function sends a cursor to one of them, and returns the refusal's
 * code and the argument named in the refusal.
 */
const places = new Map<string, (cursor: string) => Promise<{ code: string; at: string }>>();
for (const [name, { args: taken }] of Object.entries(schema.getQueryType()?.getFields() ?? {})) {
  for (const argument of ['after', 'before'].filter((one) => taken.some((arg) => arg.name === one))) {
    places.set(`${name}(${argument}:)`, async (cursor) => {
      const given = args(`${argument}: "${cursor}"`, needed[name]);
      return refused(await t.platform.send(`{ ${name}${given} { pageInfo { endCursor } } }`));
    });
  }
}
for (const name of Object.keys(schema.getSubscriptionType()?.getFields() ?? {})) {
  const stream = (after?: string) =>
    `subscription { ${name}${after || needed[name] ? args(after && `after: "${after}"`, needed[name]) : ''} { __typename } }`;
  places.set(`subscription ${name}(after:)`, async (cursor) => refused(await nextOf(t.platform.watch(stream(cursor)))));
  places.set(`Last-Event-ID of ${name}`, async (cursor) => {
    const resume = { 'last-event-id': cursor };
    const { authorization } = t.platform;
    const { events, cut } = await openEventStream(`${t.url}/graphql`, authorization, { query: stream() }, resume);
    const { data } = await nextOf(events);
    cut();
    return refused(data);
  });
}
for (const argument of ['after', 'before']) {
  places.set(`replayWebhookEvents(${argument}:)`, async (cursor) => {
    const input = { endpointId, events: { between: { [argument]: cursor } } };
    const { code, path } = await t.platform.act('replayWebhookEvents', input);
    return { code, at: path?.at(-1) };
  });
}
for (const [path, { get }] of Object.entries<Data>(rest.document.paths)) {
  if (!get?.parameters?.some(({ name }: Data) => name === 'cursor')) continue;
  places.set(`GET ${path}?cursor=`, async (cursor) => {
    const { body } = await rest.call('GET', `${path}?cursor=${encodeURIComponent(cursor)}`);
    return { code: body.code, at: body.details?.field };
  });
}

/** One cursor of each kind, from this platform. */
const { viewer, transactions, changed, events, accounts } = await t.platform.ask(
  `query ($id: ID!) {
    viewer { feedCursor }
    transactions { edges { cursor } }
    changed: customers(orderBy: UPDATED) { edges { cursor } }
    events(first: 100) { edges { cursor } }
    accounts: account(id: $id) { ... on InternalAccount { ledgerEntries { edges { cursor } } } }
  }`,
  { id: scene.usd },
);
const first = ({ edges }: Data): string => edges[0].cursor;
const kinds = [viewer.feedCursor, first(transactions), first(changed), first(events), first(accounts.ledgerEntries)];

test('a cursor is short, and reveals nothing about the row that it points to', () => {
  for (const cursor of kinds) expect(cursor).toMatch(/^[\w-]{22,43}$/);
  const sequence: string[] = events.edges.map(({ cursor }: Data) => cursor);
  expect(sequence.length).toBeGreaterThan(10);
  // Cursors of adjacent rows look unrelated, so they reveal neither a counter nor a platform.
  const bytes = sequence.map((cursor) => Buffer.from(cursor, 'base64url'));
  for (let at = 0; at < 16; at += 1)
    expect(new Set(bytes.map((one) => one[at])).size).toBeGreaterThan(sequence.length / 2);
});

test('a position has the same cursor in all lists and streams, on every instance', async () => {
  const there = t.platform.at((await ownGateway({ ROLE: 'serve' }, t.databaseUrl)).url);
  const query =
    '{ viewer { feedCursor } transactions { edges { cursor } } customers(orderBy: UPDATED) { edges { cursor } } }';
  expect(await there.ask(query)).toEqual(await t.platform.ask(query));
  const stream = 'subscription ($after: String) { events(after: $after) { cursor } }';
  const next = await there.followed(stream, { after: events.edges[3].cursor }, () => true);
  expect(next).toEqual([{ cursor: events.edges[4].cursor }]);
});

test.each([...places.keys()])(
  '%s refuses anything but a cursor of its own list and platform, and names the argument',
  async (place) => {
    const send = places.get(place);
    const at = /\((\w+):\)|(cursor)=|^(Last-Event-ID)/.exec(place);
    const invalid = { code: 'INVALID_INPUT', at: at?.[1] ?? at?.[2] ?? at?.[3] ?? 'after' };
    const [good = ''] = kinds;
    const tampered = `${good.slice(0, 5)}${good[5] === 'A' ? 'B' : 'A'}${good.slice(6)}`;
    const former = Buffer.from(`feed:${t.platform.platformId.slice(-12)}:1`).toString('base64url');
    const foreign = [await other.feedEnd(), first((await other.ask('{ customers { edges { cursor } } }')).customers)];
    for (const cursor of [tampered, former, `${good}=`, `${good}AAAA`, good.slice(0, -4), ...foreign])
      expect({ cursor, ...(await send?.(cursor)) }).toEqual({ cursor, ...invalid });
  },
);

test('a cursor from the same list in a different order is refused', async () => {
  for (const [cursor, order] of [
    [first(changed), 'CREATED'],
    [first((await t.platform.ask('{ customers { edges { cursor } } }')).customers), 'UPDATED'],
  ] as const) {
    const { errors } = await t.platform.send(`{ customers(orderBy: ${order}, after: "${cursor}") { totalCount } }`);
    expect(errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT', field: 'after' } }]);
  }
});

test('a cursor with any bit changed is refused', () => {
  const position = '0199f0a4-7a6b-7c3d-8e4f-5a6b7c8d9e0f';
  const cursor = cursors.write('Transaction', t.platform.platformId, position);
  const bytes = Buffer.from(cursor, 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(cursors.read('Transaction', t.platform.platformId, changed.toString('base64url'))).toBeUndefined();
  }
  expect(cursors.read('Transaction', t.platform.platformId, cursor)).toBe(position);
});

test('cursors encrypted with a replaced key stay valid for as long as that key is a fallback', () => {
  const [old, next] = [Buffer.from(secretKey, 'hex'), randomBytes(32)];
  const { platformId } = t.platform;
  const before = cursors.write('feed', platformId, '17:2');
  const [rotated, without] = [new Cursors([next, old]), new Cursors([next])];
  expect(rotated.read('feed', platformId, before)).toBe('17:2');
  expect(without.read('feed', platformId, before)).toBeUndefined();
  // An instance that does not yet encrypt with the new key can read cursors that others have encrypted with it.
  expect(new Cursors([old, next]).read('feed', platformId, rotated.write('feed', platformId, '18:2'))).toBe('18:2');
});

test('a refused cursor does not affect the cursors read after it', () => {
  const [old, next] = [randomBytes(32), randomBytes(32)];
  const [rotated, before] = [new Cursors([next, old]), new Cursors([old])];
  for (let number = 0; number < 200; number += 1) {
    const [cursor, replaced] = [rotated.write('feed', 'p', `${number}:2`), before.write('feed', 'p', `${number}:3`)];
    expect(rotated.read('other', 'p', cursor)).toBeUndefined();
    // Change the second-to-last character, because the last one may contain bits that decoding ignores.
    const forged = `${cursor.slice(0, -2)}${cursor.at(-2) === 'A' ? 'B' : 'A'}${cursor.at(-1)}`;
    expect(rotated.read('feed', 'p', forged)).toBeUndefined();
    expect([rotated.read('feed', 'p', cursor), rotated.read('feed', 'p', replaced)]).toEqual([
      `${number}:2`,
      `${number}:3`,
    ]);
  }
});

test('an instance without SECRET_KEY refuses to serve', async () => {
  await expect(startTestGateway({ SECRET_KEY: undefined }, t.databaseUrl)).rejects.toThrow(/SECRET_KEY/);
});
