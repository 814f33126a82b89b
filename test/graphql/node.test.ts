import { expect, test } from 'vitest';
import { makeThings } from '../attack/matrix/things.ts';
import { type Data, testGateway, uuidIn } from '../setup/gateway.ts';

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

/** Sends a query and returns its data and errors. */
async function send(query: string, variables: object): Promise<{ data: Data; errors?: Data }> {
  const { status: _status, ...answer } = await t.platform.send(query, variables);
  return answer;
}

/** Returns ids that must not be found: malformed ids, unknown ids, and ids of another platform. */
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
    // The correct UUID, but in the format that REST uses for the id of the platform's settings.
    `PlatformConfig:${t.platform.platformId}`,
    `Platform:${uuidIn(ours.Quote)}`,
    `Event:${uuidIn(ours.WebhookDelivery)}`,
    `WebhookDelivery:${uuidIn(ours.Event)}`,
  ];
}

const fields = ['node', ...Object.keys(getters)];

/** Reads an object by its id with each of `fields`, and expects only those in `names` to return it. */
async function expectBy(names: readonly string[], id: string, thing: object = {}): Promise<void> {
  const query = `query ($id: ID!) { ${fields.map((name) => `${name}(id: $id) { __typename id }`).join(' ')} }`;
  const data = Object.fromEntries(fields.map((name) => [name, names.includes(name) ? thing : null]));
  expect({ id, ...(await send(query, { id })) }).toEqual({ id, data });
}

test('an object has the same id wherever it is read, and can be read by this id', async () => {
  for (const type of types) {
    const id = ours[type];
    expect(id).toMatch(new RegExp(`^${type}:[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`));
    const names = fields.filter((name) => name === 'node' || getters[name]?.includes(type));
    await expectBy(names, id, { __typename: type, id });
  }
});

test('node returns null without an error for unknown, foreign, malformed and mistyped ids', async () => {
  for (const id of strangeIds()) await expectBy([], id);
});

test('nodes returns objects in the order of the ids, with null for each unknown id', async () => {
  const [known, strange] = [types.map((type) => ({ id: ours[type] })), strangeIds()];
  const ids = [...known.map(({ id }) => id), ...strange, ours.Quote];
  const answer = await send('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
  expect(answer).toEqual({ data: { nodes: [...known, ...strange.map(() => null), { id: ours.Quote }] } });
});

test('callers can read their own platform by its id, while everyone else gets null', async () => {
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

test("events and deliveries read by id match those in their lists, and other customers' apps cannot read them", async () => {
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
  const app = await t.platform.appOf({ customerId: await t.platform.newCustomer() });
  expect(await app.ask(query, ids)).toEqual({ event: null, delivery: null });
});
