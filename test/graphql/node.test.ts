import { describe, expect, test } from 'vitest';
import { mint, quote, usdToEur } from '../setup/acts.ts';
import { connect, type Data, type TestPlatform, testGateway, uuidIn } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';
import { createEndpoint, endpointUntil } from '../webhooks/endpoint.ts';

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const ours = await makeThings(t.platform);
const theirs = await makeThings(await t.newPlatform('foreign'));

const types = ['Quote', 'Transaction', 'Customer', 'InternalAccount', 'ExternalAccount'] as const;
/** The id of one object of each type. */
type Things = Readonly<Record<(typeof types)[number], string>>;

async function makeThings(platform: TestPlatform): Promise<Things> {
  const scene: Scene = await makeScene(platform, 10_000n);
  const { id, transaction } = await quote(platform, usdToEur(scene));
  return {
    Quote: id,
    Transaction: transaction.id,
    Customer: scene.customerId,
    InternalAccount: scene.usd,
    ExternalAccount: scene.outsideUsd,
  };
}

const getters: Record<string, readonly (keyof Things)[]> = {
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
  ];
}

test('an object has the same id wherever it is read, and the id leads back to the object', async () => {
  for (const type of types) {
    expect(ours[type]).toMatch(
      new RegExp(`^${type}:[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
    );
    const [getter = ''] = Object.keys(getters).filter((name) => getters[name]?.includes(type));
    const query = `query ($id: ID!) { node(id: $id) { __typename id } ${getter}(id: $id) { __typename id } }`;
    const thing = { __typename: type, id: ours[type] };
    expect(await send(query, { id: ours[type] })).toEqual({ data: { node: thing, [getter]: thing } });
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
  const foreign = await t.newPlatform('foreign platform');
  expect(await foreign.ask(query, asked)).toEqual({ node: null, nodes: [null, null] });
});

describe('events and deliveries', () => {
  const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }';
  const app = async (input: object) =>
    connect(t.url, t.platform.platformId, `Bearer ${(await mint(t.platform, input)).token}`);

  test('can be read by id, as their lists show them, and look unknown to other platforms', async () => {
    const { id: endpointId } = await createEndpoint(t.platform, {
      url: 'http://127.0.0.1:9/',
      eventTypes: ['KYC_STATUS'],
    });
    const { deliveries } = await endpointUntil(t.platform, endpointId, (one) => one.deliveries.length > 0);
    const [delivery] = deliveries;
    const query = `query ($event: ID!, $delivery: ID!) { event: node(id: $event) { ... on Event { id type cursor } }
      delivery: node(id: $delivery) { ... on WebhookDelivery { id event { id } } } }`;
    const ids = { event: delivery.event.id, delivery: delivery.id };
    expect(await t.platform.ask(query, ids)).toEqual({
      event: delivery.event,
      delivery: { id: delivery.id, event: { id: delivery.event.id } },
    });
    const foreign = await t.newPlatform('foreign events');
    expect(await foreign.ask(query, ids)).toEqual({ event: null, delivery: null });
    // The right uuid with the wrong type.
    const wrong = [`Event:${uuidIn(delivery.id)}`, `WebhookDelivery:${uuidIn(delivery.event.id)}`];
    expect((await t.platform.ask(nodes, { ids: wrong })).nodes).toEqual([null, null]);
    const customer = await app({ customerId: ours.Customer });
    expect(await customer.ask(query, ids)).toEqual({ event: null, delivery: null });
  });
});
