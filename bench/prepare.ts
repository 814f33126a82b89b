import pg from 'pg';
import { pino } from 'pino';
import { createPlatform } from '../src/domain/platforms/platforms.ts';
import { openDatabase } from '../src/infra/database/database.ts';
import { makeServingLogin } from '../src/infra/database/embedded/serving-login.ts';
import { migrate } from '../src/infra/database/migrations/migrate.ts';
import { execute } from '../src/infra/database/migrations/throwaway.ts';
import { readConfig } from '../src/server/config.ts';
import { openPayments } from '../src/server/gateway.ts';
import { peerFunctions } from './peers/functions.ts';

/** A database that contains the rows to read. */
export interface Prepared {
  readonly url: string;
  readonly platformId: string;
  readonly customers: number;
  readonly transactions: number;
}

export const credentials = { clientId: 'bench', secret: 'bench' };

/** The number of rows written per statement, and per step of the displayed progress. */
const chunk = 50_000;
/** The initial balance of every customer's USD account, in cents: more than all its payments need. */
const funds = 1_000_000_000_000n;

/**
 * Returns the database with the given number of transfers, filling it unless an earlier run has done so. Each customer
 * has an internal USD account, an internal EUR account and three external accounts. The transfers are spread over 300
 * days; of every 20, 18 were delivered, one is in flight, and one failed and was refunded. Each transfer has its
 * journals and running balances, so that the auditor has something to check.
 */
export async function prepare(serverUrl: string, transactions: number, log: (line: string) => void): Promise<Prepared> {
  const customers = Math.max(100, Math.ceil(transactions / 100));
  const url = new URL(serverUrl);
  url.pathname = `/bench_${transactions}`;
  await execute(serverUrl, `create database bench_${transactions}`).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === '42P04')) throw error;
  });
  await migrate(url.href);
  await makeServingLogin(url.href);
  const client = new pg.Client({ connectionString: url.href, options: '-c timezone=UTC' });
  await client.connect();
  try {
    await client.query('create schema if not exists bench');
    await client.query('create table if not exists bench.filled (platform_id uuid primary key)');
    let platformId = (await client.query<{ platform_id: string }>('select platform_id from bench.filled')).rows[0]
      ?.platform_id;
    if (!platformId) {
      platformId = await newPlatform(url.href);
      await fill(client, platformId, customers, transactions, log);
      await client.query('insert into bench.filled values ($1)', [platformId]);
    } else log(`the database with ${transactions} transactions already exists`);
    await client.query(peerFunctions);
    return { url: url.href, platformId, customers, transactions };
  } finally {
    await client.end();
  }
}

async function newPlatform(url: string): Promise<string> {
  const database = openDatabase({ url, role: 'gateway_work', poolSize: 2 });
  try {
    // An earlier run that was interrupted while filling the database may have left only the platform.
    const known = await database.prisma.platform.findUnique({ where: { name: 'bench' } });
    if (known) return known.id;
    const payments = await openPayments(database, readConfig({}), pino({ level: 'silent' }));
    return (await createPlatform(payments, { name: 'bench', environment: 'SANDBOX', credentials })).platformId;
  } finally {
    await database.close();
  }
}

async function fill(
  client: pg.Client,
  platformId: string,
  customers: number,
  transactions: number,
  log: (line: string) => void,
): Promise<void> {
  const began = Date.now();
  await client.query(helpers(platformId, customers, transactions));
  // Triggers and foreign keys are disabled while the history is written. The audit proves that the history satisfies
  // them.
  await client.query('begin');
  await client.query("set local session_replication_role = 'replica'");
  await client.query("set local synchronous_commit = 'off'");
  await client.query(people);
  for (let from = 0; from < transactions; from += chunk) {
    const to = Math.min(transactions, from + chunk);
    for (const statement of history) {
      await client.query(statement.replaceAll(':from', String(from)).replaceAll(':to', String(to)));
    }
    log(`${to} of ${transactions} transactions, ${Math.round((Date.now() - began) / 1000)} s`);
  }
  await client.query(balances);
  await client.query('commit');
  // Leaves out empty tables: if Postgres analyzes a table while it is empty, it later plans full scans of it.
  await client.query('vacuum analyze customer, account, transaction, journal, posting');
  await client.query('checkpoint');
}

/**
 * Every id and amount is a function of a row's number, so that all tables can be written in bulk and are consistent.
 * With N customers, customer c has transactions c, c + N, c + 2N, …, every 20th of which fails.
 */
function helpers(platformId: string, customers: number, transactions: number): string {
  return `
    create or replace function bench.platform() returns uuid language sql immutable as $$ select '${platformId}'::uuid $$;
    create or replace function bench.customers() returns bigint language sql immutable as $$ select ${customers}::bigint $$;
    create or replace function bench.at(i bigint) returns bigint language sql stable as $$
      select ${Date.now() - 300 * 86_400_000}::bigint + i * ${Math.floor((299 * 86_400_000) / transactions)} $$;
    create or replace function bench.id(kind int, i bigint, ms bigint) returns uuid language sql immutable as $$
      select (lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex(kind), 3, '0') || '8' || lpad(to_hex(i), 15, '0'))::uuid $$;
    create or replace function bench.owned(kind int, c bigint) returns uuid language sql stable as $$
      select bench.id(kind, c, bench.at(0) - 86400000 + c) $$;
    create or replace function bench.transfer(i bigint) returns uuid language sql stable as $$ select bench.id(9, i, bench.at(i)) $$;
    create or replace function bench.amount(c bigint) returns bigint language sql immutable as $$ select 100 + c $$;
    create or replace function bench.time(ms bigint) returns timestamptz language sql immutable as $$ select to_timestamp(ms / 1000.0) $$;`;
}

const born = 'bench.time(bench.at(0) - 86400000 + c)';

/**
 * Kinds of ids: 1 customer, 2 and 3 internal USD and EUR accounts, 4 to 6 external accounts, 7 the first deposit. Each
 * external account's identifier ends in 100, which has no meaning in the sandbox; other suffixes make payments fail or
 * wait.
 */
const people = `
  insert into customer (platform_id, id, platform_customer_id, customer_type, uma_address, kyc_status, created_at, updated_at, name, search_name, nationality)
  select bench.platform(), bench.owned(1, c), 'customer-' || c, case when c % 10 = 0 then 'BUSINESS' else 'INDIVIDUAL' end::customer_type,
    '$customer' || c || '@bench.uma.money', 'APPROVED', ${born}, ${born}, 'Customer ' || c, 'customer ' || c, 'US'
  from generate_series(0, bench.customers() - 1) c;

  insert into account (platform_id, id, kind, customer_id, currency, created_at, updated_at)
  select bench.platform(), bench.owned(k, c), 'INTERNAL', bench.owned(1, c), case k when 2 then 'USD' else 'EUR' end, ${born}, ${born}
  from generate_series(0, bench.customers() - 1) c, generate_series(2, 3) k;

  insert into account (platform_id, id, kind, customer_id, currency, created_at, updated_at, status, account_type, account_info, identifier, beneficiary)
  select bench.platform(), bench.owned(k, c), 'EXTERNAL', bench.owned(1, c), case k when 6 then 'EUR' else 'USD' end, ${born}, ${born}, 'ACTIVE',
    case k when 6 then 'IBAN' else 'US_ACCOUNT' end::external_account_type,
    case k when 6 then jsonb_build_object('iban', 'DE8937040044' || (5000000000 + c * 1000 + 100))
      else jsonb_build_object('accountNumber', (k::bigint * 1000000000 + c * 1000 + 100)::text, 'routingNumber', '021000021', 'accountCategory', 'CHECKING') end,
    case k when 6 then 'DE8937040044' || (5000000000 + c * 1000 + 100) else (k::bigint * 1000000000 + c * 1000 + 100)::text end,
    jsonb_build_object('beneficiaryType', 'INDIVIDUAL', 'fullName', 'Customer ' || c)
  from generate_series(0, bench.customers() - 1) c, generate_series(4, 6) k;

  insert into journal (platform_id, id, kind, created_at)
  select bench.platform(), bench.owned(7, c), 'deposit', ${born} from generate_series(0, bench.customers() - 1) c;
  insert into posting (platform_id, journal_id, leg, account_id, system, currency, amount, balance_after, account_version)
  select bench.platform(), bench.owned(7, c), leg, case leg when 2 then bench.owned(2, c) end, case leg when 1 then 'OUTSIDE' end::system_account,
    'USD', case leg when 1 then -${funds} else ${funds} end, case leg when 2 then ${funds} end, case leg when 2 then 2 end
  from generate_series(0, bench.customers() - 1) c, generate_series(1, 2) leg;`;

/** Transfer i is customer c's k-th. Before it, the account had version v and d debits that were not refunded. */
const transfers = `(
  select i, c, k, k - k / 20 as d, 2 + k + k / 20 as v, bench.amount(c) as amount, bench.at(i) as ms, bench.transfer(i) as id,
    case k % 20 when 19 then 'FAILED' when 18 then 'PENDING' else 'COMPLETED' end as status
  from (select i, i % bench.customers() as c, i / bench.customers() as k from generate_series(:from::bigint, :to::bigint - 1) i) n
) t`;

/** Kinds of ids: 9 the transaction, 10 the journal of its debit, 11 the journal of its delivery or refund. */
const history = [
  `insert into transaction (platform_id, id, type, status, status_reason, version, created_at, updated_at, settled_at, customer_id,
     sent_amount, sent_currency, received_amount, received_currency, source_kind, source_account_id, destination_kind,
     destination_account_id, failure_reason, refund_reference, refund_amount, refund_initiated_at, refund_settled_at, reference, description)
   select bench.platform(), id, 'OUTGOING', status::transaction_status, case status when 'COMPLETED' then 'delivered' end,
     case status when 'PENDING' then 1 else 2 end, bench.time(ms), bench.time(case status when 'PENDING' then ms else ms + 1000 end),
     case status when 'COMPLETED' then bench.time(ms + 1000) end, bench.owned(1, c), amount, 'USD', amount, 'USD', 'ACCOUNT',
     bench.owned(2, c), 'ACCOUNT', bench.owned(4, c), case status when 'FAILED' then 'QUOTE_EXECUTION_FAILED' end::failure_reason,
     case status when 'FAILED' then 'REFUND-' || i end, case status when 'FAILED' then amount end,
     case status when 'FAILED' then bench.time(ms + 1000) end, case status when 'FAILED' then bench.time(ms + 1000) end,
     'PAY-' || upper(right(id::text, 12)), 'Transfer ' || i
   from ${transfers}`,
  `insert into journal (platform_id, id, transaction_id, kind, created_at)
   select bench.platform(), bench.id(10 + step, i, ms + step * 1000), id,
     case when step = 0 then 'debit' when status = 'FAILED' then 'refund' else 'delivery' end, bench.time(ms + step * 1000)
   from ${transfers}, generate_series(0, 1) step where step = 0 or status <> 'PENDING'`,
  `insert into posting (platform_id, journal_id, leg, account_id, system, currency, amount, balance_after, account_version)
   select bench.platform(), bench.id(10, i, ms), leg, case leg when 2 then bench.owned(2, c) end,
     case leg when 1 then 'CLEARING' end::system_account, 'USD', case leg when 1 then amount else -amount end,
     case leg when 2 then ${funds} - (d + 1) * amount end, case leg when 2 then v + 1 end
   from ${transfers}, generate_series(1, 2) leg`,
  `insert into posting (platform_id, journal_id, leg, account_id, system, currency, amount, balance_after, account_version)
   select bench.platform(), bench.id(11, i, ms + 1000), leg, case when leg = 2 and status = 'FAILED' then bench.owned(2, c) end,
     case when leg = 1 then 'CLEARING' when status <> 'FAILED' then 'OUTSIDE' end::system_account, 'USD',
     case leg when 1 then -amount else amount end, case when leg = 2 and status = 'FAILED' then ${funds} - d * amount end,
     case when leg = 2 and status = 'FAILED' then v + 2 end
   from ${transfers}, generate_series(1, 2) leg where status <> 'PENDING'`,
];

/** The state of each account after its last posting. */
const balances = `
  update account a set posted = p.balance_after, version = p.account_version from (
    select distinct on (account_id) account_id, balance_after, account_version from posting
    where account_id is not null order by account_id, account_version desc
  ) p where a.platform_id = bench.platform() and a.id = p.account_id`;
