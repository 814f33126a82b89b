import { hash } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { between, refusal, sender, tokenInput, usdToEur } from '../setup/acts.ts';
import {
  connect,
  type Data,
  ownGateway,
  type TestGateway,
  type TestPlatform,
  testGateway,
  untilRefused,
} from '../setup/gateway.ts';
import { expireToken } from '../setup/passing-time.ts';
import type { Scene } from '../setup/scene.ts';
import { countedGateway } from '../setup/statements.ts';
import { subscribed } from '../setup/streams.ts';

const t = await testGateway();
const counting = await countedGateway(t);
const mine = await t.platform.makeScene();
const theirs = await t.platform.makeScene();

const minted = (input: object, by: TestPlatform = t.platform): Promise<Data> =>
  by.act('createClientToken', tokenInput(input), 'token tokenId expiresAt');

const phone = (input: object, url = t.url) => t.platform.at(url).appOf(input);
const paying = (grants?: readonly string[], { customerId } = mine) =>
  t.platform.payingApp({ customerId, ...(grants && { grants }) });

const kind = '{ viewer { kind } }';
const statusWith = async (token: string, url = t.url) => (await connect(url, '', `Bearer ${token}`).send(kind)).status;

const quoted = (by: TestPlatform, scene: Scene, more?: object): Promise<Data> =>
  by.act('createQuote', usdToEur(scene, more), 'quote { id status transaction { id } }');

test('the signing key can be replaced without any instance ever rejecting a valid token', async () => {
  const [before, after] = ['the first key of these two instances', 'the second key of these two instances'];
  const instance = (CLIENT_TOKEN_KEY: string, ...CLIENT_TOKEN_KEY_FALLBACKS: string[]) =>
    ownGateway({ ROLE: 'serve', CLIENT_TOKEN_KEY, CLIENT_TOKEN_KEY_FALLBACKS }, t.databaseUrl);
  const [knowing, changed] = [await instance(before, after), await instance(after, before)];
  const alone = await instance(after);
  const tokenOf = async ({ url }: TestGateway): Promise<string> =>
    (await minted({ customerId: mine.customerId }, t.platform.at(url))).token;
  const [old, fresh] = [await tokenOf(knowing), await tokenOf(changed)];
  for (const { url } of [knowing, changed])
    expect([await statusWith(old, url), await statusWith(fresh, url)]).toEqual([200, 200]);
  expect([await statusWith(old, alone.url), await statusWith(fresh, alone.url)]).toEqual([401, 200]);
});

test('a token for a customer shows that customer and its accounts, quotes and transactions, and can pay if it has TRANSACT', async () => {
  const app = await paying();
  const { viewer, customers, accounts } = await app.ask(
    '{ viewer { kind permissions expiresAt customer { id } } customers { totalCount } accounts(first: 100) { edges { node { customer { id } } } } }',
  );
  const customer = { id: mine.customerId };
  expect(viewer).toMatchObject({ kind: 'CLIENT', permissions: ['VIEW', 'TRANSACT'], customer });
  expect(Date.parse(viewer.expiresAt)).toBeGreaterThan(Date.now());
  expect(customers.totalCount).toBe(1);
  expect(new Set(accounts.edges.map((edge: Data) => edge.node.customer.id))).toEqual(new Set([mine.customerId]));

  expect((await quoted(app, mine, { idempotencyKey: 'pay' })).quote.status).toBe('PENDING');
  const foreign = await quoted(app, theirs, { destination: { account: { accountId: mine.outsideEur } } });
  expect(foreign).toMatchObject(refusal('ACCOUNT_NOT_FOUND', 'source', 'account', 'accountId'));
  const toThem = await quoted(app, mine, { destination: { account: { accountId: theirs.outsideEur } } });
  expect(toThem.code).toBe('ACCOUNT_NOT_FOUND');
});

test('a string that looks like the id of a hidden object is treated as plain text', async () => {
  const app = await phone({ customerId: mine.customerId, permissions: ['VIEW', 'TRANSACT'] }, counting.url);
  const make = (description: string) =>
    counting.statements.during(() =>
      app.act('createQuote', usdToEur(mine, { lockedCurrencyAmount: 10_000, description }), 'quote { id status }'),
    );
  const { statements: ofOtherText } = await make('a memo');
  for (const text of [theirs.usd, theirs.customerId, 'ApiToken:019aa000-0000-7000-8000-000000000000']) {
    const { result, statements } = await make(text);
    expect(result).toMatchObject({ quote: { status: 'PENDING' } });
    // The API does not look up the row beforehand, because the command does its own checks.
    expect(statements.toSorted()).toEqual(ofOtherText.toSorted());
    const quote = await app.fieldsOf('quote', result.quote.id, 'description');
    expect(quote.description).toBe(text);
  }
});

test("an app's idempotency keys are independent of those of other apps and of the platform", async () => {
  const [a, b] = [await paying(), await paying([], theirs)];
  const first = await quoted(a, mine, { idempotencyKey: 'one' });
  expect(await quoted(a, mine, { idempotencyKey: 'one' })).toEqual({ ...first, replayed: true });
  const other = await quoted(b, theirs, { idempotencyKey: 'one' });
  expect(other).toMatchObject({ replayed: false });
  expect(other.quote.id).not.toBe(first.quote.id);
  expect((await a.receiptOf('createQuote', 'one')).result.id).toBe(first.quote.id);
  expect((await b.receiptOf('createQuote', 'one')).result.id).toBe(other.quote.id);
  expect(await t.platform.receiptOf('createQuote', 'one')).toMatchObject({ outcome: 'NONE', result: null });
});

test('a token for a quote shows the quote and its transaction, but no customers or accounts', async () => {
  const { id, transaction } = (await quoted(t.platform, mine)).quote;
  for (const bound of [{ quoteId: id }, { transactionId: transaction.id }]) {
    const app = await phone(bound);
    const seen = await app.ask(
      `{ quotes { edges { node { id customer { id } transaction { id } source { ... on AccountSource { accountId account { id } } } } } }
         transactions { totalCount edges { node { id quote { id } customer { id } ledgerEntries { account { id } system } } } }
         accounts { totalCount } customers { totalCount } viewer { customer { id } } }`,
    );
    const source = { accountId: mine.usd, account: null };
    const payment = { id: transaction.id, quote: { id }, customer: null, ledgerEntries: [] };
    expect(seen).toEqual({
      quotes: { edges: [{ node: { id, customer: null, transaction: { id: transaction.id }, source } }] },
      transactions: { totalCount: 1, edges: [{ node: payment }] },
      accounts: { totalCount: 0 },
      customers: { totalCount: 0 },
      viewer: { customer: null },
    });
    expect(await app.execute(id)).toMatchObject({ code: 'FORBIDDEN' });
  }

  const payer = await phone({ quoteId: id, permissions: ['VIEW', 'TRANSACT'] });
  const next = payer.followed('subscription { events { type customer { id } } }', {}, () => true);
  await subscribed(t, 1);
  // Meanwhile, events occur that this app must not see.
  await quoted(t.platform, theirs);
  expect(await payer.execute(id)).toMatchObject({ quote: { status: 'PROCESSING' } });
  expect(await next).toMatchObject([{ customer: null }]);
  const paid = await payer.fieldsOf('transaction', transaction.id, 'ledgerEntries { account { id } system }');
  expect(paid.ledgerEntries).toContainEqual({ account: null, system: 'OTHER_ACCOUNT' });
});

test('minting is refused for unknown subjects, and for rights that the caller lacks or that no app may have', async () => {
  const stranger = await t.newPlatform('stranger');
  const { customerId } = mine;
  expect(await minted({ customerId }, stranger)).toMatchObject(refusal('USER_NOT_FOUND', 'boundTo', 'customerId'));
  for (const bound of [{}, { customerId, quoteId: 'Quote:x' }, { customerId: null }])
    await expect(minted(bound)).rejects.toThrow(/boundTo/);
  const manages = await minted({ customerId, permissions: ['VIEW', 'MANAGE'] });
  expect(manages).toMatchObject(refusal('INVALID_INPUT', 'permissions'));
  for (const expiresInSeconds of [0, 86_401])
    expect(await minted({ customerId, expiresInSeconds })).toMatchObject({ code: 'INVALID_INPUT' });
  expect((await minted({ customerId }, await paying())).code).toBe('FORBIDDEN');
});

test('an app cannot run server-only operations, whatever its permissions', async () => {
  const app = await paying();
  const { customerId } = mine;
  const umaAddress = '$success.usd@sandbox.uma.money';
  const { id: transactionId } = await t.platform.announce(customerId, 700);
  const calls = {
    // The payment is the app's own, but only its platform may approve it.
    approveTransaction: { transactionId },
    rejectTransaction: { transactionId },
    transferInternal: { sourceAccountId: mine.usd, destinationAccountId: theirs.usd, amount: 1 },
    sandboxSetKycStatus: { customerId, kycStatus: 'APPROVED' },
    lookUpReceiver: { umaAddress },
    sandboxReceiveUma: { senderUmaAddress: umaAddress, receiver: { customerId }, currency: 'USD', amount: 700 },
  } as const;
  for (const [name, input] of Object.entries(calls)) {
    expect([name, await app.act(name as keyof typeof calls, input)]).toMatchObject([name, { code: 'FORBIDDEN' }]);
  }
});

test("a token is returned only once: a repeated request with the same key returns only the token's id", async () => {
  const input = { customerId: mine.customerId, idempotencyKey: 'mint-1' };
  const { tokenId } = await minted(input);
  const repeat = await minted(input);
  expect(repeat).toMatchObject({ code: 'CONFLICT', path: ['input', 'idempotencyKey'] });
  expect(repeat.message).toContain(tokenId);
  expect(await minted({ ...input, customerId: theirs.customerId })).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
  const receipt = { outcome: 'SUCCEEDED', code: null, result: { id: tokenId } };
  expect(await t.platform.receiptOf('createClientToken', 'mint-1')).toMatchObject(receipt);
});

test('a revoked or forged client token is treated like a missing one', async () => {
  const { token, tokenId } = await minted({ customerId: mine.customerId });
  const [head, body = '', signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
  expect(claims).toMatchObject({ sub: mine.customerId, scope: 'VIEW' });
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const forged = encoded({ ...claims, jti: claims.jti.replace(/.$/, claims.jti.endsWith('0') ? '1' : '0') });
  const unsigned = encoded({ alg: 'none' });
  for (const bad of [`${head}.${forged}.${signature}`, `${unsigned}.${body}.`, `${unsigned}.${body}.x`])
    expect(await statusWith(bad)).toBe(401);
  const app = connect(t.url, '', `Bearer ${token}`);
  expect((await app.ask(kind)).viewer.kind).toBe('CLIENT');
  // A JSON Web Token from a different issuer is refused, even if it is signed with the same key.
  const key = hash('sha256', 'client token a key that only tests use, for nothing else', 'buffer');
  const header = JSON.parse(Buffer.from(head ?? '', 'base64url').toString());
  for (const [issuer, status] of [
    [claims.iss, 200],
    ['another', 401],
    [undefined, 401],
  ]) {
    const signed = await new SignJWT({ ...claims, iss: issuer }).setProtectedHeader(header).sign(key);
    expect(await statusWith(signed)).toBe(status);
  }
  const revoke = (id: string) => t.platform.act('revokeClientToken', { tokenId: id }, 'revokedId');
  expect(await revoke(tokenId)).toMatchObject({ revokedId: tokenId });
  expect(await revoke(tokenId)).toMatchObject({ revokedId: tokenId });
  await untilRefused(app);
  expect(await revoke('ClientToken:nonsense')).toMatchObject({ code: 'TOKEN_NOT_FOUND' });
});

test('only callers with MANAGE can list tokens, filtered by customer and activity, and no list contains secrets', async () => {
  const scene = await t.platform.makeScene(0n);
  const made = [];
  for (const customerId of [scene.customerId, scene.customerId, mine.customerId])
    made.push(await minted({ customerId, permissions: ['VIEW', 'TRANSACT'] }));
  const { quote } = await quoted(t.platform, mine);
  const ofQuote = await minted({ quoteId: quote.id });
  const [live, expired, other] = made as [Data, Data, Data];
  await expireToken(t, expired.tokenId);
  const fields = 'id active customer { id } quote { id } transaction { id } permissions grants expiresAt revokedAt';
  const found = (filter: object) => t.platform.listed('clientTokens', filter, fields);
  const ids = (filter: object) => t.platform.idsIn('clientTokens', filter);
  const { customerId } = scene;
  expect(await ids({ customerId })).toEqual([expired.tokenId, live.tokenId]);
  expect(await ids({ customerId, active: false })).toEqual([expired.tokenId]);
  expect(await found({ customerId, active: true })).toEqual([
    {
      ...{ id: live.tokenId, active: true, customer: { id: customerId }, quote: null, transaction: null },
      ...{ permissions: ['VIEW', 'TRANSACT'], grants: [], expiresAt: live.expiresAt, revokedAt: null },
    },
  ]);
  // A token for a payment belongs to the payment's customer.
  const ofMine = await found({ customerId: mine.customerId });
  expect(ofMine.slice(0, 2)).toMatchObject([
    { id: ofQuote.tokenId, customer: null, quote: { id: quote.id } },
    { id: other.tokenId },
  ]);
  await t.platform.act('revokeClientToken', { tokenId: live.tokenId }, 'revokedId');
  expect(await ids({ customerId, active: true })).toEqual([]);

  const ended = await found({ customerId, active: false });
  expect(ended).toMatchObject([
    { id: expired.tokenId, permissions: ['VIEW', 'TRANSACT'], grants: [] },
    { id: live.tokenId, expiresAt: live.expiresAt, revokedAt: expect.any(String) },
  ]);
  expect((await found({ customerId: 'Customer:1' })).length).toBe(0);
  for (const { token } of made) expect(JSON.stringify([ofMine, ended])).not.toContain(token);

  const seen = 'query ($id: ID!) { node(id: $id) { id } }';
  expect((await t.platform.ask(seen, { id: live.tokenId })).node).toEqual({ id: live.tokenId });
  const app = await phone({ customerId: mine.customerId });
  expect((await app.ask(seen, { id: other.tokenId })).node).toBeNull();
  expect((await app.send('{ clientTokens { totalCount } }')).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
});

test('callers with MANAGE create, list, use and revoke API tokens', async () => {
  const shown = 'secret apiToken { id clientId name permissions lastUsedAt }';
  const create = (name: string) => t.platform.act('createApiToken', { name, permissions: ['VIEW'] }, shown);
  const { secret, apiToken } = await create('reader');
  expect(apiToken).toMatchObject({ name: 'reader', permissions: ['VIEW'], lastUsedAt: null });
  const reader = connect(t.url, '', `Basic ${Buffer.from(`${apiToken.clientId}:${secret}`).toString('base64')}`);
  expect((await reader.ask('{ viewer { permissions } }')).viewer.permissions).toEqual(['VIEW']);
  const { tokenId } = await minted({ customerId: mine.customerId });
  for (const id of [apiToken.id, tokenId]) expect(await reader.fieldsOf('node', id, 'id')).toBeNull();

  const list = '{ apiTokens { totalCount edges { node { id name } } } }';
  expect((await t.platform.ask(list)).apiTokens.edges[0].node).toEqual({ id: apiToken.id, name: 'reader' });
  expect(await t.platform.fieldsOf('node', apiToken.id, 'id')).toEqual({ id: apiToken.id });
  const { totalCount } = (await t.platform.ask(list)).apiTokens;
  await t.platform.succeed('revokeApiToken', { tokenId: apiToken.id });
  expect((await t.platform.ask(list)).apiTokens.totalCount).toBe(totalCount - 1);
  expect(await t.platform.fieldsOf('node', apiToken.id, 'id')).toBeNull();
  await untilRefused(reader);
  expect(await create(' ')).toMatchObject({ code: 'INVALID_INPUT', path: ['input', 'name'] });
});

// The following tests are about grants: additional rights that a platform can give to a customer's app when it creates
// the app's token.

const receiver = '$success.usd@sandbox.uma.money';

let accounts = 0;
/** Adds a new account in Mexico. */
function add(platform: TestPlatform, rest: object = {}): Promise<Data> {
  accounts += 1;
  const input = {
    ...{ currency: 'MXN', beneficiary: { individual: { fullName: 'Ada Lovelace' } } },
    ...{ accountInfo: { clabe: { clabeNumber: `64618011181234${5000 + accounts}` } }, ...rest },
  };
  return platform.act('createExternalAccount', input, 'account { id customer { id } displayName }');
}

describe('without the grant', () => {
  const lookUpAny = (app: TestPlatform) => app.lookUp(receiver);
  test.each([
    ['look up receivers', lookUpAny, 'LOOK_UP_RECEIVERS', 'ADD_BENEFICIARIES'],
    ['add an account', add, 'ADD_BENEFICIARIES', 'LOOK_UP_RECEIVERS'],
  ] as const)('an app cannot %s, and the refusal names the missing grant', async (_act, attempt, missing, other) => {
    const refused = { __typename: 'ForbiddenError', code: 'FORBIDDEN', message: expect.stringContaining(missing) };
    for (const app of [await paying(), await paying([other])]) expect(await attempt(app)).toMatchObject(refused);
  });

  test("an app does not see the lookups of its customer's platform", async () => {
    const { id } = await t.platform.lookUp(receiver, { sender: { customerId: mine.customerId } });
    const app = await paying(['ADD_BENEFICIARIES']);
    expect(await app.fieldsOf('node', id, 'id')).toBeNull();
    expect(await payWith(id, app)).toMatchObject({ code: 'LOOKUP_REQUEST_NOT_FOUND' });
  });
});

function payWith(lookupId: string, app: TestPlatform): Promise<Data> {
  const destination = { uma: { umaAddress: receiver, currency: 'USD' } };
  return app.quote(between(mine.usd, '', 10_000, { destination, lookupId, senderCustomerInfo: sender }));
}

describe('with the grant', () => {
  test('an app looks up a receiver for its customer, and pays using the result', async () => {
    const app = await paying(['LOOK_UP_RECEIVERS']);
    expect((await app.ask('{ viewer { grants } }')).viewer).toEqual({ grants: ['LOOK_UP_RECEIVERS'] });
    const made = await app.lookUp(receiver);
    expect(made).toMatchObject({ umaAddress: receiver });
    expect(await app.fieldsOf('node', made.id, 'id')).toEqual({ id: made.id });
    expect(await payWith(made.id, app)).toMatchObject({ status: 'PENDING' });
  });

  test("an app cannot look up receivers for another customer, or see another's lookups", async () => {
    const app = await paying(['LOOK_UP_RECEIVERS']);
    const { customerId } = theirs;
    for (const sender of [{ customerId }, { umaAddress: await t.platform.umaAddressOf(customerId) }])
      expect(await app.lookUp(receiver, { sender })).toMatchObject({ code: 'USER_NOT_FOUND' });
    for (const rest of [{ sender: { customerId } }, {}]) {
      const { id } = await t.platform.lookUp(receiver, rest);
      expect(await app.fieldsOf('node', id, 'id')).toBeNull();
      expect(await payWith(id, app)).toMatchObject({ code: 'LOOKUP_REQUEST_NOT_FOUND' });
    }
  });

  test("an app adds its customer's own account, and pays to it", async () => {
    const app = await paying(['ADD_BENEFICIARIES']);
    for (const rest of [{}, { customerId: mine.customerId }]) {
      const { account } = await add(app, rest);
      expect(account).toMatchObject({ customer: { id: mine.customerId }, displayName: 'Ada Lovelace' });
      expect(await app.quote(between(mine.usd, account.id, 1_000))).toMatchObject({ status: 'PENDING' });
    }
  });

  test('an app cannot add an account for another customer, or one for incoming payments', async () => {
    const app = await paying(['ADD_BENEFICIARIES']);
    expect(await add(app, { customerId: theirs.customerId })).toMatchObject({ code: 'USER_NOT_FOUND' });
    const refused = await add(app, { defaultUmaDepositAccount: true });
    expect(refused).toMatchObject(refusal('FORBIDDEN', 'defaultUmaDepositAccount'));
  });
});

test('a token has no grants by default, and a token for a payment cannot have any', async () => {
  expect((await (await paying()).ask('{ viewer { grants } }')).viewer).toEqual({ grants: [] });
  const made = await t.platform.quote(between(mine.usd, mine.outsideEur, 1_000));
  const input = { boundTo: { quoteId: made.id }, grants: ['LOOK_UP_RECEIVERS'] };
  expect(await t.platform.act('createClientToken', input)).toMatchObject(refusal('INVALID_INPUT', 'grants'));
});
