import { describe, expect, test } from 'vitest';
import { RateLimits } from '../../src/domain/access/limits/rate-limits.ts';
import { changeRates } from '../../src/domain/platforms/platforms.ts';
import { ownGateway, startTestGateway, type TestPlatform, tester, testGateway } from '../setup/gateway.ts';
import { withNewCredentials } from '../setup/scene.ts';
import { openRawSocket } from '../setup/streams.ts';

/** Tests rate limits on every transport. The tests control the clock. While it stands still, no bucket refills. */

let now = 0;
const slow = { perSecond: 1, burst: 3 };
const t = await testGateway({ RATE_LIMIT_CLIENT_TOKEN: slow }, undefined, { pace: { now: () => now } });

let platforms = 0;
async function limitedTo(changes: Parameters<typeof changeRates>[3]): Promise<TestPlatform> {
  platforms += 1;
  const platform = await t.newPlatform(`limited ${platforms}`);
  await changeRates(t.gateway.payments.database, platform.platformId, tester, changes);
  return platform;
}

const query = '{ viewer { kind } }';
const post = (platform: TestPlatform, more: Record<string, string> = {}, body: object = { query }, path?: string) =>
  platform.post(body, more, path);
const get = ({ authorization }: TestPlatform, path: string) => fetch(`${t.url}${path}`, { headers: { authorization } });

const said = ({ status, headers }: Response) => ({
  status,
  retryAfter: headers.get('retry-after'),
  policy: headers.get('ratelimit-policy'),
  state: headers.get('ratelimit'),
});

describe('a platform limited to 1 request per second, in bursts of up to 3', () => {
  const policy = '"api-token";q=40000;w=2, "platform";q=3;w=3';
  const stateOf = (left: number) => `"platform";r=${left};t=${3 - left}`;
  const served = (left: number) => ({ status: 200, retryAfter: null, policy, state: stateOf(left) });
  const refused = { status: 429, retryAfter: '1', policy, state: stateOf(0) };
  const message = 'this platform has made too many requests: at most 1 a second, in bursts of up to 3';
  const extensions = { code: 'RATE_LIMITED', retryAfter: 1 };

  test('sees its remaining requests in each response, and is served again a second after a refusal, on both APIs', async () => {
    const platform = await limitedTo({ platform: slow });
    for (const left of [2, 1, 0]) expect(said(await post(platform))).toEqual(served(left));
    const overGraphql = await post(platform);
    expect(said(overGraphql)).toEqual(refused);
    expect(await overGraphql.json()).toEqual({ errors: [{ message, extensions }] });
    const overRest = await get(platform, '/2025-10-13/customers');
    expect(said(overRest)).toEqual(refused);
    expect(await overRest.json()).toEqual({ status: 429, code: 'RATE_LIMITED', message, details: { reason: message } });
    now += 1_000;
    expect(said(await get(platform, '/2025-10-13/customers'))).toEqual(served(0));
    expect(said(await post(platform))).toEqual(refused);
    // Even after a long pause, the bucket holds no more than a burst.
    now += 3_600_000;
    expect(said(await post(platform))).toEqual(served(2));
  });

  test('does not affect other platforms', async () => {
    const platform = await limitedTo({ platform: slow });
    for (let sent = 0; sent < 4; sent += 1) await post(platform);
    expect((await post(platform)).status).toBe(429);
    expect((await post(t.platform)).status).toBe(200);
  });

  test('cannot open an event stream once it is over its limit', async () => {
    const platform = await limitedTo({ platform: slow });
    const follow = () =>
      post(platform, { accept: 'text/event-stream' }, { query: 'subscription { events { id } }' }, '/graphql/stream');
    const streams: Response[] = [];
    for (const left of [2, 1, 0]) {
      streams.push(await follow());
      expect(streams.map(said).at(-1)).toEqual(served(left));
    }
    expect(said(await follow())).toEqual(refused);
    for (const { body } of streams) await body?.cancel();
  });

  test('can neither start an operation on its socket, which stays open, nor open another socket', async () => {
    const platform = await limitedTo({ platform: slow });
    const raw = await openRawSocket(t.url, platform.authorization);
    const ask = (id: string) => raw.send({ id, type: 'subscribe', payload: { query } });
    for (const id of ['1', '2']) {
      ask(id);
      expect(await raw.receive('next')).toMatchObject({ id, payload: { data: { viewer: { kind: 'PLATFORM' } } } });
    }
    ask('3');
    expect(await raw.receive('error')).toMatchObject({ id: '3', payload: [{ extensions }] });
    const second = await openRawSocket(t.url, platform.authorization);
    expect(await second.closed).toMatchObject({ code: 1013, reason: expect.stringContaining('too many requests') });
    now += 1_000;
    ask('4');
    expect(await raw.receive('next')).toMatchObject({ id: '4' });
    raw.socket.close();
  });

  test('is refused before the request body is read, and its invalid documents count too', async () => {
    const platform = await limitedTo({ platform: slow });
    for (const text of ['{ nothing }', '{', 'mutation { no }']) {
      expect((await post(platform, {}, { query: text })).headers.get('ratelimit')).toMatch(/^"platform";r=/);
    }
    expect((await post(platform, {}, { query: '{'.repeat(90_000) })).status).toBe(429);
  });

  test('gets refusals that are not stored under the idempotency key', async () => {
    const platform = await limitedTo({ platform: slow });
    const customer = { customerType: 'INDIVIDUAL', platformCustomerId: 'one' };
    const create = () => post(platform, { 'idempotency-key': 'once' }, customer, '/2025-10-13/customers');
    for (let sent = 0; sent < 3; sent += 1) await post(platform);
    expect((await create()).status).toBe(429);
    now += 2_000;
    const made = await create();
    expect([made.status, made.headers.get('idempotency-replayed')]).toEqual([201, null]);
    const again = await create();
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  });
});

describe('a document that costs more than 800 counts as one more request for each further 500 or part of 500', () => {
  /** Returns a query for the given fields of a hundred customers. Each field costs 100, and the list itself 500. */
  const list = (...fields: string[]) => `{ customers(first: 100) { edges { node { ${fields.join(' ')} } } } }`;
  const four = ['id', 'umaAddress', 'kycStatus', 'isDeleted'];
  const two = list(...four);
  const three = list(...four, 'createdAt', 'updatedAt', 'platformCustomerId', 'version', 'name');
  const refusal = { code: 'RATE_LIMITED', retryAfter: 1 };

  test('and is refused before execution if too few requests are left', async () => {
    const platform = await limitedTo({ platform: { perSecond: 1, burst: 4 } });
    const first = await post(platform, {}, { query: three, extensions: { cost: true } });
    expect((await first.json()).extensions.cost.cost).toBe(1_400);
    expect([first.status, first.headers.get('ratelimit')]).toEqual([200, '"platform";r=1;t=3']);
    const refused = await post(platform, {}, { query: two });
    expect(said(refused)).toMatchObject({ status: 429, retryAfter: '1', state: '"platform";r=1;t=3' });
    const message = 'this platform has made too many requests: at most 1 a second, in bursts of up to 4';
    expect(await refused.json()).toEqual({ errors: [{ message, extensions: refusal }] });
    // The refused document did not count, so a small one is served at once, and the large one two seconds later.
    expect((await post(platform)).headers.get('ratelimit')).toBe('"platform";r=0;t=4');
    now += 2_000;
    expect((await post(platform, {}, { query: two })).headers.get('ratelimit')).toBe('"platform";r=0;t=4');
  });

  test('and is also refused on a socket, which stays open', async () => {
    const platform = await limitedTo({ platform: { perSecond: 1, burst: 3 } });
    const raw = await openRawSocket(t.url, platform.authorization);
    raw.send({ id: '1', type: 'subscribe', payload: { query: three } });
    // Opening the socket counted as one request, so two are left.
    expect(await raw.receive('next')).toMatchObject({ id: '1', payload: { errors: [{ extensions: refusal }] } });
    raw.send({ id: '2', type: 'subscribe', payload: { query: two } });
    expect(await raw.receive('next')).toMatchObject({ id: '2', payload: { data: { customers: {} } } });
    raw.socket.close();
  });

  test('and uses the entire bucket if it counts as more requests than the bucket holds', async () => {
    const platform = await limitedTo({ platform: { perSecond: 1, burst: 2 } });
    expect((await post(platform, {}, { query: three })).headers.get('ratelimit')).toBe('"platform";r=0;t=2');
  });
});

test('each API token and each client token has its own limit', async () => {
  const platform = await limitedTo({ apiToken: { perSecond: 1, burst: 6 } });
  const other = await withNewCredentials(platform, t.url);
  const customerId = await platform.newCustomer();
  const [first, second] = [await platform.appOf({ customerId }), await platform.appOf({ customerId })];
  expect((await post(platform)).headers.get('ratelimit')).toBe('"api-token";r=1;t=5');
  await post(platform);
  expect((await post(platform)).status).toBe(429);
  expect((await post(other)).status).toBe(200);

  for (const left of [2, 1, 0]) {
    expect((await post(first)).headers.get('ratelimit')).toBe(`"client-token";r=${left};t=${3 - left}`);
  }
  const refused = await post(first);
  expect(refused.status).toBe(429);
  expect((await refused.json()).errors[0].message).toContain('this client token has made too many requests');
  expect((await post(second)).status).toBe(200);
});

test('a platform’s own limit, even a lower one, replaces the one in the settings until it is set to `default`', async () => {
  const { database } = t.gateway.payments;
  const platform = await limitedTo({ clientToken: { perSecond: 5, burst: 5 } });
  const customerId = await platform.newCustomer();
  const app = await platform.appOf({ customerId });
  expect((await post(app)).headers.get('ratelimit-policy')).toBe('"client-token";q=5;w=1, "platform";q=40000;w=2');
  const { platformId } = platform;
  const none = { platform: null, apiToken: null, clientToken: null };
  expect(await changeRates(database, platformId, tester, { clientToken: null })).toEqual(none);
  const acts = () => database.prisma.operatorAct.count({ where: { platformId } });
  for (const limit of ['platform', 'apiToken', 'clientToken'] as const) {
    const own = { ...none, [limit]: { perSecond: 70, burst: 90 } };
    expect(await changeRates(database, platformId, tester, { [limit]: own[limit] })).toEqual(own);
    const before = await acts();
    // An omitted option leaves its limit unchanged, and showing the limits is not recorded as an act.
    expect([await changeRates(database, platformId, tester, {}), await acts()]).toEqual([own, before]);
    expect([await changeRates(database, platformId, tester, { [limit]: null }), await acts()]).toEqual([
      none,
      before + 1,
    ]);
  }
});

test('responses do not mention limits if none are set', async () => {
  const off = { RATE_LIMIT_PLATFORM: null, RATE_LIMIT_API_TOKEN: null };
  const unlimited = await ownGateway({ ROLE: 'serve', ...off }, t.databaseUrl);
  const { authorization } = t.platform;
  const response = await fetch(`${unlimited.url}/2025-10-13/config`, { headers: { authorization } });
  expect(said(response)).toEqual({ status: 200, retryAfter: null, policy: null, state: null });
});

test('a refusal says when to try again, and does not count against the limit', () => {
  const viewer = (tokenId: string) => ({
    kind: 'PLATFORM' as const,
    platformId: 'one',
    environment: 'SANDBOX' as const,
    permissions: [],
    grants: [],
    bound: { kind: 'PLATFORM' as const },
    subject: 'Platform:one',
    expiresAt: null,
    trustedDocumentsOnly: false,
    documents: [],
    tokenId,
    rates: { platform: null, apiToken: null, clientToken: null },
    makers: [],
    addresses: [],
  });
  let time = 0;
  const rates = { platform: { perSecond: 1_000, burst: 10 }, apiToken: { perSecond: 1, burst: 4 }, clientToken: null };
  const limits = new RateLimits(rates, () => time);
  for (let sent = 0; sent < 4; sent += 1) expect(limits.count(viewer('a')).refusal).toBeUndefined();
  for (let sent = 0; sent < 100; sent += 1) expect(limits.count(viewer('a')).refusal?.retryAfter).toBe(1);
  // The token's refused requests cost the platform nothing, so other tokens can still use six of its ten requests.
  for (let sent = 0; sent < 4; sent += 1) expect(limits.count(viewer('b')).refusal).toBeUndefined();
  expect(limits.count(viewer('c')).quotas[1]?.bucket.tokens).toBe(1);
  time += 999;
  expect(limits.count(viewer('a')).refusal?.message).toContain('this API token');
  time += 1;
  expect(limits.count(viewer('a')).refusal).toBeUndefined();
});

test.each([
  ['is not JSON', '/graphql', { 'content-type': 'text/plain' }, 415],
  ['has an unknown path', '/nothing', {}, 404],
])(
  'a request that %s does not count against any limit, but repeated ones are refused with a delay',
  async (_what, path, more, status) => {
    const platform = await limitedTo({});
    // From here on, the platform's credentials are cached.
    expect((await post(platform)).status).toBe(200);
    const first = await Promise.all(Array.from({ length: 51 }, () => post(platform, more, undefined, path)));
    expect(new Set(first.map((answer) => answer.status))).toEqual(new Set([status]));

    // The clock is set back by two seconds, so the next refusal is delayed as if forty more had preceded it.
    now -= 2_000;
    let isRefused = false;
    const late = post(platform, more, undefined, path).then((answer) => {
      isRefused = true;
      return answer.status;
    });
    expect((await get(platform, '/health/live')).status).toBe(200);
    expect(isRefused).toBe(false);
    expect(await late).toBe(status);
    now += 2_000;
  },
);

test('an instance sends its delayed refusals before it shuts down', async () => {
  let time = 0;
  const stopping = await startTestGateway({ ROLE: 'serve' }, t.databaseUrl, { pace: { now: () => time } });
  const nothing = () => fetch(`${stopping.url}/nothing`).then(({ status }) => status);
  await Promise.all(Array.from({ length: 51 }, nothing));
  // With the clock set back, the next refusal would normally be delayed by nine seconds.
  time = -9_000;
  const late = nothing();
  expect((await fetch(`${stopping.url}/health/live`)).status).toBe(200);
  await stopping.stop();
  expect(await late).toBe(404);
});
