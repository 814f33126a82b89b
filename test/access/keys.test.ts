import { expect, test } from 'vitest';
import { parseRange } from '../../src/core/address-ranges.ts';
import { basicAuthorization } from '../../src/domain/access/tokens/credentials.ts';
import { connect, type Data, ownGateway, type TestPlatform, testGateway, untilRows, uuidIn } from '../setup/gateway.ts';
import { openRawSocket } from '../setup/streams.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { ownReceiver } from '../webhooks/receiver.ts';

// Tests the expiry, address restrictions and rotation of API tokens.

const t = await testGateway({ TRUSTED_PROXIES: [parseRange('127.0.0.1')], WRONG_CREDENTIALS_PER_MINUTE: 600 });
const { platform } = t;
const facts = 'id clientId name permissions expiresAt addresses replacesId replacedBy { id } createdById lastUsedAt';

interface Key {
  readonly token: Data;
  readonly platform: TestPlatform;
}

async function make(by: TestPlatform, input: object): Promise<Key> {
  const made = { name: 'key', permissions: ['VIEW'], ...input };
  const { apiToken, secret } = await by.succeed('createApiToken', made, `secret apiToken { ${facts} }`);
  return keyOf(apiToken, secret);
}

async function rotate(by: TestPlatform, tokenId: string, rest: object = {}): Promise<Key & { overlapEndsAt: string }> {
  const selection = `secret overlapEndsAt apiToken { ${facts} }`;
  const { apiToken, overlapEndsAt, secret } = await by.succeed('rotateApiToken', { tokenId, ...rest }, selection);
  return { ...keyOf(apiToken, secret), overlapEndsAt };
}

const keyOf = (token: Data, secret: string): Key => ({
  token,
  platform: connect(t.url, platform.platformId, basicAuthorization({ clientId: token.clientId, secret })),
});

/** Sends a request with a token. The trusted proxy reports `from` as the client's address. Returns the status. */
async function statusOf(by: TestPlatform, from = '203.0.113.7', url = t.url): Promise<number> {
  return (await by.at(url).post({ query: '{ viewer { kind } }' }, { 'x-forwarded-for': from })).status;
}

/** Waits until requests with a token are rejected. */
async function untilRefused(by: TestPlatform, url = t.url): Promise<void> {
  while ((await statusOf(by, undefined, url)) !== 401) await new Promise(setImmediate);
}

const endNow = (tokenId: string) =>
  t.owner.query('update api_token set expires_at = clock_timestamp() where id = $1', [uuidIn(tokenId)]);
const later = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

test('when a token expires, its open streams end and nothing more can be created with it', async () => {
  const { token, platform: key } = await make(platform, { expiresAt: later(1), permissions: ['VIEW', 'MANAGE'] });
  expect(await statusOf(key)).toBe(200);
  expect((await key.ask('{ viewer { expiresAt } }')).viewer.expiresAt).toBe(token.expiresAt);
  const socket = await openRawSocket(t.url, key.authorization);
  await endNow(token.id);
  await untilRefused(key);
  expect((await socket.closed).code).toBe(4403);
});

test('a token cannot create a token that lasts longer or is accepted from other addresses', async () => {
  const addresses = ['203.0.113.0/24', '2001:db8::/48', '127.0.0.1'];
  const input = { permissions: ['VIEW', 'MANAGE'], expiresAt: later(2), addresses };
  const maker = await make(platform, input);
  const from = maker.platform;
  const attempt = (rest: object) => from.act('createApiToken', { name: 'child', permissions: ['VIEW'], ...rest });
  expect(await attempt({ expiresAt: later(3) })).toMatchObject({ code: 'FORBIDDEN', path: ['input', 'expiresAt'] });
  for (const other of ['203.0.112.0/23', '198.51.100.1', '2001:db9::/48'])
    expect(await attempt({ addresses: [other] })).toMatchObject({ code: 'FORBIDDEN', path: ['input', 'addresses'] });
  const narrower = ['203.0.113.9'];
  expect((await make(from, { expiresAt: later(1), addresses: narrower })).token.addresses).toEqual(narrower);
  expect((await make(from, {})).token).toMatchObject({ expiresAt: maker.token.expiresAt, addresses });
});

test.each([
  [{ expiresAt: '2020-01-01T00:00:00Z' }, ['expiresAt']],
  [{ addresses: [] }, ['addresses']],
  [{ addresses: ['203.0.113.0/33'] }, ['addresses', 0]],
  [{ addresses: ['10.0.0.1', 'everywhere'] }, ['addresses', 1]],
  [{ addresses: ['010.0.0.0/8'] }, ['addresses', 0]],
  [{ addresses: ['10.1'] }, ['addresses', 0]],
  [{ addresses: ['2001:db8::/65'] }, ['addresses', 0]],
])('a token with %j is refused', async (input, path) => {
  const refused = await platform.act('createApiToken', { name: 'key', permissions: ['VIEW'], ...input });
  expect(refused).toMatchObject({ code: 'INVALID_INPUT', path: ['input', ...path] });
});

test('a token is accepted only from its addresses, even right after a request from one of them', async () => {
  const two = ['203.0.113.0/28', '198.51.100.4'];
  const { platform: key } = await make(platform, { addresses: [...two, '2001:db8:1::/48', '::ffff:192.0.2.0/120'] });
  for (const from of ['203.0.113.7', '198.51.100.4', '2001:db8:1:2::3', '::ffff:203.0.113.7', '192.0.2.9'])
    expect([from, await statusOf(key, from)]).toEqual([from, 200]);
  for (const from of ['203.0.113.16', '198.51.100.5', '2001:db8:2::1', '192.0.3.1'])
    expect([from, await statusOf(key, from)]).toEqual([from, 401]);
  // Entries that a client adds before the proxy's own are not trusted.
  expect(await statusOf(key, '203.0.113.7, 198.51.100.5')).toBe(401);
  expect(await statusOf(key, '198.51.100.5, 203.0.113.7')).toBe(200);
  const rest = (from: string) =>
    fetch(`${t.url}/2025-10-13/config`, { headers: { authorization: key.authorization, 'x-forwarded-for': from } });
  expect([(await rest('203.0.113.7')).status, (await rest('203.0.113.99')).status]).toEqual([200, 401]);
});

test('without a trusted proxy, X-Forwarded-For is ignored', async () => {
  const alone = await ownGateway({}, t.databaseUrl);
  const { platform: key } = await make(platform, { addresses: ['203.0.113.0/24'] });
  expect(await statusOf(key, '203.0.113.7', alone.url)).toBe(401);
  const { platform: local } = await make(platform, { addresses: ['127.0.0.0/8'] });
  expect(await statusOf(local, '203.0.113.7', alone.url)).toBe(200);
});

test('a rotated token and its successor are both valid until the overlap ends', async () => {
  const given = { name: 'payouts', permissions: ['VIEW', 'TRANSACT'], addresses: ['203.0.113.0/24'] };
  const first = await make(platform, given);
  const second = await rotate(platform, first.token.id, { overlapHours: 2 });
  const { name, permissions, addresses } = first.token;
  expect(second.token).toMatchObject({ name, permissions, addresses, replacesId: first.token.id, expiresAt: null });
  const old = await platform.fieldsOf('node', first.token.id, '... on ApiToken { expiresAt replacedBy { id } }');
  expect(old).toEqual({ expiresAt: second.overlapEndsAt, replacedBy: { id: second.token.id } });
  const overlapMs = Date.parse(old.expiresAt) - Date.now();
  expect(overlapMs).toBeGreaterThan(7_100_000);
  expect(overlapMs).toBeLessThanOrEqual(7_200_000);
  expect([await statusOf(first.platform), await statusOf(second.platform)]).toEqual([200, 200]);
  expect(await platform.act('rotateApiToken', { tokenId: first.token.id })).toMatchObject({ code: 'CONFLICT' });
  await endNow(first.token.id);
  await untilRefused(first.platform);
  expect(await statusOf(second.platform)).toBe(200);
  expect(await platform.act('rotateApiToken', { tokenId: first.token.id })).toMatchObject({ code: 'CONFLICT' });
  await platform.succeed('revokeApiToken', { tokenId: second.token.id });
});

test('exactly one of several concurrent rotations succeeds', async () => {
  const { token } = await make(platform, {});
  const tries = Array.from({ length: 4 }, () => platform.act('rotateApiToken', { tokenId: token.id }));
  const codes = (await Promise.all(tries)).map(({ code }) => code ?? 'DONE');
  expect(codes.sort()).toEqual(['CONFLICT', 'CONFLICT', 'CONFLICT', 'DONE']);
});

test("a token's successor lasts as long as the token, but no longer than the token that rotated it", async () => {
  const short = await make(platform, { expiresAt: later(10) });
  const { token } = await rotate(platform, short.token.id);
  expect(Math.abs(Date.parse(token.expiresAt) - Date.now() - 36_000_000)).toBeLessThan(60_000);
  const maker = await make(platform, { permissions: ['VIEW', 'MANAGE'], expiresAt: later(1) });
  const endless = await make(platform, {});
  expect((await rotate(maker.platform, endless.token.id)).token.expiresAt).toBe(maker.token.expiresAt);
  const last = await make(platform, { expiresAt: '9999-12-31T23:59:59.999Z' });
  expect((await rotate(platform, last.token.id)).token.expiresAt).toBe(last.token.expiresAt);
});

test('a successor is limited by the policies of the token it replaces and of the token that created it', async () => {
  const old = await make(platform, { permissions: ['VIEW', 'TRANSACT'] });
  const maker = await platform.serverOf('VIEW', 'TRANSACT', 'MANAGE');
  for (const subjectId of [old.token.id, maker.tokenId])
    await platform.succeed('setPolicy', { subjectId, limits: [{ period: 'DAY', payments: 3 }] });
  const next = await rotate(maker, old.token.id);
  const { viewer } = await next.platform.ask('{ viewer { policies { subjectId } } }');
  expect(viewer.policies.map(({ subjectId }: Data) => subjectId).sort()).toEqual([old.token.id, maker.tokenId].sort());
  const weak = await platform.serverOf('VIEW', 'MANAGE');
  expect(await weak.act('rotateApiToken', { tokenId: next.token.id })).toMatchObject({ code: 'FORBIDDEN' });
});

test('revoking a token ends its successor', async () => {
  const { token } = await make(platform, {});
  const next = await rotate(platform, token.id);
  await platform.succeed('revokeApiToken', { tokenId: token.id });
  await untilRefused(next.platform);
});

test('a revoked token is rejected within a second on every instance', async () => {
  const other = await ownGateway({}, t.databaseUrl);
  const { token, platform: key } = await make(platform, {});
  expect([await statusOf(key), await statusOf(key, undefined, other.url)]).toEqual([200, 200]);
  await platform.succeed('revokeApiToken', { tokenId: token.id });
  await Promise.all([untilRefused(key), untilRefused(key, other.url)]);
});

test("a token's last use is recorded at most once a minute", async () => {
  const { token, platform: key } = await make(platform, {});
  expect(token.lastUsedAt).toBeNull();
  await statusOf(key);
  const recorded = 'select last_used_at is not null as used from api_token where id = $1';
  await untilRows(t, [{ used: true }], recorded, uuidIn(token.id));
  const used = () => platform.fieldsOf('node', token.id, '... on ApiToken { lastUsedAt }');
  const first = await used();
  // A new gateway has not cached the token and looks it up again.
  for (let again = 0; again < 3; again += 1) {
    const other = await ownGateway({}, t.databaseUrl);
    expect(await statusOf(key, undefined, other.url)).toBe(200);
  }
  expect(await used()).toEqual(first);
});

test("a token's expiry is announced once, a week in advance, by event and webhook, but not to apps", async () => {
  const receiver = await ownReceiver();
  await createEndpoint(platform, { url: receiver.url, eventTypes: ['API_TOKEN_EXPIRY'] });
  const soon = await make(platform, { expiresAt: later(24 * 6) });
  await make(platform, { expiresAt: later(24 * 8) });
  const { token } = await make(platform, {});
  await rotate(platform, token.id, { overlapHours: 1 });
  // The hourly job that announces expiries also runs at startup. Even if two runs overlap, each expiry is announced
  // only once.
  await Promise.all([ownGateway({}, t.databaseUrl), ownGateway({}, t.databaseUrl)]);
  const told = () => receiver.received.filter(({ body }) => body.type === 'API_TOKEN_EXPIRY');
  await receiver.until(() => told().length >= 2);
  const announced = told().map(({ body }) => body.tokenId);
  expect(new Set(announced)).toEqual(new Set([soon.token.id, token.id]));
  expect(told().find(({ body }) => body.tokenId === soon.token.id)?.body.expiresAt).toBe(soon.token.expiresAt);
  await ownGateway({}, t.databaseUrl);
  const events = async (by: TestPlatform) =>
    (await by.ask('{ events(filter: { types: [API_TOKEN_EXPIRY] }, first: 50) { edges { node { apiTokenId } } } }'))
      .events.edges;
  // Other tests in this file also create tokens that expire soon.
  const ids = (await events(platform)).map(({ node }: Data) => node.apiTokenId);
  expect(ids.filter((id: string) => announced.includes(id)).sort()).toEqual([soon.token.id, token.id].sort());
  const app = await platform.payingApp({ customerId: await platform.newCustomer() });
  expect(await events(app)).toEqual([]);
});
