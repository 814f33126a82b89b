import { expect, test } from 'vitest';
import { basicAuthorization } from '../../src/domain/access/tokens/credentials.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';
import { countedGateway } from '../setup/statements.ts';

const t = await testGateway();
const rest = await restClient(t.url, t.platform.authorization);
const counting = await countedGateway(t);

/** Returns a client that uses a new token's credentials. */
const clientOf = ({ clientId, clientSecret: secret }: Data) =>
  restClient(t.url, basicAuthorization({ clientId, secret }));

test('a token works from its creation to its deletion, and its secret is shown once', async () => {
  const made = await rest.make('/tokens', { name: 'reader', permissions: ['VIEW'] });
  expect(made).toEqual({
    id: expect.stringMatching(/^ApiToken:/),
    name: 'reader',
    permissions: ['VIEW'],
    clientId: expect.any(String),
    clientSecret: expect.any(String),
    createdById: expect.stringMatching(/^ApiToken:/),
    createdAt: expect.any(String),
    updatedAt: made.createdAt,
  });
  const { clientSecret: _secret, ...token } = made;
  expect(await rest.ask('GET', `/tokens/${made.id}`)).toEqual(token);
  const reader = await clientOf(made);
  await reader.ask('GET', '/customers');
  expect(await reader.ask('GET', '/tokens', undefined, 403)).toMatchObject({ code: 'FORBIDDEN' });

  expect(await rest.call('DELETE', `/tokens/${made.id}`)).toMatchObject({ status: 204, text: '' });
  expect(await rest.ask('GET', `/tokens/${made.id}`, undefined, 404)).toMatchObject({ code: 'TOKEN_NOT_FOUND' });
  expect((await rest.call('DELETE', `/tokens/${made.id}`)).status).toBe(204);
  const unknown = { code: 'TOKEN_NOT_FOUND', details: { field: 'tokenId' } };
  expect(await rest.ask('DELETE', '/tokens/ApiToken:1', undefined, 404)).toMatchObject(unknown);
  // A gateway caches valid credentials for at most two seconds.
  while ((await reader.call('GET', '/customers')).status !== 401);
});

test('tokens can be filtered by name and time, and lists omit deleted tokens, as in GraphQL', async () => {
  const make = (name: string) => rest.make('/tokens', { name, permissions: ['VIEW', 'TRANSACT'] });
  const [made, two, three] = [await make('one'), await make('two'), await make('three')];
  await rest.call('DELETE', `/tokens/${three.id}`);
  // A token's creation time is read after its id is generated, so it may be a millisecond later.
  await t.owner.query(
    `update api_token set created_at = created_at + interval '1 millisecond' where name = 'one' and platform_id = $1`,
    [t.platform.platformId],
  );
  const { createdAt, updatedAt } = await rest.ask('GET', `/tokens/${made.id}`);
  const one = { ...made, createdAt, updatedAt };
  const { clientSecret: _one, ...first } = one;
  const { clientSecret: _two, ...second } = two;
  expect((await rest.ask('GET', '/tokens?limit=2')).data).toEqual([second, first]);
  expect((await rest.ask('GET', '/tokens?name=one')).data).toEqual([first]);
  for (const [from, to] of [
    ['createdAfter', 'createdBefore'],
    ['updatedAfter', 'updatedBefore'],
  ]) {
    const { data } = await rest.ask('GET', `/tokens?${from}=${one.createdAt}&${to}=${one.createdAt}`);
    expect(data).toContainEqual(first);
    expect((await rest.ask('GET', `/tokens?${to}=2020-01-01T00:00:00Z`)).data).toEqual([]);
  }
  expect((await rest.ask('GET', '/tokens?name=three')).data).toEqual([]);
  const { apiTokens } = await t.platform.ask('{ apiTokens(first: 1) { totalCount edges { cursor } } }');
  const { totalCount, nextCursor } = await rest.ask('GET', '/tokens?limit=1');
  expect({ totalCount, edges: [{ cursor: nextCursor }] }).toEqual(apiTokens);
});

test('creating or deleting a token takes effect in both APIs, and a repeated key has no further effect', async () => {
  const input = { name: 'both', permissions: ['VIEW', 'TRANSACT'] };
  const { id } = (await rest.call('POST', '/tokens', { body: input, key: 'rest' })).body;
  const ofGraphql = { ...input, idempotencyKey: 'graphql' };
  const { apiToken } = await t.platform.succeed('createApiToken', ofGraphql, 'apiToken { id }');
  // The secret is shown only once, so a repeated request is refused.
  const again = await t.platform.act('createApiToken', { ...input, idempotencyKey: 'rest' });
  expect([again.code, (await rest.call('POST', '/tokens', { body: input, key: 'graphql' })).status]).toEqual([
    'CONFLICT',
    409,
  ]);
  const fields = '... on ApiToken { id name permissions clientId createdById createdAt }';
  for (const one of [id, apiToken.id]) {
    const shown = await t.platform.fieldsOf('node', one, fields);
    expect(await rest.ask('GET', `/tokens/${one}`)).toEqual({ ...shown, updatedAt: shown.createdAt });
  }
  const end = { tokenId: id, idempotencyKey: 'end' };
  expect(await t.platform.act('revokeApiToken', end, 'revokedId')).toMatchObject({ revokedId: id, replayed: false });
  const ended = await rest.call('DELETE', `/tokens/${id}`, { key: 'end' });
  expect([ended.status, ended.headers.get('idempotency-replayed')]).toEqual([204, 'true']);
  expect(await rest.ask('GET', `/tokens/${id}`, undefined, 404)).toMatchObject({ code: 'TOKEN_NOT_FOUND' });
  await rest.call('DELETE', `/tokens/${apiToken.id}`);
  expect(await t.platform.idsIn('apiTokens', { name: 'both' })).toEqual([]);
});

test('a REST list gives its total only up to 10,000; a GraphQL list always gives it', async () => {
  const large = await t.newPlatform('large');
  const client = await restClient(t.url, large.authorization);
  // The platform already has one token.
  const make = (count: number, name = 'many') =>
    t.gateway.payments.database.pool.query(
      `insert into api_token (platform_id, client_id, secret_hash, name, permissions)
       select $1, gen_random_uuid()::text, '\\x00', $3, '{VIEW}' from generate_series(1, $2::int)`,
      [large.platformId, count, name],
    );
  await make(9_999);
  expect(await client.ask('GET', '/tokens?limit=1')).toMatchObject({ hasMore: true, totalCount: 10_000 });
  await make(1);
  const page = await client.ask('GET', '/tokens?limit=1');
  expect([page.data.length, page.hasMore, 'totalCount' in page]).toEqual([1, true, false]);
  const other = await restClient(counting.url, large.authorization);
  const { result, statements } = await counting.statements.during(() => other.ask('GET', '/tokens?limit=1'));
  expect([result, statements.length]).toEqual([page, 1]);
  await make(2, 'few');
  expect(await client.ask('GET', '/tokens?limit=1&name=few')).toMatchObject({ hasMore: true, totalCount: 2 });
  expect((await rest.ask('GET', '/tokens?limit=1')).totalCount).toBeGreaterThan(0);
  expect((await large.ask('{ apiTokens(first: 1) { totalCount } }')).apiTokens.totalCount).toBe(10_003);
});

test('an invalid token is refused, and no token gets more permissions than its creator has', async () => {
  const manager = await rest.make('/tokens', { name: 'manager', permissions: ['MANAGE'] });
  const limited = await clientOf(manager);
  const over = await limited.ask('POST', '/tokens', { name: 'more', permissions: ['TRANSACT'] }, 403);
  expect(over).toMatchObject({ code: 'FORBIDDEN', details: { field: 'permissions' } });
  for (const [field, body] of [
    ['name', { name: ' ', permissions: ['VIEW'] }],
    ['permissions', { name: 'x', permissions: [] }],
    ['permissions.0', { name: 'x', permissions: ['EVERYTHING'] }],
  ] as const) {
    const refused = await rest.ask('POST', '/tokens', body, 400);
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', details: { field } });
  }
});
