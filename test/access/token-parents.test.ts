import { describe, expect, test } from 'vitest';
import { refusal, usdToEur } from '../setup/acts.ts';
import {
  connect,
  type Data,
  startTestGateway,
  type TestPlatform,
  testGateway,
  untilRefused,
  uuidIn,
} from '../setup/gateway.ts';
import { Bearer } from '../setup/platform.ts';
import { restClient } from '../setup/rest.ts';
import type { Scene } from '../setup/scene.ts';
import { nextOf, openEventStream, openRawSocket, subscribed } from '../setup/streams.ts';
import { endpointUntil } from '../webhooks/endpoint.ts';

/** Revoking a token also revokes the tokens it created, and deleting a customer revokes its apps' tokens. */

const t = await testGateway();

let named = 0;
async function newPlatform(): Promise<Bearer> {
  named += 1;
  const platform = await t.newPlatform(`platform-${named}`);
  const [tokenId = ''] = await platform.idsIn('apiTokens', {});
  return new Bearer(platform, platform.authorization, tokenId);
}

/** Creates a server token as `by`. */
const server = (by: TestPlatform, permissions = ['VIEW', 'TRANSACT', 'MANAGE']) => by.serverOf(...permissions);

const hook = 'http://127.0.0.1:9/hook';

/** Creates an endpoint as `by`, and returns its id. */
const endpoint = async (by: TestPlatform): Promise<string> =>
  (await by.succeed('createWebhookEndpoint', { url: hook }, 'endpoint { id }')).endpoint.id;

const viewer = '{ viewer { kind } }';

/** Expects the given tokens to be accepted by a new gateway, which has not cached them. */
async function good(...tokens: readonly TestPlatform[]): Promise<void> {
  const other = await startTestGateway({ ROLE: 'serve' }, t.databaseUrl);
  try {
    for (const { authorization } of tokens)
      expect((await connect(other.url, '', authorization).send(viewer)).status).toBe(200);
  } finally {
    await other.gateway.stop();
  }
}

/** Ways to revoke a token. Each function returns null, or the error code if the revocation is refused. */
const revocations = {
  GraphQL: async (by: TestPlatform, tokenId: string, rest: object = {}): Promise<string | null> =>
    (await by.act('revokeApiToken', { tokenId, ...rest }, 'revokedId')).code ?? null,
  REST: async (by: TestPlatform, tokenId: string, rest: object = {}): Promise<string | null> => {
    const client = await restClient(t.url, by.authorization);
    const query = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)])).toString();
    const { body } = await client.call('DELETE', `/tokens/${tokenId}${query && `?${query}`}`);
    return body?.code ?? null;
  },
};

/** Creates three generations of tokens: `parent`, `child` and `grandchild`. The first two also create an app each. */
async function family(platform: TestPlatform) {
  const customerId = await platform.newCustomer();
  const parent = await server(platform);
  const child = await server(parent);
  const grandchild = await server(child, ['VIEW']);
  return { parent, child, grandchild, apps: [await parent.appOf({ customerId }), await child.appOf({ customerId })] };
}

describe.each(Object.entries(revocations))('over %s', (_api, revoke) => {
  test('revoking a token also revokes its descendants, and nothing else', async () => {
    const platform = await newPlatform();
    const sibling = await server(platform, ['VIEW']);
    const { parent, child, grandchild, apps } = await family(platform);
    expect(await revoke(platform, parent.tokenId)).toBeNull();
    await untilRefused(parent, child, grandchild, ...apps);
    await good(platform, sibling);
  });

  test("a revoked token's descendants survive if requested, and end when the token is revoked again", async () => {
    const platform = await newPlatform();
    const { parent, child, grandchild, apps } = await family(platform);
    expect(await revoke(platform, child.tokenId, { revokeDescendants: false })).toBeNull();
    await untilRefused(child);
    await good(parent, grandchild, ...apps);
    expect(await revoke(platform, parent.tokenId)).toBeNull();
    await untilRefused(parent, grandchild, ...apps);
  });

  test('revoking a token disables the endpoints that it or a descendant created, redirected or enabled', async () => {
    const platform = await newPlatform();
    const { parent, child } = await family(platform);
    const all = {
      ofParent: await endpoint(parent),
      ofChild: await endpoint(child),
      redirected: await endpoint(platform),
      enabled: await endpoint(platform),
      takenOver: await endpoint(child),
      ofPlatform: await endpoint(platform),
      described: await endpoint(platform),
    };
    const rest = await restClient(t.url, child.authorization);
    const config = await rest.ask('PATCH', '/config', { webhookEndpoint: `${hook}/of-settings` });
    expect(config.webhookTokenId).toBe(child.tokenId);
    const update = (by: TestPlatform, endpointId: string, change: object) =>
      by.succeed('updateWebhookEndpoint', { endpointId, ...change });
    await update(child, all.redirected, { url: `${hook}/elsewhere` });
    await update(platform, all.enabled, { enabled: false });
    await update(parent, all.enabled, { enabled: true });
    await update(platform, all.takenOver, { url: `${hook}/elsewhere` });
    await update(child, all.described, { description: 'the same' });
    const endpoints = async () => {
      const query = '{ webhookEndpoints { edges { node { id url tokenId status notice } } } }';
      const { webhookEndpoints } = await platform.ask(query);
      return Object.fromEntries(webhookEndpoints.edges.map(({ node }: Data) => [node.id, node]));
    };
    /** For each endpoint, the token whose revocation disables it. */
    const ends = [
      ...[all.ofParent, all.enabled].map((id) => [id, parent.tokenId] as const),
      ...[all.ofChild, all.redirected].map((id) => [id, child.tokenId] as const),
      ...[all.takenOver, all.ofPlatform, all.described].map((id) => [id, platform.tokenId] as const),
    ];
    const enabled = Object.fromEntries(ends.map(([id, tokenId]) => [id, { tokenId, status: 'ENABLED' }]));
    expect(await endpoints()).toMatchObject(enabled);

    // Once its first attempt has failed, the delivery to the child's endpoint waits for the second.
    await endpointUntil(platform, all.ofChild, ({ deliveries: [first] }) => first?.attempts.length > 0);
    expect(await revoke(platform, parent.tokenId, { revokeDescendants: false })).toBeNull();
    expect(await endpoints()).toMatchObject(enabled);
    expect(await revoke(platform, parent.tokenId)).toBeNull();
    const after = await endpoints();
    const disabled = { status: 'DISABLED', notice: 'Disabled with the token that made it.' };
    for (const [id, tokenId] of ends)
      expect(after[id]).toMatchObject({
        tokenId,
        ...(tokenId === platform.tokenId ? { status: 'ENABLED', notice: null } : disabled),
      });
    expect(Object.values<Data>(after).find(({ url }) => url.endsWith('of-settings'))).toMatchObject(disabled);
    const { rows } = await t.owner.query(
      `select count(*)::int as waiting from webhook_delivery d join webhook_endpoint e on e.platform_id = d.platform_id and e.id = d.endpoint_id
       where e.platform_id = $1 and e.status = 'DISABLED' and d.status = 'PENDING'`,
      [platform.platformId],
    );
    expect(rows).toEqual([{ waiting: 0 }]);
  });

  test('the last token with MANAGE cannot be revoked by anyone', async () => {
    const platform = await newPlatform();
    await server(platform, ['VIEW', 'TRANSACT']);
    expect(await revoke(platform, platform.tokenId)).toBe('CONFLICT');
    await good(platform);
    const second = await server(platform);
    // The token's descendants would be revoked with it, leaving no token with MANAGE.
    expect(await revoke(second, platform.tokenId)).toBe('CONFLICT');
    await good(platform, second);
    expect(await revoke(second, platform.tokenId, { revokeDescendants: false })).toBeNull();
    await untilRefused(platform);
    expect(await revoke(second, second.tokenId)).toBe('CONFLICT');
    expect(await revoke(second, second.tokenId, { revokeDescendants: false })).toBe('CONFLICT');
    await good(second);
  });

  test('if two tokens concurrently revoke each other, or themselves, one survives', async () => {
    for (let round = 0; round < 6; round++) {
      const one = await newPlatform();
      const two = await server(one);
      await Promise.all([one.ask(viewer), two.ask(viewer)]);
      const targets = round % 2 === 0 ? [two, one] : [one, two];
      const codes = await Promise.all(
        [one, two].map((by, at) =>
          // When the second revocation arrives, the token that authorizes it may already be revoked and evicted from
          // the cache.
          revoke(by, targets[at]?.tokenId ?? '', { revokeDescendants: false }).catch(() => 'UNAUTHORIZED'),
        ),
      );
      expect(codes.filter((code) => code === null)).toHaveLength(1);
      const { rows } = await t.gateway.payments.database.pool.query(
        'select from api_token where platform_id = $1 and revoked_at is null',
        [one.platformId],
      );
      expect(rows).toHaveLength(1);
    }
  });

  test('a revoked token cannot create another, even while a gateway has it cached', async () => {
    const platform = await newPlatform();
    const customerId = await platform.newCustomer();
    const ended = await server(platform);
    const endpointId = await endpoint(platform);
    await ended.ask(viewer);
    expect(await revoke(platform, ended.tokenId)).toBeNull();
    const attempts = [
      ended.act('createApiToken', { name: 'late', permissions: ['MANAGE'] }),
      ended.act('createClientToken', { boundTo: { customerId } }),
      ended.act('createWebhookEndpoint', { url: hook }),
      ended.act('updateWebhookEndpoint', { endpointId, url: `${hook}/elsewhere` }),
    ];
    for (const attempt of attempts) {
      // If the token is no longer cached, the request itself is rejected.
      expect((await attempt.catch(() => ({ code: 'FORBIDDEN' }))).code).toBe('FORBIDDEN');
    }
  });

  test('a token requested while its creator is being revoked is either not created or revoked with its creator', async () => {
    const platform = await newPlatform();
    const customerId = await platform.newCustomer();
    for (let round = 0; round < 6; round++) {
      const parent = await server(platform);
      await parent.ask(viewer);
      const creations = [0, 1].flatMap(() => [
        parent.act('createApiToken', { name: 'at once', permissions: ['VIEW'] }, 'apiToken { id }'),
        parent.act('createClientToken', { boundTo: { customerId } }, 'tokenId'),
        parent.act('createWebhookEndpoint', { url: hook }, 'endpoint { id }'),
      ]);
      // A creation request fails if it arrives after the revocation, when the token is no longer cached.
      await Promise.all([
        revoke(platform, parent.tokenId),
        ...creations.map((creation) => creation.catch(() => undefined)),
      ]);
    }
    const { rows } = await t.gateway.payments.database.pool.query(
      `select 'api' as kind from api_token where platform_id = $1 and revoked_at is null and name = 'at once'
       union all select 'client' from client_token where platform_id = $1 and revoked_at is null
       union all select 'endpoint' from webhook_endpoint where platform_id = $1 and status <> 'DISABLED'`,
      [platform.platformId],
    );
    expect(rows).toEqual([]);
  });
});

test('a token shows its creator, and every revocation, even a repeated one, returns how many descendants it revoked', async () => {
  const platform = await newPlatform();
  const { parent, child, grandchild, apps } = await family(platform);
  const rest = await restClient(t.url, child.authorization);
  const overRest = (await rest.ask('POST', '/tokens', { name: 'rest', permissions: ['VIEW'] }, 201)).id;
  expect(await rest.ask('GET', `/tokens/${overRest}`)).toMatchObject({ createdById: child.tokenId });
  const minted = await child.listed('clientTokens', {}, 'createdById');
  expect(minted.map((one: Data) => one.createdById).toSorted()).toEqual([child.tokenId, parent.tokenId].toSorted());
  await endpoint(child);
  const makers = async () => {
    const { apiTokens } = await platform.ask('{ apiTokens { edges { node { id createdById } } } }');
    return Object.fromEntries(apiTokens.edges.map(({ node }: Data) => [node.id, node.createdById]));
  };
  const made = { [platform.tokenId]: null, [parent.tokenId]: platform.tokenId, [child.tokenId]: parent.tokenId };
  expect(await makers()).toEqual({ ...made, [grandchild.tokenId]: child.tokenId, [overRest]: child.tokenId });

  await platform.succeed('revokeClientToken', { tokenId: apps[1]?.tokenId });
  const counts = 'revokedId endedApiTokens endedClientTokens disabledEndpoints';
  const revoke = (tokenId: string, more: object) => platform.succeed('revokeApiToken', { tokenId, ...more }, counts);
  const alone = { endedApiTokens: 0, endedClientTokens: 0, disabledEndpoints: 0 };
  expect(await revoke(grandchild.tokenId, { revokeDescendants: false })).toMatchObject(alone);
  const ended = { revokedId: parent.tokenId, endedApiTokens: 2, endedClientTokens: 1, disabledEndpoints: 1 };
  for (const replayed of [false, true])
    expect(await revoke(parent.tokenId, { idempotencyKey: 'one' })).toMatchObject({ ...ended, replayed });
  const none = { endedApiTokens: 0, endedClientTokens: 0, disabledEndpoints: 0, replayed: false };
  expect(await revoke(parent.tokenId, {})).toMatchObject(none);
  expect(await makers()).toEqual({ [platform.tokenId]: null });
  const late = await server(platform);
  await late.succeed('revokeApiToken', { tokenId: platform.tokenId, revokeDescendants: false });
  // The creator's id is still returned, although the creator has been revoked.
  const { apiTokens } = await late.ask('{ apiTokens { edges { node { id createdById } } } }');
  expect(apiTokens.edges).toEqual([{ node: { id: late.tokenId, createdById: platform.tokenId } }]);
});

test('when a token is revoked with its creator, its streams and sockets are closed', async () => {
  const platform = await newPlatform();
  const { parent, grandchild, apps } = await family(platform);
  const document = { query: 'subscription { events { id } }' };
  const before = t.gateway.feed.subscriptions;
  const raw = await openRawSocket(t.url, apps[1]?.authorization ?? '');
  raw.send({ id: '1', type: 'subscribe', payload: document });
  const open = await openEventStream(`${t.url}/graphql`, grandchild.authorization, document);
  await subscribed(t, before + 2);
  const last = nextOf(open.events);
  await platform.succeed('revokeApiToken', { tokenId: parent.tokenId });
  expect((await raw.closed).code).toBe(4403);
  expect(await last).toMatchObject({ data: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] } });
  await expect(open.events.next()).rejects.toThrow();
});

const deletions = {
  GraphQL: (by: TestPlatform, customerId: string): Promise<unknown> => by.succeed('deleteCustomer', { customerId }),
  REST: async (by: TestPlatform, customerId: string): Promise<unknown> =>
    (await restClient(t.url, by.authorization)).ask('DELETE', `/customers/${customerId}`),
};

const quoteOf = (platform: TestPlatform, scene: Scene): Promise<Data> => platform.quote(usdToEur(scene));

describe.each(Object.entries(deletions))('a customer that is deleted over %s', (_api, remove) => {
  test('loses all its tokens, even those bound to its quotes and transactions, along with their streams, and gets no new ones', async () => {
    const platform = await newPlatform();
    const [scene, other] = [await platform.makeScene(0n), await platform.makeScene()];
    const [made, foreign] = [await quoteOf(platform, scene), await quoteOf(platform, other)];
    const bounds = [
      { customerId: scene.customerId },
      { quoteId: made.id },
      { transactionId: made.transaction.id },
    ] as const;
    const ended = await Promise.all(bounds.map((bound) => platform.appOf(bound)));
    const elsewhere = [{ customerId: other.customerId }, { quoteId: foreign.id }];
    const staying = await Promise.all(elsewhere.map((bound) => platform.appOf(bound)));
    const all = [...ended, ...staying];
    const sockets = await Promise.all(all.map(({ authorization }) => openRawSocket(t.url, authorization)));
    await remove(platform, scene.customerId);
    for (const socket of sockets.slice(0, ended.length)) expect((await socket.closed).code).toBe(4403);
    await untilRefused(...ended);
    await good(...staying);
    // The sweep that closed the other sockets has also checked these.
    for (const socket of sockets.slice(ended.length)) {
      expect(socket.socket.readyState).toBe(socket.socket.OPEN);
      socket.socket.close();
    }
    for (const bound of bounds) {
      const refused = refusal('CUSTOMER_DELETED', 'boundTo', ...Object.keys(bound));
      expect(await platform.act('createClientToken', { boundTo: bound }, 'tokenId')).toMatchObject(refused);
    }
  });

  test('has no token left, not even one created at the same moment', async () => {
    const platform = await newPlatform();
    for (let round = 0; round < 6; round++) {
      const scene = await platform.makeScene(0n);
      const made = await quoteOf(platform, scene);
      const bounds = [{ customerId: scene.customerId }, { quoteId: made.id }, { transactionId: made.transaction.id }];
      await Promise.all([
        ...bounds.map((bound) => platform.act('createClientToken', { boundTo: bound }, 'tokenId')),
        remove(platform, scene.customerId),
        ...bounds.map((bound) => platform.act('createClientToken', { boundTo: bound }, 'tokenId')),
      ]);
    }
    const { rows } = await t.gateway.payments.database.pool.query(
      'select customer_id, quote_id, transaction_id from client_token where platform_id = $1 and revoked_at is null',
      [platform.platformId],
    );
    expect(rows).toEqual([]);
  });
});

test("the database rejects a customer's token whose owner is a different customer or missing", async () => {
  const platform = await newPlatform();
  const customerId = uuidIn(await platform.newCustomer());
  for (const owner of [null, uuidIn((await platform.makeScene()).customerId)]) {
    await expect(
      t.gateway.payments.database.pool.query(
        `insert into client_token (platform_id, customer_id, owner_id, permissions, expires_at)
         values ($1, $2, $3, '{VIEW}', now() + interval '1 minute')`,
        [platform.platformId, customerId, owner],
      ),
    ).rejects.toThrow(/client_token_owner/);
  }
});
