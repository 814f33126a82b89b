import { expect, test } from 'vitest';
import { makeThings } from '../attack/matrix/things.ts';
import { connect, type Data, testGateway, uuidIn } from '../setup/gateway.ts';

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const ours = await makeThings(t.platform, 'http://127.0.0.1:9/');
const foreign = await t.newPlatform('foreign');
const theirs = await makeThings(foreign, 'http://127.0.0.1:9/');

const types = [
  ...(['Quote', 'Transaction', 'Customer', 'InternalAccount', 'ExternalAccount', 'Lookup', 'Event'] as const),
  ...(['ApiToken', 'ClientToken', 'WebhookEndpoint', 'WebhookDelivery', 'Platform', 'Policy'] as const),
];

const getters: Record<string, readonly (typeof types)[number][]> = {
  quote: ['Quote'],
  transaction: ['Transaction'],
  customer: ['Customer'],
  account: ['InternalAccount', 'ExternalAccount'],
};

/** Sends a query, and returns its data and errors. */
async function send(query: string, variables: object): Promise<{ data: Data; errors?: Data }> {
  const { status: _status, ...answer } = await t.platform.send(query, variables);
  return answer;
}

/** Returns ids that identify nothing this platform may see. */
function strangeIds(): string[] {
  const unknown = '00000000-0000-7000-8000-000000000000';
  return [
    '',
    ':',
    'Quote',
    'Quote:',
    'Quote:1',
    'nonsense',
    'Quote:\u0000',
    'Viewer:1',
    '__proto__:1',
    `toString:${unknown}`,
    Buffer.from(ours.Quote).toString('base64'),
    uuidIn(ours.Quote),
    ours.Quote.toUpperCase(),
    ours.Quote.toLowerCase(),
    ` ${ours.Quote}`,
    `${ours.Quote}\n`,
    `${ours.Quote}:${uuidIn(ours.Quote)}`,
    'x'.repeat(1_000),
    ...types.flatMap((type) => [`${type}:${unknown}`, theirs[type], `${type}:${uuidIn(theirs[type])}`]),
    // The right uuid with the wrong type.
    `Transaction:${uuidIn(ours.Quote)}`,
    `Quote:${uuidIn(ours.Transaction)}`,
    `ExternalAccount:${uuidIn(ours.InternalAccount)}`,
    `InternalAccount:${uuidIn(ours.ExternalAccount)}`,
    `Account:${uuidIn(ours.InternalAccount)}`,
    // The right uuid in the format that REST uses for the id of settings.
    `PlatformConfig:${t.platform.platformId}`,
    `Platform:${uuidIn(ours.Quote)}`,
    `Event:${uuidIn(ours.WebhookDelivery)}`,
    `WebhookDelivery:${uuidIn(ours.Event)}`,
  ];
}

test('an object has the same id wherever it is read, and the id leads back to the object', async () => {
  for (const type of types) {
    expect(ours[type]).toMatch(
      new RegExp(`^${type}:[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
    );
    const found = Object.keys(getters).filter((name) => getters[name]?.includes(type));
    const query = `query ($id: ID!) { ${['node', ...found].map((name) => `${name}(id: $id) { __typename id }`).join(' ')} }`;
    const thing = { __typename: type, id: ours[type] };
    const data = Object.fromEntries(['node', ...found].map((name) => [name, thing]));
    expect(await send(query, { id: ours[type] })).toEqual({ data });
  }
});

test('node returns null without an error for unknown, foreign, malformed and mistyped ids', async () => {
  for (const id of strangeIds()) {
    const answer = await send('query ($id: ID!) { node(id: $id) { id } }', { id });
    expect({ id, ...answer }).toEqual({ id, data: { node: null } });
  }
});

test('the typed getters return null in the same cases, and for ids of other types', async () => {
  const query = `query ($id: ID!) { ${Object.keys(getters)
    .map((name) => `${name}(id: $id) { id }`)
    .join(' ')} }`;
  const nothing = Object.fromEntries(Object.keys(getters).map((name) => [name, null]));
  for (const id of strangeIds()) {
    expect({ id, ...(await send(query, { id })) }).toEqual({ id, data: nothing });
  }
  for (const type of types) {
    const { data, errors } = await send(query, { id: ours[type] });
    expect(errors).toBeUndefined();
    const found = Object.keys(data).filter((name) => data[name] !== null);
    expect(found).toEqual(Object.keys(getters).filter((name) => getters[name]?.includes(type)));
  }
});

test('nodes returns objects in the order of the ids, with null for each unknown id', async () => {
  const strange = strangeIds();
  const ids = [...types.map((type) => ours[type]), ...strange, ours.Quote];
  const answer = await send('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
  expect(answer).toEqual({
    data: { nodes: [...types.map((type) => ({ id: ours[type] })), ...strange.map(() => null), { id: ours.Quote }] },
  });
});

test('callers can read their own platform by its id; to other callers, the id looks unknown', async () => {
  const { platform } = await t.platform.ask('{ platform { id umaDomain supportedCurrencies { currency { code } } } }');
  expect(platform.id).toBe(`Platform:${t.platform.platformId}`);
  const query = `query ($id: ID!, $ids: [ID!]!) { node(id: $id) { id ... on Platform { umaDomain supportedCurrencies { currency { code } } } }
    nodes(ids: $ids) { id } }`;
  const asked = { id: platform.id, ids: [ours.Quote, platform.id] };
  expect(await t.platform.ask(query, asked)).toEqual({
    node: platform,
    nodes: [{ id: ours.Quote }, { id: platform.id }],
  });
  expect(await foreign.ask(query, asked)).toEqual({ node: null, nodes: [null, null] });
});

test('an event and a delivery are read by id as their lists show them, and look unknown to the apps of other customers', async () => {
  const fields = { event: 'id type cursor', delivery: 'id event { id }' };
  const lists = `query ($endpoint: ID!) { events(last: 100) { nodes { ${fields.event} } }
    node(id: $endpoint) { ... on WebhookEndpoint { deliveries { nodes { ${fields.delivery} } } } } }`;
  const { events, node } = await t.platform.ask(lists, { endpoint: ours.WebhookEndpoint });
  const query = `query ($event: ID!, $delivery: ID!) { event: node(id: $event) { ... on Event { ${fields.event} } }
    delivery: node(id: $delivery) { ... on WebhookDelivery { ${fields.delivery} } } }`;
  const ids = { event: ours.Event, delivery: ours.WebhookDelivery };
  expect(await t.platform.ask(query, ids)).toEqual({
    event: events.nodes.find(({ id }: Data) => id === ours.Event),
    delivery: node.deliveries.nodes.find(({ id }: Data) => id === ours.WebhookDelivery),
  });
  const { token } = await t.platform.mint({ customerId: await t.platform.newCustomer() });
  const app = connect(t.url, t.platform.platformId, `Bearer ${token}`);
  expect(await app.ask(query, ids)).toEqual({ event: null, delivery: null });
});
