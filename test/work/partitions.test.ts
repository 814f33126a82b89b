import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asPlatform } from '../../src/database/connections/platform-scope.ts';
import { type DatabaseRole, openDatabase } from '../../src/database/database.ts';
import { servingUrl } from '../../src/database/embedded/serving-login.ts';
import { inTransaction } from '../../src/database/transaction.ts';
import { deleteExpired } from '../../src/work/housekeeping.ts';
import { keepPartitions } from '../../src/work/partitions.ts';
import { act, ended, feedEnd } from '../setup/acts.ts';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { partitionAnew, partitionedTables, partitionsOf } from '../setup/partitions.ts';
import { makeScene, type Scene } from '../setup/scene.ts';
import { createEndpoint, endpointUntil, readEndpoint, replay, resend } from '../webhooks/endpoint.ts';
import { startReceiver } from '../webhooks/receiver.ts';

let t: TestGateway;
let scene: Scene;
const log = pino({ level: 'silent' });
beforeAll(async () => {
  t = await startTestGateway();
  scene = await makeScene(t.platform);
});
afterAll(() => t.stop());

const keep = () => keepPartitions(t.gateway.payments.database, log);
const transfer = (idempotencyKey: string, amount = 100) =>
  act(
    t.platform,
    'transferOut',
    { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount, idempotencyKey },
    'replayed transaction { id }',
  );
const uuidIn = (id: string) => id.slice(id.indexOf(':') + 1);
/** Makes what a key has done look older. */
const age = (key: string, by: string) =>
  t.owner.query(`update idempotency_record set created_at = created_at - $2::interval where key = $1`, [key, by]);

/** Moves the deliveries of an endpoint to the past, with their attempts: the first 12 digits of an id say when it was made. */
const agePast = async (endpointId: string, days: number) => {
  const client = await t.owner.connect();
  const { rows } = await client.query<{ was: string; id: string }>(
    `select id as was, (left(uuid_v7_from(clock_timestamp() - $2 * interval '1 day')::text, 13) || right(id::text, 23))::uuid as id
     from webhook_delivery where endpoint_id = $1`,
    [uuidIn(endpointId), days],
  );
  // A row that changes its partition is deleted and inserted: no trigger may forget its attempts or refuse them meanwhile.
  await client.query(`begin; set local session_replication_role = 'replica'`);
  for (const { was, id } of rows) {
    await client.query('update webhook_attempt set delivery_id = $2, at = uuid_v7_time($2) where delivery_id = $1', [
      was,
      id,
    ]);
    await client.query('update webhook_delivery set id = $2 where id = $1', [was, id]);
  }
  await client.query('commit');
  client.release();
};

describe('an idempotency key, whose partitions know their own rows only,', () => {
  const rowOf = (key: string, when = 'default') =>
    `insert into idempotency_record (platform_id, operation, key, request_hash, created_at)
     values ('${t.platform.platformId}', 'raw', '${key}', '', ${when}) returning 1`;

  beforeAll(() => partitionAnew(t.owner, ['idempotency_record'], ['20 days', '10 days']));

  test('is remembered from an older partition, as by a command that does not move money', async () => {
    await transfer('older');
    await act(t.platform, 'createApiToken', { name: 'older', permissions: ['VIEW'], idempotencyKey: 'older-token' });
    await age('older', '15 days');
    await age('older-token', '15 days');
    expect(await transfer('older')).toMatchObject({ replayed: true });
    expect((await transfer('older', 101)).__typename).toBe('IdempotencyMismatchError');
    const again = { name: 'another', permissions: ['VIEW'], idempotencyKey: 'older-token' };
    expect((await act(t.platform, 'createApiToken', again)).__typename).toBe('IdempotencyMismatchError');
    const { mutationReceipt } = await t.platform.ask(
      '{ mutationReceipt(operation: transferOut, idempotencyKey: "older") { outcome } }',
    );
    expect(mutationReceipt).toEqual({ outcome: 'SUCCEEDED' });
  });

  test('is not stored a second time, whatever the statement, and whoever forgets its lock', async () => {
    const { pool } = t.gateway.payments.database;
    const earlier = "clock_ms() - interval '15 days'";
    expect((await pool.query(rowOf('twice', earlier))).rowCount).toBe(1);
    expect((await pool.query(rowOf('twice'))).rowCount).toBe(0);
    expect((await t.owner.query(rowOf('twice'))).rowCount).toBe(0);
    expect((await t.owner.query("select from idempotency_record where key = 'twice'")).rowCount).toBe(1);
  });

  test('of two transactions at once is stored by one, also in different partitions', async () => {
    const first = await t.owner.connect();
    const second = await t.owner.connect();
    await first.query('begin');
    expect((await first.query(rowOf('race', "clock_ms() - interval '15 days'"))).rowCount).toBe(1);
    const waiting = second.query(rowOf('race'));
    await first.query(
      `do $$ begin while not exists (select from pg_locks where locktype = 'advisory' and not granted) loop
         perform pg_sleep_for('10 ms'); end loop; end $$`,
    );
    await first.query('commit');
    expect((await waiting).rowCount).toBe(0);
    first.release();
    second.release();
  });

  test('is not claimed by a transaction that may not see the claim of another', async () => {
    const { database } = t.gateway.payments;
    const claim = inTransaction(database, async ({ client }) => {
      await client.query('set transaction isolation level repeatable read');
      await client.query(rowOf('frozen'));
    });
    await expect(claim).rejects.toMatchObject({ code: 'LG013' });
  });
});

test('partitions for now and for the next seven days are there, and are made ahead', async () => {
  for (const table of partitionedTables) {
    for (const name of await partitionsOf(t.owner, table)) await t.owner.query(`drop table partitions.${name}`);
    expect(await keep()).toBe(true);
    const { rows } = await t.owner.query(
      `select min(starts) <= clock_timestamp() as now, max(ends) > clock_timestamp() + interval '7 days' as ahead
       from partitions() where table_name = $1 and not is_default`,
      [table],
    );
    expect(rows).toEqual([{ now: true, ahead: true }]);
  }
});

test('idempotency keys leave with their partition, 30 days after its end', async () => {
  const [, young, present] = await partitionAnew(
    t.owner,
    ['idempotency_record'],
    ['40 days', '30 days 1 minute', '29 days'],
  );
  for (const [key, by] of [
    ['old', '30 days 2 minutes'],
    ['young', '29 days 23 hours'],
  ] as const) {
    await transfer(key);
    await age(key, by);
  }
  expect(await keep()).toBe(true);
  expect(await partitionsOf(t.owner, 'idempotency_record')).toEqual([
    `idempotency_record_${young}`,
    `idempotency_record_${present}`,
  ]);
  expect((await transfer('young')).replayed).toBe(true);
  expect((await transfer('old')).replayed).toBe(false);
});

describe('where old partitions are archived,', () => {
  beforeAll(() => t.owner.query('update partition_policy set archives = true'));
  afterAll(() => t.owner.query('update partition_policy set archives = false'));

  test('one leaves its table with its rows, to where no role of the service reaches them', async () => {
    const [old, present] = await partitionAnew(t.owner, ['idempotency_record'], ['50 days', '31 days']);
    await transfer('archived');
    await age('archived', '40 days');
    const lines: unknown[] = [];
    const logging = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line).msg) });
    expect(await keepPartitions(t.gateway.payments.database, logging)).toBe(true);
    expect(lines).toEqual(['archived a partition']);
    expect(await partitionsOf(t.owner, 'idempotency_record')).toEqual([`idempotency_record_${present}`]);
    const archived = `archive.idempotency_record_${old}`;
    expect((await t.owner.query(`select key from ${archived}`)).rows).toEqual([{ key: 'archived' }]);
    expect((await transfer('archived')).replayed).toBe(false);
    for (const role of ['gateway_serving', 'gateway_work'] as const) {
      for (const act of [`select from ${archived}`, `delete from ${archived}`, `drop table ${archived}`]) {
        expect([role, act, await sqlStateAs(role, act)]).toEqual([role, act, '42501']);
      }
    }
    expect(await sqlStateAs('gateway_serving', `select drop_archived_partition('')`)).toBe('42501');
    expect(await sqlStateAs('gateway_serving', `update partition_policy set archives = false`)).toBe('42501');
  });

  test('deliveries that go on stay, and are in no archive; the others outlive their endpoint', async () => {
    const [old, present] = await partitionAnew(
      t.owner,
      ['webhook_delivery', 'webhook_attempt'],
      ['50 days', '31 days'],
    );
    const receiver = await startReceiver();
    const { id } = await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['OUTGOING_PAYMENT'] });
    const { transaction } = await transfer('archived-webhook');
    await ended(t.platform, transaction.id);
    await endpointUntil(
      t.platform,
      id,
      ({ deliveries }) => deliveries.length > 2 && deliveries.every(({ status }: Data) => status === 'DELIVERED'),
    );
    await agePast(id, 40);
    const { deliveries } = await readEndpoint(t.platform, id);
    const [waiting, ...others] = deliveries.map((one: Data) => uuidIn(one.id));
    await t.owner.query(
      `update webhook_delivery set status = 'PENDING', next_attempt_at = clock_ms() + interval '1 day' where id = $1`,
      [waiting],
    );
    expect(await keep()).toBe(true);
    expect(await partitionsOf(t.owner, 'webhook_delivery')).toEqual([`webhook_delivery_${present}`]);
    expect(await partitionsOf(t.owner, 'webhook_attempt')).toEqual([`webhook_attempt_${present}`]);
    const left = (await readEndpoint(t.platform, id)).deliveries;
    expect(left.map((one: Data) => [uuidIn(one.id), one.attempts.length])).toEqual([[waiting, 1]]);
    await act(t.platform, 'deleteWebhookEndpoint', { endpointId: id });
    const idsIn = async (table: string, column: string) =>
      (await t.owner.query(`select ${column} as id from archive.${table}_${old} order by 1`)).rows.map((row) => row.id);
    expect(await idsIn('webhook_delivery', 'id')).toEqual(others.toSorted());
    expect(await idsIn('webhook_attempt', 'delivery_id')).toEqual(others.toSorted());
    await receiver.stop();
  });
});

describe('where no partition has been made for long,', () => {
  test('payments go on, new partitions begin with the next month, and what came meanwhile leaves by its age', async () => {
    for (const table of partitionedTables) {
      for (const name of await partitionsOf(t.owner, table)) await t.owner.query(`drop table partitions.${name}`);
    }
    expect((await transfer('meanwhile')).replayed).toBe(false);
    expect(await keep()).toBe(true);
    const { rows } = await t.owner.query(
      `select min(starts) > clock_timestamp() as later from partitions() where table_name = 'idempotency_record' and not is_default`,
    );
    expect(rows).toEqual([{ later: true }]);
    expect((await transfer('meanwhile')).replayed).toBe(true);
    await age('meanwhile', '29 days 23 hours');
    expect(await deleteExpired(t.gateway.payments.database)).toBe(false);
    expect((await transfer('meanwhile')).replayed).toBe(true);
    await age('meanwhile', '2 hours');
    expect(await deleteExpired(t.gateway.payments.database)).toBe(false);
    expect((await transfer('meanwhile')).replayed).toBe(false);
  });
});

describe('webhook deliveries', () => {
  test('leave with their partitions and attempts; those that wait or were sent again since stay', async () => {
    const [, present] = await partitionAnew(t.owner, ['webhook_delivery', 'webhook_attempt'], ['50 days', '31 days']);
    const receiver = await startReceiver();
    const after = await feedEnd(t.platform);
    const { id } = await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['OUTGOING_PAYMENT'] });
    const made: string[] = [];
    for (const key of ['one', 'two', 'three']) made.push((await transfer(`webhook-${key}`)).transaction.id);
    for (const transaction of made) await ended(t.platform, transaction);
    const { rowCount: events } = await t.owner.query(
      `select from event where type = 'OUTGOING_PAYMENT' and transaction_id = any($1::uuid[])`,
      [made.map(uuidIn)],
    );
    const isDone = ({ deliveries }: Data) =>
      deliveries.filter(({ status, event }: Data) => status === 'DELIVERED' && event.type === 'OUTGOING_PAYMENT')
        .length === events;
    await endpointUntil(t.platform, id, isDone);
    await agePast(id, 40);
    const [sentAgain, waiting, ...others] = (await readEndpoint(t.platform, id)).deliveries;
    await resend(t.platform, sentAgain.id);
    await endpointUntil(t.platform, id, (endpoint) => endpoint.deliveries[0].attempts.length === 2);
    await t.owner.query(
      `update webhook_delivery set status = 'PENDING', next_attempt_at = clock_ms() + interval '1 day' where id = $1`,
      [uuidIn(waiting.id)],
    );
    expect(others.length).toBeGreaterThan(3);
    expect(await keep()).toBe(true);
    expect(await partitionsOf(t.owner, 'webhook_delivery')).toEqual([`webhook_delivery_${present}`]);
    expect(await partitionsOf(t.owner, 'webhook_attempt')).toEqual([`webhook_attempt_${present}`]);
    const left = (await readEndpoint(t.platform, id)).deliveries;
    expect(left.map((one: Data) => [one.id, one.status, one.attempts.length])).toEqual([
      [sentAgain.id, 'DELIVERED', 2],
      [waiting.id, 'PENDING', 1],
    ]);
    // They go on: what waits is delivered, and both leave when nothing has happened to them for 30 days.
    await resend(t.platform, waiting.id);
    await endpointUntil(t.platform, id, (endpoint) => endpoint.deliveries[1].status === 'DELIVERED');
    await deleteExpired(t.gateway.payments.database);
    expect((await readEndpoint(t.platform, id)).deliveries).toHaveLength(2);
    await t.owner.query(`update webhook_attempt set at = at - interval '30 days' where delivery_id = any($1::uuid[])`, [
      [uuidIn(sentAgain.id), uuidIn(waiting.id)],
    ]);
    await deleteExpired(t.gateway.payments.database);
    expect((await readEndpoint(t.platform, id)).deliveries).toEqual([]);
    expect((await t.owner.query('select from partitions.webhook_attempt_default')).rowCount).toBe(0);
    // What has left is sent again as a new delivery, once for each event, also where two replay at once.
    const all = [sentAgain, waiting, ...others].map(({ event }: Data) => event.id).toSorted();
    const both = await Promise.all([1, 2].map(() => replay(t.platform, { endpointId: id, after })));
    expect(both.map(({ count }) => count)).toEqual([all.length, all.length]);
    const again = (await readEndpoint(t.platform, id)).deliveries.map(({ event }: Data) => event.id);
    expect(again.toSorted()).toEqual(all);
    await receiver.stop();
  });

  test('go to an endpoint once for each event, in all partitions together, and only with an event and a delivery', async () => {
    const receiver = await startReceiver();
    const { id } = await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['OUTGOING_PAYMENT'] });
    await transfer('once');
    await endpointUntil(t.platform, id, ({ deliveries }) => deliveries.length > 0);
    const { rows } = await t.owner.query('select * from webhook_delivery where endpoint_id = $1 limit 1', [uuidIn(id)]);
    const [{ platform_id, event_sequence }] = rows;
    const insert = (sequence: string) =>
      t.owner.query(
        `insert into webhook_delivery (platform_id, id, endpoint_id, event_sequence) values ($1, $2, $3, $4)`,
        [platform_id, '01900000-0000-7000-8000-000000000001', uuidIn(id), sequence],
      );
    expect((await insert(event_sequence)).rowCount).toBe(0);
    await expect(insert('1000000')).rejects.toMatchObject({ code: '23503' });
    await expect(
      t.owner.query('insert into webhook_attempt values ($1, uuid_v7(), 1, clock_ms(), 1)', [platform_id]),
    ).rejects.toMatchObject({ code: '23503' });
    await receiver.stop();
  });

  test('are deleted with their endpoint, and so are their attempts, in all partitions', async () => {
    const receiver = await startReceiver();
    const { id } = await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['OUTGOING_PAYMENT'] });
    await transfer('deleted');
    const { deliveries } = await endpointUntil(t.platform, id, (endpoint) =>
      endpoint.deliveries.some(({ status }: Data) => status === 'DELIVERED'),
    );
    await act(t.platform, 'deleteWebhookEndpoint', { endpointId: id });
    const ids = deliveries.map((one: Data) => uuidIn(one.id));
    expect((await t.owner.query('select from webhook_delivery where id = any($1::uuid[])', [ids])).rowCount).toBe(0);
    expect(
      (await t.owner.query('select from webhook_attempt where delivery_id = any($1::uuid[])', [ids])).rowCount,
    ).toBe(0);
    await receiver.stop();
  });
});

describe('a partition', () => {
  test.each(['gateway_serving', 'gateway_work'] as const)(
    'is not read around the wall, nor made or dropped, by %s',
    async (role) => {
      for (const table of partitionedTables) {
        for (const name of await partitionsOf(t.owner, table)) await t.owner.query(`drop table partitions.${name}`);
      }
      expect(await keep()).toBe(true);
      const { rows: partitions } = await t.owner.query<{ name: string; secured: boolean }>(
        `select c.relname as name, c.relrowsecurity as secured from pg_class c
       where c.relnamespace = 'partitions'::regnamespace and c.relkind in ('r', 'p')`,
      );
      expect(partitions.length).toBeGreaterThanOrEqual(2 * partitionedTables.length);
      expect(partitions.filter(({ secured }) => !secured)).toEqual([]);
      for (const { name } of partitions) {
        for (const act of [
          `select from partitions.${name}`,
          `delete from partitions.${name}`,
          `drop table partitions.${name}`,
        ]) {
          expect([act, await sqlStateAs(role, act)]).toEqual([act, '42501']);
        }
      }
      expect(await sqlStateAs(role, 'create table partitions.mine ()')).toBe('42501');
      expect(
        await sqlStateAs(role, 'alter table idempotency_record detach partition partitions.idempotency_record_default'),
      ).toBe('42501');
      // Not even where a grant by hand has opened it.
      await t.owner.query(
        `grant usage on schema partitions to ${role}; grant select on all tables in schema partitions to ${role}`,
      );
      expect(await sqlStateAs(role, 'select 1 / count(*) from partitions.idempotency_record_default')).toBe('22012');
      await t.owner.query(
        `revoke usage on schema partitions from ${role}; revoke select on all tables in schema partitions from ${role}`,
      );
    },
  );

  test('is made and dropped by background work only', async () => {
    for (const call of ['make_partition()', 'drop_partition()', 'delete_strays(1)']) {
      expect([call, await sqlStateAs('gateway_serving', `select ${call}`)]).toEqual([call, '42501']);
    }
  });

  test('waits for who reads its table, and nobody waits long for it', async () => {
    const [, present] = await partitionAnew(t.owner, ['idempotency_record'], ['60 days', '55 days']);
    const reader = await t.owner.connect();
    await reader.query('begin');
    await reader.query('select count(*) from idempotency_record');
    const waiting = keep();
    expect((await transfer('beside')).replayed).toBe(false);
    expect(await waiting).toBe(false);
    expect(await partitionsOf(t.owner, 'idempotency_record')).toHaveLength(2);
    await reader.query('commit');
    reader.release();
    expect(await keep()).toBe(true);
    expect(await partitionsOf(t.owner, 'idempotency_record')).toEqual([`idempotency_record_${present}`]);
  });
});

/** Runs a statement on a connection of a role, in the name of the platform; answers the SQLSTATE of its failure. */
async function sqlStateAs(role: DatabaseRole, text: string): Promise<unknown> {
  const database = openDatabase({ url: servingUrl(t.databaseUrl), role, poolSize: 1 });
  try {
    await asPlatform(t.platform.platformId, () => database.pool.query(text));
    return 'allowed';
  } catch (error) {
    return (error as { code?: unknown }).code;
  } finally {
    await database.close();
  }
}
