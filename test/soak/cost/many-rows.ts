import type { Data, TestGateway, TestPlatform } from '../../setup/gateway.ts';
import { emptyTables, fillerId, filling, fillTables, type Parents, type Size } from '../../setup/plans.ts';

/**
 * Gives a platform this many payments, quotes, customers, accounts, deliveries and events. Returns the parents that
 * have them.
 */
export async function fillPlatform(t: TestGateway, platform: TestPlatform, rows: number): Promise<Parents> {
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
    // The payment of a quote has a reference to it, which is unique.
    transactionId: payment.find(({ quote }: Data) => quote === null).id,
    quoteId: quote[0].id,
    deliveryId: endpoint[0].deliveries.edges[0].node.id,
    parents: { many: parents, few: parents, none: parents, most: parents } satisfies Record<Size, Parents>,
  };
  await fillTables(t, templates, rows, undefined, columnsOf(rows));
  await fillFeed(t, platform, rows);
  // Every table, since Postgres would read small tables whole without statistics.
  await t.owner.query('vacuum analyze');
  // No parallel workers, whose time would not be counted.
  await t.owner.query(`do $$ begin
    execute format('alter database %I set max_parallel_workers_per_gather = 0', current_database());
  end $$`);
  return parents;
}

/** The values of both halves (halves.ts). */
function columnsOf(rows: number) {
  const half = (older: string, newer: string) => `case when i <= ${rows / 2} then ${older} else ${newer} end`;
  return {
    transaction: {
      status: half(`'COMPLETED'`, `'EXPIRED'`),
      type: half(`'INCOMING'`, `'OUTGOING'`),
      failure_reason: half(`'OFFRAMP_FAILED'`, `'QUOTE_EXPIRED'`),
      sent_currency: half(`'USD'`, `'EUR'`),
      received_currency: half(`'USD'`, `'EUR'`),
      quote_id: half('null', 'gen_random_uuid()'),
    },
    quote: { status: half(`'FAILED'`, `'EXPIRED'`) },
    customer: {
      kyc_status: half(`'REJECTED'`, `'APPROVED'`),
      customer_type: half(`'BUSINESS'`, `'INDIVIDUAL'`),
      name: half(`'Old ' || i`, `'New ' || i`),
    },
    account: {
      currency: half(`'EUR'`, `'USD'`),
      status: half(`'UNDER_REVIEW'`, `'ACTIVE'`),
      account_type: half(`'PIX'`, `'US_ACCOUNT'`),
      beneficiary_verification_status: half(`'NOT_MATCHED'`, `'MATCHED'`),
    },
  };
}

/** Inserts events before the first one of the feed: copies of a change to a customer. */
async function fillFeed(t: TestGateway, { platformId }: TestPlatform, rows: number): Promise<void> {
  await filling(t.owner, async (client) => {
    await client.query(
      `insert into stored_event select r.* from stored_event e, generate_series(1, ${rows}) i, lateral jsonb_populate_record(e, jsonb_build_object(
         'id', ${fillerId}, 'sequence', i - ${rows + 1},
         'type', case when i <= ${rows / 2} then 'KYC_STATUS' else 'CUSTOMER_CHANGE' end)) r
       where e.platform_id = $1 and e.sequence = (select min(sequence) from stored_event where platform_id = $1 and type = 'KYC_STATUS')`,
      [platformId],
    );
  });
}

/** Deletes the rows that `fillPlatform` has written, so that the auditor finds the ledger as it was. */
export async function emptyPlatform(t: TestGateway): Promise<void> {
  await emptyTables(t);
  await filling(t.owner, (client) => client.query('delete from stored_event where sequence < 0').then(() => undefined));
}
