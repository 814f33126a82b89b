import type { Data, TestGateway, TestPlatform } from '../../setup/gateway.ts';
import { emptyTables, fillTables } from '../../setup/plans.ts';

const uuid = (id: string) => id.slice(id.indexOf(':') + 1);

/** Journals of the year 2079, which no row of a test has: by them the postings are found again. */
const fillerId = `('0328' || lpad(to_hex(i), 8, '0') || '7000' || '8000' || lpad(to_hex(i), 12, '0'))::uuid`;
const isFiller = `journal_id > '03280000-0000-0000-0000-000000000000'`;

/** Gives a platform so many payments, customers, accounts and deliveries, and its newest account as many entries. */
export async function fillPlatform(t: TestGateway, platform: TestPlatform, rows: number): Promise<void> {
  const [payment, customer, account, endpoint, internal] = await Promise.all(
    [
      'transactions(first: 100, filter: { status: [COMPLETED], type: [OUTGOING] }) { edges { node { id quote { id } } } }',
      'customers(first: 1) { edges { node { id } } }',
      'accounts(first: 1, filter: { status: [ACTIVE], accountType: [US_ACCOUNT] }) { edges { node { id } } }',
      'webhookEndpoints(first: 1) { edges { node { deliveries(first: 1) { edges { node { id } } } } } }',
      'accounts(first: 1, filter: { kind: INTERNAL }) { edges { node { id } } }',
    ].map(async (list) => (await platform.ask(`{ page: ${list} }`)).page.edges.map(({ node }: Data) => node)),
  );
  const templates = {
    // The payment of a quote has a reference to it, which is there once.
    transactionId: payment.find(({ quote }: Data) => quote === null).id,
    customerId: customer[0].id,
    externalAccountId: account[0].id,
    deliveryId: endpoint[0].deliveries.edges[0].node.id,
  };
  await fillTables(t, templates, rows);
  await inReplicaRole(
    t,
    `insert into posting select '${platform.platformId}', ${fillerId}, 0, '${uuid(internal[0].id)}', null, 'USD', 1, i, 1000000 + i
     from generate_series(1, ${rows}) i`,
  );
  // Of every table: with no statistics of the small ones, Postgres would read them whole.
  await t.owner.query('vacuum analyze');
  // What parallel workers take would be counted nowhere.
  await t.owner.query(`do $$ begin
    execute format('alter database %I set max_parallel_workers_per_gather = 0', current_database());
  end $$`);
}

/** Takes away what `fillPlatform` has written, so that the auditor finds the ledger as it was. */
export async function emptyPlatform(t: TestGateway): Promise<void> {
  await emptyTables(t);
  await inReplicaRole(t, `delete from posting where ${isFiller}`);
}

async function inReplicaRole(t: TestGateway, statement: string): Promise<void> {
  await t.owner.query(`begin; set local session_replication_role = 'replica'; ${statement}; commit`);
}
