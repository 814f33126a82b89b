import { expect, test } from 'vitest';
import { deleteExpired } from '../../src/server/workers/housekeeping.ts';
import { moving } from '../setup/acts.ts';
import { testGateway, uuidIn } from '../setup/gateway.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { ownReceiver } from '../webhooks/receiver.ts';

const t = await testGateway();
const { database } = t.gateway.payments;
const scene = await t.platform.makeScene();
const ages = { old: '30 days 1 minute', young: '29 days 23 hours' };

const transfer = (idempotencyKey: string) =>
  t.platform.succeed('transferOut', moving(scene.usd, scene.outsideUsd, 100, { idempotencyKey }));

test('an idempotency key is remembered for 30 days and then forgotten', async () => {
  const made = 'update idempotency_record set created_at = clock_ms() - $2::interval where key = $1';
  for (const [key, age] of Object.entries(ages)) {
    await transfer(key);
    await t.owner.query(made, [key, age]);
  }
  expect(await deleteExpired(database)).toBe(false);
  const { rows } = await t.owner.query("select key from idempotency_record where key in ('old', 'young')");
  expect(rows).toEqual([{ key: 'young' }]);
  expect((await transfer('young')).replayed).toBe(true);
});

test('a finished webhook delivery is deleted, with its attempts, 30 days after the last attempt', async () => {
  const receiver = await ownReceiver();
  await createEndpoint(t.platform, { url: receiver.url });
  // Older than any real id, because the first 12 digits of an id are its creation time.
  const old = (name: string) => `0180${'0'.repeat(4)}-0000-7000-8000-00000000000${name}`;
  const ids = ['a', 'b', 'c'].map(old);
  await t.owner.query(
    `insert into webhook_delivery (platform_id, id, endpoint_id, event_sequence, status, next_attempt_at, leased_until)
     select e.platform_id, v.id, e.id, v.sequence, v.status::webhook_delivery_status,
       case when v.status = 'PENDING' then 'infinity'::timestamptz end, null
     from webhook_endpoint e, (values ($1::uuid, 1, 'DELIVERED'), ($2::uuid, 2, 'PENDING'), ($3::uuid, 3, 'FAILED'))
       as v (id, sequence, status)`,
    ids,
  );
  await t.owner.query(
    `insert into webhook_attempt (platform_id, delivery_id, number, at, duration_ms)
     select platform_id, id, 1, case when status = 'FAILED' then clock_ms() else '2022-04-01' end, 5 from webhook_delivery
     where id = any($1::uuid[])`,
    [ids],
  );
  await deleteExpired(database);
  const { rows } = await t.owner.query('select id from webhook_delivery where id < $1 order by id', [old('f')]);
  expect(rows).toEqual([{ id: old('b') }, { id: old('c') }]);
});

test('lookups are deleted an hour after they expire, those with a key after 30 days, and those with a quote never', async () => {
  const address = '$success.usd@sandbox.uma.money';
  const [old, young] = [await t.platform.lookUp(address), await t.platform.lookUp(address)];
  const keyed = (key: string) => t.platform.lookUp(address, { idempotencyKey: key });
  const [oldKeyed, youngKeyed] = [await keyed('old-lookup'), await keyed('young-lookup')];
  const made = await t.platform.umaQuote(scene.usd, address, { lockedCurrencyAmount: 500 });
  const expired = (age: string, ids: string[]) =>
    t.owner.query('update lookup set expires_at = clock_ms() - $2::interval where id = any($1::uuid[])', [ids, age]);
  const { rows } = await t.owner.query('select lookup_id from quote where id = $1', [uuidIn(made.id)]);
  const quoted: string = rows[0].lookup_id;
  await expired(ages.old, [uuidIn(oldKeyed.id), quoted]);
  await expired(ages.young, [uuidIn(youngKeyed.id)]);
  await expired('61 minutes', [uuidIn(old.id)]);
  await expired('59 minutes', [uuidIn(young.id)]);
  expect(await deleteExpired(database)).toBe(false);
  const there = async (id: string) => (await t.platform.ask('query ($id: ID!) { node(id: $id) { id } }', { id })).node;
  for (const { id } of [old, oldKeyed]) expect(await there(id)).toBeNull();
  for (const { id } of [young, youngKeyed]) expect(await there(id)).toEqual({ id });
  expect(await there(`Lookup:${quoted}`)).toEqual({ id: `Lookup:${quoted}` });
});

test('a client token is deleted 30 days after its expiry', async () => {
  const bound = { customerId: scene.customerId };
  const [{ tokenId: old }, { tokenId: young }] = [await t.platform.mint(bound), await t.platform.mint(bound)];
  const expired = 'update client_token set expires_at = clock_ms() - $2::interval where id = $1';
  await t.owner.query(expired, [uuidIn(old), ages.old]);
  await t.owner.query(expired, [uuidIn(young), ages.young]);
  expect(await deleteExpired(database)).toBe(false);
  const { clientTokens } = await t.platform.ask('{ clientTokens { edges { node { id } } } }');
  expect(clientTokens.edges).toEqual([{ node: { id: young } }]);
});
