import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { connect, type Data, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';
import { nextOf } from '../setup/streams.ts';

let t: TestGateway;
let mine: Scene;
let theirs: Scene;
beforeAll(async () => {
  t = await startTestGateway();
  mine = await makeScene(t.platform);
  theirs = await makeScene(t.platform);
});
afterAll(() => t.stop());

const mintDocument = `mutation ($input: CreateClientTokenInput!) { createClientToken(input: $input) {
  ... on CreateClientTokenSuccess { token tokenId expiresAt replayed } ... on UserError { code message path } } }`;

async function mint(input: object): Promise<Data> {
  return (await t.platform.ask(mintDocument, { input })).createClientToken;
}

async function phone(input: object): Promise<TestPlatform> {
  return connect(t.url, t.platform.platformId, `Bearer ${(await mint(input)).token}`);
}

const quoteDocument = `mutation ($input: CreateQuoteInput!) { createQuote(input: $input) {
  ... on CreateQuoteSuccess { replayed quote { id status transaction { id } } } ... on UserError { code message path } } }`;
const quoteInput = (scene: Scene, more: object = {}) => ({
  source: { account: { accountId: scene.usd } },
  destination: { account: { accountId: scene.outsideEur } },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount: 10_000,
  ...more,
});

test('a token of one customer shows that customer, its accounts, quotes and transactions, and pays with TRANSACT', async () => {
  const app = await phone({ customerId: mine.customerId, permissions: ['VIEW', 'TRANSACT'] });
  const { viewer, customers, accounts } = await app.ask(
    '{ viewer { kind permissions expiresAt customer { id } } customers { totalCount } accounts(first: 100) { edges { node { customer { id } } } } }',
  );
  expect(viewer).toMatchObject({
    kind: 'CLIENT',
    permissions: ['VIEW', 'TRANSACT'],
    customer: { id: mine.customerId },
  });
  expect(Date.parse(viewer.expiresAt)).toBeGreaterThan(Date.now());
  expect(customers.totalCount).toBe(1);
  expect(new Set(accounts.edges.map((edge: Data) => edge.node.customer.id))).toEqual(new Set([mine.customerId]));

  const { createQuote } = await app.ask(quoteDocument, { input: quoteInput(mine, { idempotencyKey: 'pay' }) });
  expect(createQuote.quote.status).toBe('PENDING');
  const foreign = await app.ask(quoteDocument, {
    input: quoteInput(theirs, { destination: { account: { accountId: mine.outsideEur } } }),
  });
  expect(foreign.createQuote).toMatchObject({
    code: 'ACCOUNT_NOT_FOUND',
    path: ['input', 'source', 'account', 'accountId'],
  });
  const toThem = await app.ask(quoteDocument, {
    input: quoteInput(mine, { destination: { account: { accountId: theirs.outsideEur } } }),
  });
  expect(toThem.createQuote.code).toBe('ACCOUNT_NOT_FOUND');
});

const bareDocument = quoteDocument.replace(' transaction { id }', '');

test('text of an app that looks like the id of what it may not see is text, and nothing more', async () => {
  const app = await phone({ customerId: mine.customerId, permissions: ['VIEW', 'TRANSACT'] });
  for (const text of [theirs.usd, theirs.customerId, 'ApiToken:019aa000-0000-7000-8000-000000000000']) {
    const { createQuote } = await app.ask(bareDocument, { input: quoteInput(mine, { description: text }) });
    expect(createQuote).toMatchObject({ quote: { status: 'PENDING' } });
    const { quote } = await app.ask('query ($id: ID!) { quote(id: $id) { description } }', {
      id: createQuote.quote.id,
    });
    expect(quote.description).toBe(text);
  }
});

test('idempotency keys of one app are not those of another, nor of the platform', async () => {
  const [a, b] = [
    await phone({ customerId: mine.customerId, permissions: ['VIEW', 'TRANSACT'] }),
    await phone({ customerId: theirs.customerId, permissions: ['VIEW', 'TRANSACT'] }),
  ];
  const first = (await a.ask(quoteDocument, { input: quoteInput(mine, { idempotencyKey: 'one' }) })).createQuote;
  expect((await a.ask(quoteDocument, { input: quoteInput(mine, { idempotencyKey: 'one' }) })).createQuote).toEqual({
    ...first,
    replayed: true,
  });
  const other = (await b.ask(quoteDocument, { input: quoteInput(theirs, { idempotencyKey: 'one' }) })).createQuote;
  expect(other).toMatchObject({ replayed: false });
  expect(other.quote.id).not.toBe(first.quote.id);
  const receipt = '{ mutationReceipt(operation: "createQuote", idempotencyKey: "one") { outcome result { id } } }';
  expect((await a.ask(receipt)).mutationReceipt.result.id).toBe(first.quote.id);
  expect((await b.ask(receipt)).mutationReceipt.result.id).toBe(other.quote.id);
  expect((await t.platform.ask(receipt)).mutationReceipt).toEqual({ outcome: 'NONE', result: null });
});

test('a token of one quote shows that quote and its transaction, and nobody’s name or account', async () => {
  const { createQuote } = await t.platform.ask(quoteDocument, { input: quoteInput(mine) });
  const { id, transaction } = createQuote.quote;
  for (const bound of [{ quoteId: id }, { transactionId: transaction.id }]) {
    const app = await phone(bound);
    const seen = await app.ask(
      `{ quotes { edges { node { id customer { id } transaction { id } source { ... on AccountSource { accountId account { id } } } } } }
         transactions { totalCount edges { node { id quote { id } customer { id } ledgerEntries { account { id } system } } } }
         accounts { totalCount } customers { totalCount } viewer { customer { id } } }`,
    );
    expect(seen).toEqual({
      quotes: {
        edges: [
          {
            node: {
              id,
              customer: null,
              transaction: { id: transaction.id },
              source: { accountId: mine.usd, account: null },
            },
          },
        ],
      },
      transactions: {
        totalCount: 1,
        edges: [{ node: { id: transaction.id, quote: { id }, customer: null, ledgerEntries: [] } }],
      },
      accounts: { totalCount: 0 },
      customers: { totalCount: 0 },
      viewer: { customer: null },
    });
    const refused = await app.ask(
      'mutation ($id: ID!) { executeQuote(input: { quoteId: $id }) { ... on UserError { code } } }',
      { id },
    );
    expect(refused.executeQuote).toEqual({ code: 'FORBIDDEN' });
  }

  const payer = await phone({ quoteId: id, permissions: ['VIEW', 'TRANSACT'] });
  const watched = payer.watch('subscription { events { type customer { id } } }');
  const next = nextOf(watched);
  await vi.waitFor(() => expect(t.gateway.feed.subscriptions).toBe(1), { timeout: 10_000 });
  // What happens to others meanwhile is not for this phone.
  await t.platform.ask(quoteDocument, { input: quoteInput(theirs) });
  const { executeQuote } = await payer.ask(
    'mutation ($id: ID!) { executeQuote(input: { quoteId: $id }) { ... on ExecuteQuoteSuccess { quote { status } } ... on UserError { code } } }',
    { id },
  );
  expect(executeQuote).toEqual({ quote: { status: 'PROCESSING' } });
  expect((await next).data.events.customer).toBeNull();
  await watched.return?.();
  const { transaction: paid } = await payer.ask(
    'query ($id: ID!) { transaction(id: $id) { ledgerEntries { account { id } system } } }',
    { id: transaction.id },
  );
  expect(paid.ledgerEntries).toContainEqual({ account: null, system: 'OTHER_ACCOUNT' });
});

test('minting is refused for what is not there, for more than the caller has, and for what no app may do', async () => {
  const stranger = await t.newPlatform('stranger');
  expect(
    (await stranger.ask(mintDocument, { input: { customerId: mine.customerId } })).createClientToken,
  ).toMatchObject({
    code: 'USER_NOT_FOUND',
    path: ['input', 'customerId'],
  });
  expect(await mint({})).toMatchObject({ code: 'INVALID_INPUT' });
  expect(await mint({ customerId: mine.customerId, quoteId: 'Quote:x' })).toMatchObject({ code: 'INVALID_INPUT' });
  expect(await mint({ customerId: mine.customerId, permissions: ['VIEW', 'MANAGE'] })).toMatchObject({
    code: 'INVALID_INPUT',
    path: ['input', 'permissions'],
  });
  expect(await mint({ customerId: mine.customerId, expiresInSeconds: 0 })).toMatchObject({ code: 'INVALID_INPUT' });
  expect(await mint({ customerId: mine.customerId, expiresInSeconds: 86_401 })).toMatchObject({
    code: 'INVALID_INPUT',
  });
  const app = await phone({ customerId: mine.customerId, permissions: ['VIEW', 'TRANSACT'] });
  const again = await app.ask(mintDocument, { input: { customerId: mine.customerId } });
  expect(again.createClientToken.code).toBe('FORBIDDEN');
});

test('a token that was answered once is not answered again, but its key tells which it was', async () => {
  const input = { customerId: mine.customerId, idempotencyKey: 'mint-1' };
  const { tokenId } = await mint(input);
  const repeat = await mint(input);
  expect(repeat).toMatchObject({ code: 'CONFLICT', path: ['input', 'idempotencyKey'] });
  expect(repeat.message).toContain(tokenId);
  expect(await mint({ ...input, customerId: theirs.customerId })).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
  const { mutationReceipt } = await t.platform.ask(
    '{ mutationReceipt(operation: "createClientToken", idempotencyKey: "mint-1") { outcome code result { id } } }',
  );
  expect(mutationReceipt).toEqual({ outcome: 'SUCCEEDED', code: null, result: null });
});

test('a revoked or forged client token is like none', async () => {
  const { token, tokenId } = await mint({ customerId: mine.customerId });
  const [head, body = '', signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
  expect(claims).toMatchObject({ sub: mine.customerId, scope: 'VIEW' });
  const forged = Buffer.from(
    JSON.stringify({ ...claims, jti: claims.jti.replace(/.$/, claims.jti.endsWith('0') ? '1' : '0') }),
  ).toString('base64url');
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
  for (const bad of [`${head}.${forged}.${signature}`, `${unsigned}.${body}.`, `${unsigned}.${body}.x`]) {
    expect((await connect(t.url, '', `Bearer ${bad}`).send('{ viewer { kind } }')).status).toBe(401);
  }
  const app = connect(t.url, '', `Bearer ${token}`);
  expect((await app.ask('{ viewer { kind } }')).viewer.kind).toBe('CLIENT');
  const revoke =
    'mutation ($id: ID!) { revokeClientToken(input: { tokenId: $id }) { ... on RevokeClientTokenSuccess { revokedId } ... on UserError { code } } }';
  expect((await t.platform.ask(revoke, { id: tokenId })).revokeClientToken).toEqual({ revokedId: tokenId });
  const { prisma } = t.gateway.payments.database;
  const where = { id: tokenId.replace('ClientToken:', '') };
  const ended = await prisma.clientToken.findFirstOrThrow({ where });
  expect((await t.platform.ask(revoke, { id: tokenId })).revokeClientToken).toEqual({ revokedId: tokenId });
  expect(await prisma.clientToken.findFirstOrThrow({ where })).toEqual(ended);
  await vi.waitFor(async () => expect((await app.send('{ viewer { kind } }')).status).toBe(401), { timeout: 5_000 });
  expect((await t.platform.ask(revoke, { id: 'ClientToken:nonsense' })).revokeClientToken).toEqual({
    code: 'TOKEN_NOT_FOUND',
  });
});

test('API tokens are made, listed, used and revoked by those who may manage', async () => {
  const create = `mutation ($input: CreateApiTokenInput!) { createApiToken(input: $input) {
    ... on CreateApiTokenSuccess { secret apiToken { id clientId name permissions lastUsedAt } } ... on UserError { code path } } }`;
  const { createApiToken } = await t.platform.ask(create, { input: { name: 'reader', permissions: ['VIEW'] } });
  const { secret, apiToken } = createApiToken;
  expect(apiToken).toMatchObject({ name: 'reader', permissions: ['VIEW'], lastUsedAt: null });
  const reader = connect(t.url, '', `Basic ${Buffer.from(`${apiToken.clientId}:${secret}`).toString('base64')}`);
  expect((await reader.ask('{ viewer { permissions } }')).viewer.permissions).toEqual(['VIEW']);
  expect((await reader.send('{ apiTokens { totalCount } }')).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  expect((await reader.ask('query ($id: ID!) { node(id: $id) { id } }', { id: apiToken.id })).node).toBeNull();
  expect((await reader.ask(create, { input: { name: 'more', permissions: ['VIEW'] } })).createApiToken.code).toBe(
    'FORBIDDEN',
  );

  const list = '{ apiTokens { totalCount edges { node { id name } } } }';
  expect((await t.platform.ask(list)).apiTokens.edges[0].node).toEqual({ id: apiToken.id, name: 'reader' });
  expect((await t.platform.ask('query ($id: ID!) { node(id: $id) { id } }', { id: apiToken.id })).node).toEqual({
    id: apiToken.id,
  });
  const { totalCount } = (await t.platform.ask(list)).apiTokens;
  await t.platform.ask(
    'mutation ($id: ID!) { revokeApiToken(input: { tokenId: $id }) { ... on RevokeApiTokenSuccess { revokedId } } }',
    { id: apiToken.id },
  );
  expect((await t.platform.ask(list)).apiTokens.totalCount).toBe(totalCount - 1);
  await vi.waitFor(async () => expect((await reader.send('{ viewer { kind } }')).status).toBe(401), { timeout: 5_000 });
  expect((await t.platform.ask(create, { input: { name: ' ', permissions: ['VIEW'] } })).createApiToken).toEqual({
    code: 'INVALID_INPUT',
    path: ['input', 'name'],
  });
});
