import type { Data, TestGateway, TestPlatform } from '../../setup/gateway.ts';
import { emptyTables, fillTables, type Parents, type Size } from '../../setup/plans.ts';

/** Gives a platform so many payments, customers, accounts and deliveries. */
export async function fillPlatform(t: TestGateway, platform: TestPlatform, rows: number): Promise<void> {
  const [payment, customer, account, endpoint, internal, quote] = await Promise.all(
    [
      'transactions(first: 100, filter: { status: [COMPLETED], type: [OUTGOING] }) { edges { node { id quote { id } } } }',
      'customers(first: 1) { edges { node { id } } }',
      'accounts(first: 1, filter: { status: [ACTIVE], accountType: [US_ACCOUNT] }) { edges { node { id } } }',
      'webhookEndpoints(first: 1) { edges { node { id deliveries(first: 1) { edges { node { id } } } } } }',
      'accounts(first: 1, filter: { kind: INTERNAL }) { edges { node { id } } }',
      'quotes(first: 1) { edges { node { id } } }',
    ].map(async (list) => (await platform.ask(`{ page: ${list} }`)).page.edges.map(({ node }: Data) => node)),
  );
  // One parent has all rows.
  const parents: Parents = {
    Customer: customer[0].id,
    InternalAccount: internal[0].id,
    ExternalAccount: account[0].id,
    WebhookEndpoint: endpoint[0].id,
  };
  const templates = {
    // The payment of a quote has a reference to it, which is there once.
    transactionId: payment.find(({ quote }: Data) => quote === null).id,
    quoteId: quote[0].id,
    deliveryId: endpoint[0].deliveries.edges[0].node.id,
    parents: { many: parents, few: parents, none: parents, most: parents } satisfies Record<Size, Parents>,
  };
  await fillTables(t, templates, rows);
  // Of every table: with no statistics of the small ones, Postgres would read them whole.
  await t.owner.query('vacuum analyze');
  // What parallel workers take would be counted nowhere.
  await t.owner.query(`do $$ begin
    execute format('alter database %I set max_parallel_workers_per_gather = 0', current_database());
  end $$`);
}

/** Takes away what `fillPlatform` has written, so that the auditor finds the ledger as it was. */
export const emptyPlatform = (t: TestGateway): Promise<void> => emptyTables(t);
