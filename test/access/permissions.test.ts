import {
  execute,
  type GraphQLObjectType,
  getNamedType,
  isCompositeType,
  isObjectType,
  isRequiredArgument,
  parse,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/api/graphql/server/schema.ts';
import { type Operation, operationNames, showsExisting } from '../../src/domain/access/operations.ts';
import { platformItself } from '../../src/domain/access/platform-itself.ts';
import { deletePolicy } from '../../src/domain/policies/policies.ts';
import { transferOut } from '../../src/domain/transfers/transfers.ts';
import { between, moving } from '../setup/acts.ts';
import { type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';
import { countedGateway } from '../setup/statements.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';

/**
 * Without VIEW, a token can read a record that its own mutation creates, and a payment that its mutation advances. Of
 * any other record, it can read only the id. It can read nothing about a record's owner or the owner's other records.
 */

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const counting = await countedGateway(t);
const scene = await t.platform.makeScene();
await t.platform.succeed('setPolicy', { subjectId: scene.customerId });
const blind = await t.platform.at(counting.url).serverOf('TRANSACT', 'MANAGE');

/** The list is reversed each time, so that every call makes a change. */
const currencies = ['USD', 'EUR'];
// Any id will do, because without VIEW, calls that select more than the id are refused before any lookup.
const uuid = '019a0000-0000-7000-8000-000000000000';
const [nobody, nowhere] = [{ customerId: `Customer:${uuid}` }, { accountId: `ExternalAccount:${uuid}` }];
/** Inputs for all mutations that return an existing record, and for enough others to cover every record type. */
const mutations: { readonly [Name in Operation]?: () => object } = {
  createQuote: () => between(scene.usd, scene.outsideEur, 1_000),
  transferOut: () => moving(scene.usd, scene.outsideUsd, 10),
  updateCustomer: () => ({ customerId: scene.customerId }),
  sandboxFundAccount: () => ({ accountId: scene.usd, amount: { units: 1 } }),
  updatePlatform: () => ({ currencies: currencies.reverse() }),
  setPolicy: () => ({ subjectId: scene.customerId }),
  createApiToken: () => ({ name: 'another', permissions: ['TRANSACT'] }),
  deleteCustomer: () => nobody,
  sandboxSetKycStatus: () => ({ ...nobody, kycStatus: 'APPROVED' }),
  deleteExternalAccount: () => nowhere,
  updateExternalAccount: () => nowhere,
};

function objectType(name: string): GraphQLObjectType {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`${name} is not an object type`);
  return type;
}

const forbidden = { __typename: 'ForbiddenError', code: 'FORBIDDEN' };

const mutationFields = Object.values(schema.getMutationType()?.getFields() ?? {});

test('this test covers every record type that a mutation returns', () => {
  const answered = mutationFields.flatMap(({ name }) => {
    const success = objectType(`${name.charAt(0).toUpperCase()}${name.slice(1)}Success`);
    return Object.values(success.getFields()).map((field) => getNamedType(field.type));
  });
  const nouns = new Set(answered.filter(isObjectType).map((type) => type.name));
  // The mutations that return these types need VIEW themselves.
  for (const name of ['Lookup', 'WebhookEndpoint', 'WebhookDelivery']) nouns.delete(name);
  // This type describes an error in the input.
  nouns.delete('RefusedField');
  // An edge contains the row itself.
  for (const name of nouns) if (name.endsWith('Edge')) nouns.delete(name);
  const covered = new Set(Object.keys(mutations).map((name) => nounOf(name)?.[1].name));
  expect([...nouns].sort()).toEqual([...covered].sort());
});

test("an edge in a mutation's payload shows no more than its row", async () => {
  const input = { customerId: scene.customerId };
  const own = await blind.act('updateCustomer', input, 'customerEdge { cursor node { id } }');
  expect(own.customerEdge).toEqual({ cursor: expect.any(String), node: { id: scene.customerId } });
  for (const fields of ['id name', 'accounts { totalCount }']) {
    const refused = await blind.act('updateCustomer', input, `customerEdge { node { ${fields} } }`);
    expect(refused).toMatchObject({ code: 'FORBIDDEN' });
  }
});

function leadsOn(name: string): boolean {
  const type = schema.getType(name);
  return (
    name.endsWith('Connection') ||
    (isObjectType(type) && type.getInterfaces().some((one) => one.name === 'Node')) ||
    name === 'Account' ||
    name === 'Node'
  );
}

const fields = Object.keys(mutations).flatMap((mutation) => {
  const [noun = '', type] = nounOf(mutation) ?? [];
  return Object.values(type?.getFields() ?? {})
    .filter((field) => !field.args.some(isRequiredArgument))
    .map((field) => [`${mutation}: ${noun}.${field.name}`, mutation as Operation, noun, field] as const);
});

test.each(fields)(
  '%s is read from the row itself, or needs VIEW, which is checked before the mutation runs',
  async (_path, mutation, noun, { name, type: given }) => {
    const type = getNamedType(given);
    const ask = (selected: string) =>
      counting.statements.during(() => blind.act(mutation, mutations[mutation]?.() ?? {}, `${noun} { ${selected} }`));
    const bare = await ask('__typename');
    const { result: answer, statements } = await ask(isCompositeType(type) ? `${name} { __typename }` : name);
    const isOfExisting = answers.wasThere.includes(mutation) && name !== 'id';
    if (leadsOn(type.name) || isOfExisting) expect(answer).toMatchObject(forbidden);
    if (answer.__typename === 'ForbiddenError') {
      expect(statements).toEqual([]);
    } else {
      expect(answer.__typename).toMatch(/Success$|^NotFoundError$/);
      expect(bare.result.__typename).toBe(answer.__typename);
      expect(statements.toSorted()).toEqual(bare.statements.toSorted());
    }
  },
);

test('a field that needs VIEW is detected under an alias, in fragments, with directives, and among other fields', async () => {
  const before = await t.platform.balanceOf(scene.usd);
  const fund = async (selection: string, fragments = '') =>
    (
      await blind.ask(
        `mutation ($id: ID!, $no: Boolean = false) { sandboxFundAccount(input: { accountId: $id, amount: { units: 7 } }) {
           ... on SandboxFundAccountSuccess { account { id @skip(if: $no) ${selection} } }
           ... on UserError { code message } } } ${fragments}`,
        { id: scene.usd },
      )
    ).sandboxFundAccount;
  for (const [selection, fragments] of [
    ['customer { umaAddress }'],
    ['c: customer { id }'],
    ['... on Account { ... { customer { umaAddress } } }'],
    ['...more', 'fragment more on InternalAccount { customer { umaAddress } }'],
    ['customer @skip(if: $no) { id }'],
    ['customer { id } balance { amount }'],
  ] as const) {
    expect(await fund(selection, fragments)).toEqual({
      code: 'FORBIDDEN',
      message: 'this token lacks the permission VIEW, which InternalAccount.customer needs',
    });
  }
  expect(await t.platform.balanceOf(scene.usd)).toBe(before);
  const { account } = await fund('customer @include(if: $no) { id }');
  expect(account).toEqual({ id: scene.usd });
  expect(await t.platform.balanceOf(scene.usd)).toBe(before + 7n);
});

test('a plan reads nothing without VIEW, even if an earlier check has passed', async () => {
  const { payments, feed } = t.gateway;
  let isDone = false;
  payments.database.commits.once('committed', () => {
    isDone = true;
  });
  // The viewer has VIEW during the check before the mutation, but no longer when the plan runs.
  const viewer = {
    ...platformItself({ platformId: t.platform.platformId, environment: 'SANDBOX' }),
    get permissions() {
      return isDone ? ['TRANSACT'] : ['TRANSACT', 'VIEW'];
    },
  };
  const { data, errors } = await execute({
    schema,
    document: parse(
      'mutation ($id: ID!) { sandboxFundAccount(input: { accountId: $id, amount: { units: 1 } }) { ... on SandboxFundAccountSuccess { account { id customer { umaAddress } } } } }',
    ),
    variableValues: { id: scene.usd },
    contextValue: { viewer, payments, feed, isAbandoned: () => false, maxAnswerBytes: 1_000_000 },
  });
  expect(data).toEqual({ sandboxFundAccount: { account: { id: scene.usd, customer: null } } });
  expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
    [['sandboxFundAccount', 'account', 'customer'], 'FORBIDDEN'],
  ]);
});

/** Mutations, by what they return. Callers see what they created or advanced, but need VIEW to see other records. */
const answers = {
  makes: [
    ...['createApiToken', 'createCustomer', 'createExternalAccount', 'createQuote', 'rotateApiToken'],
    ...['sandboxReceiveUma', 'transferIn', 'transferInternal', 'transferOut'],
  ],
  moves: ['approveTransaction', 'cancelQuote', 'executeQuote', 'rejectTransaction', 'sandboxSend'],
  wasThere: [
    ...['deleteCustomer', 'sandboxFundAccount', 'sandboxSetKycStatus'],
    ...['deleteExternalAccount', 'setPolicy', 'updateCustomer', 'updateExternalAccount', 'updatePlatform'],
  ],
  /** Mutations that need VIEW themselves, because they read something or decide who may read it. */
  reads: [
    ...['createWebhookEndpoint', 'lookUpReceiver', 'resendWebhookDelivery', 'rotateWebhookSecret'],
    'updateWebhookEndpoint',
  ],
};

function nounOf(mutation: string): [field: string, type: GraphQLObjectType] | undefined {
  const success = objectType(`${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Success`);
  for (const field of Object.values(success.getFields())) {
    const type = getNamedType(field.type);
    if (isObjectType(type) && leadsOn(type.name)) return [field.name, type];
  }
  return undefined;
}

test('every mutation that returns a record is classified by whether the record already existed', () => {
  const answering = mutationFields.map(({ name }) => name).filter((name) => nounOf(name));
  expect(answering.sort()).toEqual(Object.values(answers).flat().sort());
  expect(operationNames.filter(showsExisting).toSorted()).toEqual(answers.wasThere.toSorted());
  expect(Object.keys(mutations)).toEqual(expect.arrayContaining(answers.wasThere));
});

// The matrix (test/attack/matrix.test.ts) tests that all other endpoint operations need VIEW, on both APIs.
test('a token with only MANAGE can delete a webhook endpoint', async () => {
  const { id } = await createEndpoint(t.platform, { url: 'http://127.0.0.1:9/hook', eventTypes: ['TEST'] });
  const manager = await t.platform.serverOf('MANAGE');
  expect(await manager.act('deleteWebhookEndpoint', { endpointId: id }, 'deletedId')).toMatchObject({ deletedId: id });
});

test('creating or redirecting an endpoint whose responses approve payments needs TRANSACT on both APIs', async () => {
  const manager = await t.platform.serverOf('MANAGE', 'VIEW');
  const [url, elsewhere] = ['http://127.0.0.1:9/hook', 'http://127.0.0.1:9/elsewhere'];
  const made = async (eventTypes: string[]): Promise<string> =>
    (await t.platform.succeed('createWebhookEndpoint', { url, eventTypes }, 'endpoint { id }')).endpoint.id;
  const [asking, disabled] = [await made(['INCOMING_PAYMENT', 'TEST']), await made(['INCOMING_PAYMENT'])];
  const other = await made(['TEST']);
  await t.platform.succeed('updateWebhookEndpoint', { endpointId: disabled, enabled: false });
  const attempts: readonly [Operation, object][] = [
    ['createWebhookEndpoint', { url }],
    ['createWebhookEndpoint', { url, eventTypes: ['INCOMING_PAYMENT'] }],
    ['updateWebhookEndpoint', { endpointId: asking, url: elsewhere }],
    ['updateWebhookEndpoint', { endpointId: disabled, enabled: true }],
    ['updateWebhookEndpoint', { endpointId: other, eventTypes: ['TEST', 'INCOMING_PAYMENT'] }],
  ];
  const why = 'this token lacks the permission TRANSACT, which is required for an endpoint that receives INCOMING';
  const refusal = { code: 'FORBIDDEN', message: expect.stringContaining(why) };
  for (const [name, input] of attempts) expect([name, await manager.act(name, input)]).toMatchObject([name, refusal]);
  const rest = await restClient(t.url, manager.authorization);
  const config = { body: { webhookEndpoint: url } };
  expect(await rest.call('PATCH', '/config', config)).toMatchObject({ status: 403, body: refusal });

  const change = async (platform: TestPlatform, input: object): Promise<Data> =>
    (await platform.succeed('updateWebhookEndpoint', input, 'endpoint { tokenId }')).endpoint.tokenId;
  const first = await change(manager, { endpointId: asking, description: 'what it is for' });
  await change(manager, { endpointId: asking, enabled: false });
  expect(await change(manager, { endpointId: other, url: elsewhere })).not.toBe(first);
  // From here on, the endpoint depends on the token that has TRANSACT: revoking that token disables it.
  expect(await change(t.platform, { endpointId: other, eventTypes: ['INCOMING_PAYMENT'] })).toBe(first);
  await manager.succeed('updateWebhookEndpoint', { endpointId: asking, eventTypes: ['TEST'], enabled: true });
});

test('a domain command refuses a caller without the required permission, even if the API did not', async () => {
  const { payments } = t.gateway;
  const { platformId } = t.platform;
  const reader = { ...platformItself({ platformId, environment: 'SANDBOX' }), permissions: ['VIEW'] as const };
  const transfer = { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 100n };
  const dry = { ...payments, validateOnly: () => undefined };
  for (const attempt of [
    transferOut(payments, reader, transfer),
    transferOut(dry, reader, transfer),
    deletePolicy(payments.database, reader, { subjectId: scene.customerId }),
  ])
    await expect(attempt).rejects.toMatchObject({ code: 'FORBIDDEN' });
});
