import { expect, test } from 'vitest';
import { leaseDeliveries } from '../../src/api/webhooks/delivery/deliveries.ts';
import { leaseAccountChecks } from '../../src/domain/accounts/external-accounts.ts';
import { leaseIdentityChecks } from '../../src/domain/customers/customers.ts';
import { Sequencer } from '../../src/domain/events/sequencer.ts';
import { leaseOrders } from '../../src/domain/orders/orders.ts';
import { leaseDepositQuestions, leaseDeposits } from '../../src/domain/providers/deposits.ts';
import { leaseRailWebhooks } from '../../src/domain/providers/webhooks.ts';
import type { Lease } from '../../src/infra/database/leases.ts';
import type { Queryable } from '../../src/infra/database/statement.ts';
import { inTransaction } from '../../src/infra/database/transaction.ts';
import { testGateway } from '../setup/gateway.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';

// The test acts as all of an installation's workers. Each leased table has three rows.

const t = await testGateway({ ROLE: 'serve' });
const scene = await t.platform.makeScene();
for (let at = 0; at < 2; at++) await t.platform.newCustomer();
for (let at = 0; at < 3; at++) await t.platform.pay(scene);
for (const name of ['second', 'third']) await t.newPlatform(name);
await createEndpoint(t.platform, { url: 'https://example.com/' });
const sequencer = new Sequencer(t.gateway.payments.database);
expect(await sequencer.step()).toBeGreaterThan(3);
await sequencer.close();

interface LeasedRows {
  readonly table: string;
  /** The names of the columns: the key (without the platform), the due time, and the end of the lease. */
  readonly key: string;
  readonly dueAt?: string;
  readonly until?: string;
  readonly lease: (on: Queryable, limit: number, leaseMs: number) => Promise<readonly Lease[]>;
  /** The field that contains a leased row's key. */
  readonly field: string;
  /** The statement that inserts the rows, if the setup above has not created them all. */
  readonly insert?: string;
}

const three = (from: string) => `from ${from} order by id limit 3`;
const leasedRows: readonly LeasedRows[] = [
  { table: 'rail_order', key: 'id', field: 'id', lease: leaseOrders },
  {
    ...{ table: 'account_check', key: 'account_id', field: 'accountId', lease: leaseAccountChecks },
    insert: `insert into account_check (platform_id, account_id, due_at)
      select platform_id, id, now() ${three('account where customer_id is not null')} on conflict do nothing`,
  },
  {
    ...{ table: 'identity_check', key: 'customer_id', field: 'customerId', lease: leaseIdentityChecks },
    insert: `insert into identity_check (platform_id, customer_id, due_at) select platform_id, id, now() ${three('customer')}`,
  },
  {
    ...{ table: 'rail_deposit', key: 'id', field: 'id', lease: leaseDeposits },
    insert: `insert into rail_deposit (platform_id, id, reference, held_at, began_at, amount, currency, account_id, status, due_at)
      select platform_id, uuid_v7(), id, 'there', now(), 1, currency, id, 'RECEIVED', now() ${three('account where customer_id is not null')}`,
  },
  {
    ...{ table: 'rail_connection', key: 'platform_id', field: 'platformId', dueAt: 'deposits_due_at' },
    lease: leaseDepositQuestions,
    insert: `insert into rail_connection (platform_id, sealed) select id, '' ${three('platform')}`,
  },
  {
    ...{ table: 'rail_webhook', key: 'webhook_id', field: 'webhookId', lease: leaseRailWebhooks },
    insert: `insert into rail_webhook (platform_id, webhook_id, body) select platform_id, 'webhook ' || id, '' ${three('customer')}`,
  },
  {
    ...{ table: 'webhook_delivery', key: 'id', field: 'id', dueAt: 'next_attempt_at', until: 'leased_until' },
    lease: leaseDeliveries,
    insert: `insert into webhook_delivery (platform_id, endpoint_id, event_sequence)
      select platform_id, e.id, sequence from webhook_endpoint e join event v using (platform_id) order by sequence limit 3`,
  },
];

test.each(leasedRows)(
  'rows of $table are leased in the order in which they are due, each to one worker until its lease ends',
  async ({ table, key, field, dueAt = 'due_at', until = dueAt, lease, insert = 'select' }) => {
    const { database } = t.gateway.payments;
    await t.owner.query(insert);
    // Swaps the due times of the first two rows, so that the rows are not due in the order of their keys.
    await t.owner.query(
      `update ${table} l set ${dueAt} = clock_timestamp() - (array[2, 3, 1])[k.at] * interval '1 second'
       from (select platform_id, ${key} as key, row_number() over (order by ${key}) as at from ${table}) k
       where l.platform_id = k.platform_id and l.${key} = k.key`,
    );
    const { rows } = await t.owner.query(`select ${key} as key from ${table} order by ${dueAt}`);
    const keys: readonly string[] = rows.map((row) => row.key);
    expect(keys).toHaveLength(3);
    const lengthMs = 600_000;
    const take = async (on: Queryable, limit: number) =>
      (await lease(on, limit, lengthMs)).map((row) => Reflect.get(row, field));
    await inTransaction(database, async ({ client }) => {
      // The first worker's transaction has not committed yet, but this does not delay the other workers.
      expect(await take(client, 1)).toEqual([keys[0]]);
      expect(await take(database.pool, 1)).toEqual([keys[1]]);
      expect(await take(database.pool, 10)).toEqual([keys[2]]);
    });
    expect(await take(database.pool, 10)).toEqual([]);
    // The first worker has died, and its lease has expired. Times are stored in whole milliseconds, rounded up.
    await t.owner.query(`update ${table} set ${until} = clock_timestamp() - interval '1 ms' where ${key} = $1`, [
      keys[0],
    ]);
    expect(await take(database.pool, 10)).toEqual([keys[0]]);
    expect(await take(database.pool, 10)).toEqual([]);
  },
);
