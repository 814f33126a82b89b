import { afterAll, beforeEach, expect, test } from 'vitest';
import { platformItself } from '../../src/domain/access/platform-itself.ts';
import { lookUpReceiver, maxLookups } from '../../src/domain/receivers/lookups.ts';
import { openDatabase } from '../../src/infra/database/database.ts';
import { sandboxOf, testGateway, uuidIn, withRail } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';

/** The number of calls to the rail, and a hook that runs during a call. */
let asked = 0;
let whileAsked: () => Promise<unknown> = async () => undefined;
const t = await testGateway();
const database = openDatabase({ url: t.databaseUrl, role: 'gateway_work' });
const rail = withRail(t, {
  async lookUp(umaAddress) {
    asked += 1;
    await whileAsked();
    return sandboxOf(t.gateway.payments).lookUp?.(umaAddress);
  },
});
const payments = { ...rail, database };
const caller = platformItself({ platformId: t.platform.platformId, environment: 'SANDBOX' });
beforeEach(() => {
  asked = 0;
  whileAsked = async () => undefined;
});
afterAll(() => database.close());

const input = { umaAddress: '$success.usd@sandbox.uma.money' };

test('a lookup is valid for ten minutes by the database’s clock, from the time in its id', async () => {
  const { row, replayed } = await lookUpReceiver(payments, caller, input);
  expect(replayed).toBe(false);
  expect(row.expiresAt.getTime() - row.createdAt.getTime()).toBe(600_000);
  expect(Number.parseInt(row.id.replaceAll('-', '').slice(0, 12), 16)).toBe(row.createdAt.getTime());
});

test('a repeated request returns the original response without calling the rail', async () => {
  const ask = (umaAddress = input.umaAddress) => lookUpReceiver(payments, caller, { umaAddress }, 'lookup-again');
  const { row } = await ask();
  expect(await ask()).toEqual({ row, replayed: true });
  expect(asked).toBe(1);
  const receipt = { outcome: 'SUCCEEDED', result: { id: `Lookup:${row.id}` } };
  expect(await t.platform.receiptOf('lookUpReceiver', 'lookup-again')).toMatchObject(receipt);
  await expect(ask('$success.eur@sandbox.uma.money')).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
});

test('of several concurrent calls with the same key, one makes the lookup, and all return it', async () => {
  const before = await database.prisma.lookup.count();
  const calls = Array.from({ length: 5 }, () => lookUpReceiver(payments, caller, input, 'lookup-at-once'));
  const all = await Promise.all(calls);
  expect(new Set(all.map(({ row }) => row.id)).size).toBe(1);
  expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(await database.prisma.lookup.count()).toBe(before + 1);
});

test('a refusal does not use up the key: the same call may succeed later', async () => {
  const absent = { umaAddress: '$nobody@test.uma.money' };
  const refused = lookUpReceiver(payments, caller, absent, 'lookup-nobody');
  await expect(refused).rejects.toMatchObject({ code: 'UMA_NOT_FOUND' });
  expect(await lookUpReceiver(payments, caller, input, 'lookup-nobody')).toMatchObject({ replayed: false });
});

test('no database connection is held while waiting for the rail', async () => {
  for (const key of [undefined, 'lookup-waits']) {
    whileAsked = async () => {
      const { totalCount, idleCount, waitingCount } = database.pool;
      expect({ inUse: totalCount - idleCount, waitingCount }).toEqual({ inUse: 0, waitingCount: 0 });
    };
    await lookUpReceiver(payments, caller, input, key);
  }
  expect(asked).toBe(2);
});

test("a token's number of unexpired lookups is limited, regardless of other tokens", async () => {
  const rest = await restClient(t.url, t.platform.authorization);
  const path = `/receiver/${encodeURIComponent(input.umaAddress)}`;
  const { lookupId } = await rest.ask('GET', path);
  const uuid = uuidIn(lookupId);
  // Together with the existing lookup, these reach the limit.
  await database.pool.query(
    `insert into lookup (platform_id, id, uma_address, token_id, network, currencies, required_fields)
     select platform_id, uuid_v7(), uma_address, token_id, network, currencies, required_fields
     from lookup, generate_series(2, $2) where id = $1`,
    [uuid, maxLookups],
  );
  const count = () => database.prisma.lookup.count();
  const before = await count();
  const refused = await rest.call('GET', path);
  expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  expect(refused.headers.get('retry-after')).toBe('60');
  for (const key of [{}, { idempotencyKey: 'one-more' }]) {
    const overGraphql = await t.platform.lookUp(input.umaAddress, key);
    expect(overGraphql).toMatchObject({ __typename: 'UnavailableError', code: 'RATE_LIMITED', retryAfter: 60 });
  }
  expect(await count()).toBe(before);
  const another = await restClient(t.url, (await t.platform.serverOf('VIEW')).authorization);
  await another.ask('GET', path);
  await database.pool.query('update lookup set expires_at = clock_timestamp() where id = $1', [uuid]);
  await rest.ask('GET', path);
});
