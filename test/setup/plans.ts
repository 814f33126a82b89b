import type pg from 'pg';
import { asPlatform } from '../../src/database/connections/platform-scope.ts';
import { createEndpoint, readEndpoint } from '../webhooks/endpoint.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { succeed } from './acts.ts';
import type { Data, TestGateway } from './gateway.ts';
import { makeScene } from './scene.ts';

/** A query of a list, and the index that must serve it. */
export interface PlanCase {
  readonly name: string;
  readonly table: 'transaction' | 'customer' | 'account' | 'webhook_delivery';
  /** The document, with `$id` where it names a thing. */
  readonly query: string;
  readonly id?: 'account' | 'endpoint';
  /** All of these must be in the plan. */
  readonly indexes: readonly string[];
  /** Whether values are so frequent or rare that the plan must be made for them. */
  readonly isPlannedAnew: boolean;
}

const list = (field: string, args: string) => `{ ${field}(${args}) { edges { node { id } } } }`;

/** Of each filter and order of lists, a value that few rows have. */
export const planCases: readonly PlanCase[] = [
  ...(
    [
      ['status: [REFUNDED]', ['transaction_platform_id_status_id_idx']],
      ['type: [INCOMING]', ['transaction_platform_id_type_id_idx']],
      ['failureReason: [OFFRAMP_FAILED]', ['transaction_failure_reason']],
      ['executed: true', ['transaction_begun']],
      [
        'currency: "JPY"',
        [
          'transaction_platform_id_sent_currency_sent_amount_idx',
          'transaction_platform_id_received_currency_received_amount_idx',
        ],
      ],
      [
        'amount: { currency: "USD", min: 500, max: 503 }',
        [
          'transaction_platform_id_sent_currency_sent_amount_idx',
          'transaction_platform_id_received_currency_received_amount_idx',
        ],
      ],
      [
        'updatedAfter: "2001-01-01T00:00:00Z", updatedBefore: "2001-01-01T00:00:00.010Z"',
        ['transaction_platform_id_updated_at_id_idx'],
      ],
    ] as const
  ).map(([filter, indexes]) => ({
    name: `transactions of ${filter}`,
    table: 'transaction' as const,
    query: list('transactions', `first: 20, filter: { ${filter} }`),
    indexes,
    isPlannedAnew: true,
  })),
  {
    name: 'transactions of an account on either side',
    table: 'transaction',
    query: `query ($id: ID!) ${list('transactions', 'first: 20, filter: { accountId: $id }')}`,
    id: 'account',
    indexes: [
      'transaction_platform_id_source_account_id_id_idx',
      'transaction_platform_id_destination_account_id_id_idx',
    ],
    isPlannedAnew: false,
  },
  {
    name: 'transactions by their last change',
    table: 'transaction',
    query: list('transactions', 'first: 20, orderBy: UPDATED'),
    indexes: ['transaction_platform_id_updated_at_id_idx'],
    isPlannedAnew: false,
  },
  ...(
    [
      ['kycStatus: [MANUALLY_REJECTED]', 'customer_platform_id_kyc_status_id_idx'],
      ['name: "ZoË"', 'customer_name'],
      [
        'updatedAfter: "2001-01-01T00:00:00Z", updatedBefore: "2001-01-01T00:00:00.010Z"',
        'customer_platform_id_updated_at_id_idx',
      ],
    ] as const
  ).map(([filter, index]) => ({
    name: `customers of ${filter}`,
    table: 'customer' as const,
    query: list('customers', `first: 20, filter: { ${filter} }`),
    indexes: [index],
    isPlannedAnew: true,
  })),
  {
    name: 'customers by their last change',
    table: 'customer',
    query: list('customers', 'first: 20, orderBy: UPDATED, sortOrder: ASC'),
    indexes: ['customer_platform_id_updated_at_id_idx'],
    isPlannedAnew: false,
  },
  ...(
    [
      ['status: [UNDER_REVIEW]', 'account_status'],
      ['accountType: [PIX]', 'account_account_type'],
      ['beneficiaryVerificationStatus: [NOT_MATCHED]', 'account_verification'],
    ] as const
  ).map(([filter, index]) => ({
    name: `accounts of ${filter}`,
    table: 'account' as const,
    query: list('accounts', `first: 20, filter: { ${filter} }`),
    indexes: [index],
    isPlannedAnew: true,
  })),
  {
    name: 'deliveries that have failed',
    table: 'webhook_delivery',
    query: `query ($id: ID!) { node(id: $id) { ... on WebhookEndpoint ${list('deliveries', 'first: 20, filter: { status: [FAILED] }')} } }`,
    id: 'endpoint',
    indexes: ['webhook_delivery_undelivered'],
    isPlannedAnew: false,
  },
];

/** The rows that are copied to fill the tables. */
export interface Templates {
  readonly transactionId: string;
  readonly customerId: string;
  readonly externalAccountId: string;
  readonly deliveryId: string;
}

/** What queries of lists name, and rows to copy. */
export interface PlanScene {
  readonly ids: Readonly<Record<'account' | 'endpoint', string>>;
  readonly templates: Templates;
  close(): Promise<void>;
}

/** Makes one row of each kind that the lists have. */
export async function makePlanScene({ platform }: TestGateway): Promise<PlanScene> {
  const { customerId, usd, outsideUsd } = await makeScene(platform);
  const receiver = await startReceiver();
  const { transaction } = await succeed(
    platform,
    'transferOut',
    { sourceAccountId: usd, destinationAccountId: outsideUsd, amount: 100 },
    'transaction { id }',
  );
  const endpoint = await createEndpoint(platform, { url: receiver.url });
  await succeed(platform, 'sendTestWebhook', { endpointId: endpoint.id });
  const [delivery] = (await readEndpoint(platform, endpoint.id)).deliveries;
  return {
    ids: { account: usd, endpoint: endpoint.id },
    templates: {
      transactionId: transaction.id,
      customerId,
      externalAccountId: outsideUsd,
      deliveryId: delivery.id,
    },
    close: () => receiver.stop(),
  };
}

const uuid = (id: string) => id.slice(id.indexOf(':') + 1);

/** Rows of a table: what differs from the row that is copied, in SQL of the number `i`. Of `:rare` rows one is rare. */
const fillings: readonly (readonly [
  table: PlanCase['table'],
  template: keyof Templates,
  columns: Record<string, string>,
])[] = [
  [
    'transaction',
    'transactionId',
    {
      reference: `'filler-' || i`,
      status: `case when i % :rare = 3 then 'REFUNDED' else 'EXPIRED' end`,
      quote_id: `case when i % :rare <> 3 then gen_random_uuid() end`,
      failure_reason: `case when i % :rare = 4 then 'OFFRAMP_FAILED' else 'QUOTE_EXPIRED' end`,
      type: `case when i % :rare = 5 then 'INCOMING' else 'OUTGOING' end`,
      sent_currency: `case when i % :rare = 6 then 'JPY' else 'USD' end`,
      received_currency: `case when i % :rare = 7 then 'JPY' else 'USD' end`,
      sent_amount: '1000 + i',
      received_amount: '1000 + i',
      refund_reference: `'filler'`,
      refund_amount: '1',
      refund_initiated_at: 'now()',
      refund_settled_at: 'now()',
      source_account_id: 'case when i % :rare <> 8 then gen_random_uuid() end',
      destination_account_id: 'gen_random_uuid()',
      // Each of them changed at another time, in an order of its own.
      updated_at: `now() - (i::bigint * 7919 % 1000003) * interval '1 second'`,
      description: `'filler'`,
    },
  ],
  [
    'customer',
    'customerId',
    {
      platform_customer_id: `'filler-' || i`,
      uma_address: `'$filler' || i || '@nobody.example'`,
      kyc_status: `case when i % :rare = 3 then 'MANUALLY_REJECTED' else 'APPROVED' end`,
      name: `case when i % :rare = 4 then 'Zoë ' else 'Name ' end || i`,
      updated_at: `now() - (i::bigint * 7919 % 1000003) * interval '1 second'`,
    },
  ],
  [
    'account',
    'externalAccountId',
    {
      identifier: `'filler-' || i`,
      status: `case when i % :rare = 3 then 'UNDER_REVIEW' else 'ACTIVE' end`,
      account_type: `case when i % :rare = 4 then 'PIX' else 'US_ACCOUNT' end`,
      beneficiary_verification_status: `case when i % :rare = 5 then 'NOT_MATCHED' else 'MATCHED' end`,
    },
  ],
  [
    'webhook_delivery',
    'deliveryId',
    {
      event_sequence: '1000000000 + i',
      status: `case when i % :rare = 3 then 'FAILED' else 'DELIVERED' end`,
      next_attempt_at: 'null',
      leased_until: 'null',
    },
  ],
];

/** Ids of the year 2000, which no row of a test has: by them the filling is found again. */
const fillerId = `('00dc' || lpad(to_hex(i), 8, '0') || '7000' || '8000' || lpad(to_hex(i), 12, '0'))::uuid`;
const isFiller = `id < '00dd0000-0000-0000-0000-000000000000'`;

/**
 * Fills the tables of lists with copies of rows, of which few have a rare value, and brings the planner's statistics up to
 * date. Triggers and foreign keys rest meanwhile.
 * @param rows how many rows each table gets
 * @param as how many rows the planner shall believe in, if not those
 */
export async function fillTables(t: TestGateway, templates: Templates, rows: number, as?: number): Promise<void> {
  await filling(t.owner, async (client) => {
    for (const [table, template, columns] of fillings) {
      const changed = Object.entries({ id: fillerId, ...columns }).map(([column, sql]) => `'${column}', ${sql}`);
      const rare = String(Math.max(Math.min(rows, 3_000), Math.floor(rows / 100)));
      await client.query(`alter table ${table} set (autovacuum_enabled = off)`);
      await client.query(
        `insert into ${table} select r.* from ${table} t, generate_series(1, ${rows}) i,
           lateral jsonb_populate_record(t, jsonb_build_object(${changed.join(', ').replaceAll(':rare', rare)})) r
         where t.id = '${uuid(templates[template])}'`,
      );
    }
  });
  for (const [table] of fillings) {
    await t.owner.query(`${as === undefined ? 'vacuum ' : ''}analyze ${table}`);
    if (as === undefined) continue;
    // The planner takes the density of rows from here, and multiplies it by the pages that the table has.
    await t.owner.query('update pg_class set reltuples = $1 where oid = $2::regclass', [as, table]);
  }
}

/** Says of each index how many bytes it takes for a row of its table. */
export async function indexSizes({ owner }: TestGateway, rows: number): Promise<string[]> {
  const { rows: sizes } = await owner.query<{ name: string; bytes: string }>(
    `select indexrelid::regclass::text as name, pg_relation_size(indexrelid)::text as bytes from pg_index
     where indrelid = any($1::regclass[])
     order by indrelid, indexrelid`,
    [fillings.map(([table]) => table)],
  );
  return sizes.map(({ name, bytes }) => `${name}: ${(Number(bytes) / rows).toFixed(1)} bytes a row`);
}

/** Deletes what `fillTables` has written, so that the auditor finds the ledger as it was. */
export async function emptyTables(t: TestGateway): Promise<void> {
  await filling(t.owner, async (client) => {
    for (const [table] of fillings) await client.query(`delete from ${table} where ${isFiller}`);
  });
}

async function filling(owner: pg.Pool, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await owner.connect();
  try {
    await client.query("begin; set local session_replication_role = 'replica'; set local synchronous_commit = off");
    await work(client);
    await client.query('commit');
  } finally {
    client.release();
  }
}

/** What Postgres does for a query of a list. */
export interface Plan {
  /** The indexes that it reads. */
  readonly indexes: readonly string[];
  /** How many rows it reads of the table, those among them that a filter removes; undefined where it was not carried out. */
  readonly rowsRead: number | undefined;
  /** Whether the statement was sent without a name, and so is planned each time. */
  readonly isPlannedAnew: boolean;
}

/** A statement that a gateway sent. */
interface Sent {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Sends a query to the gateway twice, and has the statement that answered it explained as the gateway's role. */
export async function planOf(
  t: TestGateway,
  { query, table }: PlanCase,
  variables: object,
  isCarriedOut: boolean,
): Promise<Plan> {
  const { serving } = t.gateway;
  const sent: Sent[] = [];
  const known = new Map<pg.PoolClient, pg.PoolClient['query']>();
  const listen = (client: pg.PoolClient) => {
    if (known.has(client)) return;
    const { query: send } = client;
    known.set(client, send);
    client.query = ((...args: unknown[]) => {
      sent.push(args[0] as Sent);
      return Reflect.apply(send, client, args);
    }) as pg.PoolClient['query'];
  };
  serving.pool.on('acquire', listen);
  try {
    // A text gets its name when it comes for the second time.
    await t.platform.ask(query, variables);
    sent.length = 0;
    await t.platform.ask(query, variables);
  } finally {
    serving.pool.off('acquire', listen);
    for (const [client, send] of known) client.query = send;
  }
  const statement = sent.find(({ text }) => text.includes(`"${table}"`));
  if (!statement) throw new Error(`no statement reads ${table}`);
  const { rows } = await asPlatform(t.platform.platformId, () =>
    serving.pool.query<Data>({
      text: `explain (format json${isCarriedOut ? ', analyze, timing off' : ''}) ${statement.text}`,
      values: [...statement.values],
    }),
  );
  const indexes: string[] = [];
  let rowsRead = 0;
  const walk = (node: Data): void => {
    if (node['Index Name']) indexes.push(node['Index Name']);
    if (node['Relation Name'] === table) {
      const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
      rowsRead += ((node['Actual Rows'] ?? 0) + removed) * (node['Actual Loops'] ?? 1);
    }
    for (const child of node.Plans ?? []) walk(child);
  };
  walk(rows[0]['QUERY PLAN'][0].Plan);
  return { indexes, rowsRead: isCarriedOut ? rowsRead : undefined, isPlannedAnew: (statement.name ?? '') === '' };
}
