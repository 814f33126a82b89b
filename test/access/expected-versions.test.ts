import { getNamedType, isInputObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/api/graphql/server/schema.ts';
import { type Operation, operationNames } from '../../src/domain/access/operations.ts';
import { usdToEur } from '../setup/acts.ts';
import { type Data, testGateway, uuidIn } from '../setup/gateway.ts';
import { patient } from '../setup/locks.ts';
import { restClient } from '../setup/rest.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';

const t = await testGateway({ PAYMENT_APPROVAL_MS: 60_000, SANDBOX_PACE_MS: 600_000 }, undefined, { pace: patient });
const { platform } = t;

/** Mutations that change no existing record. Most create one, or move money under the ledger's own checks. */
const others: readonly Operation[] = [
  ...(['createCustomer', 'createExternalAccount', 'createQuote', 'createClientToken', 'createApiToken'] as const),
  // A token can be rotated only once.
  'rotateApiToken',
  ...(['createWebhookEndpoint', 'lookUpReceiver', 'sandboxReceiveUma', 'sandboxFundAccount', 'sandboxSend'] as const),
  ...(['transferOut', 'transferIn', 'transferInternal'] as const),
  // These send messages, whatever the record's state.
  ...(['sendTestWebhook', 'replayWebhookEvents', 'resendWebhookDelivery'] as const),
];

let changes = 0;
const another = () => `change ${++changes}`;
const endpoint = async () => (await createEndpoint(platform, { url: 'https://example.com/', eventTypes: ['TEST'] })).id;
const outside = async () => (await platform.makeScene(0n)).outsideUsd;
const offer = async () => (await platform.quote(usdToEur(await platform.makeScene()))).id;
const metadata = () => [{ key: 'note', value: another() }];
const incoming = async () => {
  const { id } = await platform.announce((await platform.makeScene(0n)).customerId, 500);
  await platform.untilStatus(id, 'PENDING');
  return id;
};

/** The customer that each policy limits, by policy id. */
const limited = new Map<string, string>();
async function policy(): Promise<string> {
  const subjectId = await platform.newCustomer();
  const { id } = (await platform.succeed('setPolicy', { subjectId }, 'policy { id }')).policy;
  limited.set(id, subjectId);
  return id;
}

/**
 * For each mutation that changes a record: a function that creates a record, and one that returns a different input on
 * each call.
 */
const table: Partial<Record<Operation, readonly [make: () => Promise<string>, input: (id: string) => object]>> = {
  updateCustomer: [() => platform.newCustomer(), (customerId) => ({ customerId, metadata: metadata() })],
  deleteCustomer: [() => platform.newCustomer(), (customerId) => ({ customerId })],
  updateExternalAccount: [outside, (accountId) => ({ accountId, metadata: metadata() })],
  deleteExternalAccount: [outside, (accountId) => ({ accountId })],
  executeQuote: [offer, (quoteId) => ({ quoteId })],
  cancelQuote: [offer, (quoteId) => ({ quoteId })],
  approveTransaction: [incoming, (transactionId) => ({ transactionId })],
  rejectTransaction: [incoming, (transactionId) => ({ transactionId, reason: another() })],
  sandboxSetKycStatus: [() => platform.newCustomer(), (customerId) => ({ customerId, kycStatus: 'REJECTED' })],
  updateWebhookEndpoint: [endpoint, (endpointId) => ({ endpointId, description: another() })],
  deleteWebhookEndpoint: [endpoint, (endpointId) => ({ endpointId })],
  rotateWebhookSecret: [endpoint, (endpointId) => ({ endpointId })],
  revokeApiToken: [async () => (await platform.serverOf('VIEW')).tokenId, (tokenId) => ({ tokenId })],
  revokeClientToken: [
    async () => (await platform.mint({ customerId: await platform.newCustomer() })).tokenId,
    (tokenId) => ({ tokenId }),
  ],
  setPolicy: [policy, (id) => ({ subjectId: limited.get(id), receiverUmaAddresses: [`$${++changes}@example.com`] })],
  deletePolicy: [policy, (id) => ({ subjectId: limited.get(id) })],
  updatePlatform: [
    async () => (await platform.ask('{ platform { id } }')).platform.id,
    () => ({ currencies: ['USD', 'EUR', ['GBP', 'MXN', 'BRL', 'INR', 'NGN', 'CAD', 'PHP', 'SGD'][++changes % 8]] }),
  ],
};

const types = 'Customer ExternalAccount Quote Transaction WebhookEndpoint ApiToken ClientToken Platform Policy';
const versions = types.replaceAll(/\w+/g, '... on $& { version }');

/** Returns the version of a record, or undefined if it no longer exists. */
async function versionOf(id: string): Promise<number | undefined> {
  return (await platform.ask(`query ($id: ID!) { node(id: $id) { ${versions} } }`, { id })).node?.version;
}

/** Runs a mutation. Returns the type of its result and, after a conflict, the current record. */
async function change(name: Operation, input: object): Promise<Data> {
  const type = name.charAt(0).toUpperCase() + name.slice(1);
  const { result } = await platform.ask(
    `mutation ($input: ${type}Input!) { result: ${name}(input: $input) { __typename
      ... on UserError { code path } ... on ConflictError { existing { id ${versions} } } } }`,
    { input },
  );
  return result;
}

test('every mutation that changes a record accepts an expected version', () => {
  const taking = Object.values(schema.getMutationType()?.getFields() ?? {}).flatMap(({ name, args }) => {
    const input = getNamedType(args.find((one) => one.name === 'input')?.type);
    return isInputObjectType(input) && 'expectedVersion' in input.getFields() ? [name] : [];
  });
  expect(taking.toSorted()).toEqual(operationNames.filter((name) => !others.includes(name)).toSorted());
  expect(Object.keys(table).toSorted()).toEqual(taking.toSorted());
});

describe.each(Object.entries(table))('%s', (name, [make, input]) => {
  const operation = name as Operation;

  test('succeeds in only one of twenty calls with the same version, and the other calls get the current record', async () => {
    const id = await make();
    const expectedVersion = await versionOf(id);
    expect(expectedVersion).toBeGreaterThan(0);
    const calls = Array.from({ length: 20 }, () => change(operation, { ...input(id), expectedVersion }));
    const results = await Promise.all(calls);
    const won = results.filter(({ __typename }) => __typename.endsWith('Success'));
    expect(won).toHaveLength(1);
    const version = await versionOf(id);
    for (const lost of results.filter((one) => !won.includes(one))) {
      if (operation === 'deleteWebhookEndpoint') expect(lost).toMatchObject({ code: 'WEBHOOK_ENDPOINT_NOT_FOUND' });
      else expect(lost).toMatchObject({ code: 'CONFLICT', path: ['input', 'expectedVersion'] });
      if (version !== undefined) expect(lost.existing).toEqual({ id, version });
    }
    if (version !== undefined) expect(version).toBe((expectedVersion ?? 0) + 1);
  });

  test('changes nothing for an earlier or a later version', async () => {
    const id = await make();
    const version = await versionOf(id);
    for (const expectedVersion of [(version ?? 0) - 1, (version ?? 0) + 1]) {
      expect(await change(operation, { ...input(id), expectedVersion })).toMatchObject({ code: 'CONFLICT' });
      expect(await versionOf(id)).toBe(version);
    }
    const { __typename } = await change(operation, { ...input(id), expectedVersion: version });
    expect(__typename).toMatch(/Success$/);
  });
});

test('a command that expects another version is refused even if it would change nothing', async () => {
  for (const [name, input] of [
    ['updateCustomer', { customerId: await platform.newCustomer() }],
    ['updatePlatform', {}],
    ['updateWebhookEndpoint', { endpointId: await endpoint() }],
  ] as const)
    expect(await change(name, { ...input, expectedVersion: 7_000 })).toMatchObject({ code: 'CONFLICT' });
});

test("the service's own bookkeeping on an endpoint does not change its version", async () => {
  const id = await endpoint();
  const version = await versionOf(id);
  const set = (changes: string) => t.owner.query(`update webhook_endpoint set ${changes} where id = $1`, [uuidIn(id)]);
  await set("position = position + 1, failures = 3, failing_since = now(), status = 'FAILING'");
  expect(await versionOf(id)).toBe(version);
  await set("status = 'DISABLED', disabled_at = now()");
  expect(await versionOf(id)).toBe((version ?? 0) + 1);
});

test('a version conflict is stored under its idempotency key, and the receipt has the same code', async () => {
  const customerId = await platform.newCustomer();
  const input = { customerId, expectedVersion: 7, idempotencyKey: 'stale' };
  for (let sent = 0; sent < 2; sent++)
    expect(await change('updateCustomer', input)).toMatchObject({ code: 'CONFLICT' });
  expect(await platform.receiptOf('updateCustomer', 'stale')).toMatchObject({ outcome: 'REFUSED', code: 'CONFLICT' });
  const other = await change('updateCustomer', { ...input, expectedVersion: 1 });
  expect(other).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
});

describe('over REST', async () => {
  const rest = await restClient(t.url, platform.authorization);
  const scene = await platform.makeScene();
  const { id: quoteId } = await platform.quote(usdToEur(scene));
  const token = await platform.serverOf('VIEW');
  const person = `/customers/${await platform.newCustomer()}`;
  const account = `/customers/external-accounts/${scene.outsideUsd}`;

  /** Requests that change a record, with the path that reads the record and a body that differs on each call. */
  const requests: readonly [method: string, path: string, read: string | undefined, body: () => object | undefined][] =
    [
      ['PATCH', person, person, () => ({ customerType: 'INDIVIDUAL', fullName: another() })],
      ['PATCH', account, undefined, () => ({ platformAccountId: another() })],
      ['PATCH', '/config', '/config', () => ({ webhookEndpoint: `https://example.com/${++changes}` })],
      ['POST', `/quotes/${quoteId}/cancel`, `/quotes/${quoteId}`, () => undefined],
      ['DELETE', `/tokens/${token.tokenId}`, `/tokens/${token.tokenId}`, () => undefined],
      ['DELETE', person, person, () => undefined],
    ];

  test.each(requests)('%s %s takes effect only with the current entity tag', async (method, path, read, body) => {
    const send = (tag: string) => rest.call(method, path, { body: body(), headers: { 'if-match': tag } });
    // There is no GET for a single account, but the response to any change to the account has its entity tag.
    const seen = read ? await rest.call('GET', read) : await rest.call(method, path, { body: body() });
    const tag = seen.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[\w.-]+"$/);
    for (const other of [`W/${tag}`, '"none"', '"0"', tag.replace(/^"\d+/, '"999999')]) {
      const refused = { other, status: 412, body: { code: 'CONFLICT', details: { field: 'If-Match' } } };
      expect({ other, ...(await send(other)) }).toMatchObject(refused);
    }
    for (const malformed of [`${tag}, "2"`, '2', '']) {
      expect((await send(malformed)).body).toMatchObject({ code: 'INVALID_INPUT', details: { field: 'If-Match' } });
    }
    const changed = await send(tag);
    expect(changed.status).toBeLessThan(300);
    if (method === 'PATCH') {
      expect(changed.headers.get('etag')).not.toBe(tag);
      expect((await send(tag)).status).toBe(412);
      expect((await send('*')).status).toBe(200);
    } else expect((await send(tag)).status).toBe(412);
  });

  test('the settings share one entity tag, which changes whenever either API changes any of them', async () => {
    await rest.ask('PATCH', '/config', { webhookEndpoint: 'https://example.com/own' });
    const tag = async () => (await rest.call('GET', '/config')).headers.get('etag');
    const before = await tag();
    await platform.succeed('updatePlatform', { trustedDocuments: 'APPS' });
    const between = await tag();
    const { webhookEndpoints } = await platform.ask('{ webhookEndpoints { edges { node { id description } } } }');
    const ofConfig = webhookEndpoints.edges.find(({ node }: Data) => /settings/.test(node.description));
    const moved = { endpointId: ofConfig.node.id, url: 'https://example.com/elsewhere' };
    await platform.act('updateWebhookEndpoint', moved);
    const tags = [before, between, await tag()];
    expect(new Set(tags).size).toBe(3);
    for (const stale of [before, between]) {
      const refused = await rest.call('PATCH', '/config', { body: {}, headers: { 'if-match': stale ?? '' } });
      expect(refused).toMatchObject({ status: 412, body: { code: 'CONFLICT' } });
    }
  });
});
