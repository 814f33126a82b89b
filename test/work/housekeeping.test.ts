import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteExpired } from '../../src/work/housekeeping.ts';
import { lookUp, mint, umaQuote } from '../setup/acts.ts';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';

let t: TestGateway;
let scene: Scene;
beforeAll(async () => {
  t = await startTestGateway();
  scene = await makeScene(t.platform);
});
afterAll(() => t.stop());

test('lookups that expired an hour ago are deleted, with a key after 30 days, and those of a quote never', async () => {
  const { database } = t.gateway.payments;
  const address = '$success.usd@sandbox.uma.money';
  const [old, young] = [await lookUp(t.platform, address), await lookUp(t.platform, address)];
  const keyed = (key: string) => lookUp(t.platform, address, { idempotencyKey: key });
  const [oldKeyed, youngKeyed] = [await keyed('old-lookup'), await keyed('young-lookup')];
  const made = await umaQuote(t.platform, scene.usd, address, { lockedCurrencyAmount: 500 });
  const expired = (age: string, ids: string[]) =>
    t.owner.query('update lookup set expires_at = clock_ms() - $2::interval where id = any($1::uuid[])', [ids, age]);
  const uuid = (id: string) => id.slice(id.indexOf(':') + 1);
  const { rows } = await t.owner.query('select lookup_id from quote where id = $1', [uuid(made.id)]);
  const quoted: string = rows[0].lookup_id;
  await expired('30 days 1 minute', [uuid(oldKeyed.id), quoted]);
  await expired('29 days 23 hours', [uuid(youngKeyed.id)]);
  await expired('61 minutes', [uuid(old.id)]);
  await expired('59 minutes', [uuid(young.id)]);
  expect(await deleteExpired(database)).toBe(false);
  const there = async (id: string) => (await t.platform.ask('query ($id: ID!) { node(id: $id) { id } }', { id })).node;
  for (const { id } of [old, oldKeyed]) expect(await there(id)).toBeNull();
  for (const { id } of [young, youngKeyed]) expect(await there(id)).toEqual({ id });
  expect(await there(`Lookup:${quoted}`)).toEqual({ id: `Lookup:${quoted}` });
});

test('a client token is deleted 30 days after its expiry', async () => {
  const { database } = t.gateway.payments;
  const bound = { customerId: scene.customerId };
  const [old, young] = [await mint(t.platform, bound), await mint(t.platform, bound)].map(({ tokenId }) => tokenId);
  for (const [id, age] of [
    [old, '30 days 1 minute'],
    [young, '29 days 23 hours'],
  ] as const) {
    await t.owner.query('update client_token set expires_at = clock_ms() - $2::interval where id = $1', [
      id.split(':')[1],
      age,
    ]);
  }
  expect(await deleteExpired(database)).toBe(false);
  const { clientTokens } = await t.platform.ask('{ clientTokens { edges { node { id } } } }');
  expect(clientTokens.edges).toEqual([{ node: { id: young } }]);
});
