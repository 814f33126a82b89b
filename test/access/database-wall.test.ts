import pg from 'pg';
import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import type { Operation } from '../../src/domain/access/operations.ts';
import { visibleTransactions } from '../../src/domain/access/visible.ts';
import { commitPlan } from '../../src/domain/ledger/commit.ts';
import { asPlatform } from '../../src/infra/database/connections/platform-scope.ts';
import { type Database, type DatabaseRole, openDatabase } from '../../src/infra/database/database.ts';
import { servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import { verifyMigrations } from '../../src/infra/database/migrations/migrate.ts';
import { refuseOwners } from '../../src/infra/database/owners.ts';
import { readRows } from '../../src/infra/database/read-rows.ts';
import { readConfig } from '../../src/server/config.ts';
import { startGateway } from '../../src/server/gateway.ts';
import { messageForUser } from '../../src/server/print-error.ts';
import { kindOfNode } from '../attack/matrix/cells.ts';
import { nodeTypes } from '../attack/matrix/graphql-calls.ts';
import { makeThings } from '../attack/matrix/things.ts';
import { secretKey } from '../setup/cursors.ts';
import { emptyDatabase } from '../setup/database.ts';
import { testGateway, uuidIn } from '../setup/gateway.ts';
import { runOps } from '../setup/ops.ts';
import { quiet } from '../setup/streams.ts';

// Tests the database's own access checks (docs/database-roles.md). The application's filters are disabled here, so only
// the database can hide other platforms' rows.
vi.mock('../../src/domain/access/visible.ts', async (original) => ({
  ...(await original<object>()),
  visibleQuotes: () => ({}),
  visibleTransactions: () => ({}),
  visibleCustomers: () => ({}),
  visibleAccounts: () => ({}),
  visibleEvents: () => ({}),
  visibleToPlatform: () => ({}),
  visibleApiTokens: () => ({}),
  visibleClientTokens: () => ({}),
  maySeeEvent: () => true,
  maySee: () => true,
  seesAny: () => true,
  visibleRow: () => '($1::uuid is not null or $2::uuid is not null or $3::uuid is not null)',
}));

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const stranger = await t.newPlatform('stranger');
const strangerId = stranger.platformId;
const own = await stranger.makeScene();
const things = await makeThings(t.platform, 'http://127.0.0.1:11/hook');
/** The public ids of the platform's objects, of every node type. */
const ids = nodeTypes().map(({ name }) => things[kindOfNode(name)]);
await quiet(t);

/** Runs a statement as a role, in a session for the other platform. */
async function as(role: DatabaseRole, text: string): Promise<pg.QueryResult> {
  const database = openDatabase({ url: servingUrl(t.databaseUrl), role, poolSize: 1 });
  try {
    return await asPlatform(strangerId, () => database.pool.query(text));
  } finally {
    await database.close();
  }
}

const sqlStateOf = (outcome: Promise<unknown>): Promise<unknown> =>
  outcome.then(
    () => 'allowed',
    (error: { code?: unknown }) => error.code,
  );

describe("without the application's own filters", () => {
  test("a statement that runs for all platforms returns another platform's row, which proves that the filters are off", async () => {
    const where = { AND: [visibleTransactions({ platformId: strangerId, bound: { kind: 'PLATFORM' } }), {}] };
    const rows = await readRows(t.gateway.payments.database, 'Transaction', { where });
    expect(rows.map(({ id }) => id)).toContain(uuidIn(things.Transaction));
  });

  test("no node, getter or list returns another platform's objects", async () => {
    const { nodes } = await t.platform.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
    expect(nodes.map((node: { id: string }) => node.id)).toEqual(ids);
    const foreign = await stranger.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
    expect(foreign.nodes).toEqual(ids.map(() => null));
    const lists = await stranger.ask(`{
      transactions(first: 100) { totalCount edges { node { id } } }
      quotes(first: 100) { totalCount edges { node { id } } }
      customers(first: 100) { totalCount edges { node { id } } }
      accounts(first: 100) { totalCount edges { node { id } } }
      apiTokens(first: 100) { edges { node { id } } }
      clientTokens(first: 100) { edges { node { id } } }
      webhookEndpoints(first: 100) { edges { node { id } } }
    }`);
    for (const id of ids) expect(JSON.stringify(lists)).not.toContain(uuidIn(id));
    expect(lists.customers).toEqual({ totalCount: 1, edges: [{ node: { id: own.customerId } }] });
  });

  test("no REST endpoint returns another platform's objects", async () => {
    const get = (path: string, authorization = stranger.authorization) =>
      fetch(`${t.url}/2025-10-13${path}`, { headers: { authorization } });
    const { Customer, Quote, Transaction } = things;
    for (const path of [`/customers/${Customer}`, `/quotes/${Quote}`, `/transactions/${Transaction}`]) {
      expect([path, (await get(path, t.platform.authorization)).status]).toEqual([path, 200]);
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
    const accounts = ['/customers/external-accounts', '/customers/internal-accounts'];
    for (const path of ['/customers', '/transactions', ...accounts]) {
      const answer = await get(path);
      expect([path, answer.status]).toEqual([path, 200]);
      const text = await answer.text();
      for (const id of ids) expect(text).not.toContain(uuidIn(id));
    }
  });

  test("no command changes another platform's objects", async () => {
    const versions = 'select count(*), sum(version) from account union all select count(*), sum(version) from quote';
    const before = await t.owner.query(versions);
    const attempts: [Operation, object][] = [
      ['executeQuote', { quoteId: things.Quote }],
      ['transferOut', { sourceAccountId: things.InternalAccount, destinationAccountId: own.outsideUsd, amount: 100 }],
      ['transferOut', { sourceAccountId: own.usd, destinationAccountId: things.ExternalAccount, amount: 100 }],
      ['sandboxFundAccount', { accountId: things.InternalAccount, amount: 100 }],
      ['deleteCustomer', { customerId: things.Customer }],
      ['deleteWebhookEndpoint', { endpointId: things.WebhookEndpoint }],
      ['revokeApiToken', { tokenId: things.ApiToken }],
      ['createClientToken', { boundTo: { customerId: things.Customer } }],
    ];
    for (const [command, input] of attempts) {
      const { __typename } = await stranger.act(command, input);
      expect([command, __typename]).toEqual([command, expect.stringMatching(/Error$/)]);
    }
    expect((await t.owner.query(versions)).rows).toEqual(before.rows);
    const { nodes } = await t.platform.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
    expect(nodes).not.toContain(null);
  });
});

describe('the serving role', () => {
  test("sees only its own platform's rows in every table, and none without a platform", async () => {
    const { rows: tables } = await t.owner.query<{ name: string; owner: string; rows: number; secured: boolean }>(
      `select c.relname as name, case c.relname when 'platform' then 'id' else 'platform_id' end as owner, c.relrowsecurity as secured
       from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
         and (c.relname = 'platform' or exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'platform_id'))
       order by 1`,
    );
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['account', 'platform', 'posting', 'webhook_attempt']),
    );
    expect(tables.filter(({ secured }) => !secured)).toEqual([]);
    const seen: Record<string, unknown> = {};
    for (const { name, owner } of tables) {
      const foreign = `select count(*)::int as count from ${name} where ${owner} <> '${strangerId}'`;
      seen[name] = await as('gateway_serving', foreign).then(
        ({ rows }) => rows[0]?.count,
        ({ code }) => code,
      );
    }
    const hidden = [
      ...['account_check', 'adjustment', 'arrival', 'audit_balance', 'audit_mark', 'identity_check', 'operator_act'],
      ...['reconciliation', 'reconciliation_difference', 'outbox', 'rail_case', 'rail_connection', 'rail_deposit'],
      'rail_webhook',
    ];
    expect(seen).toEqual(Object.fromEntries(tables.map(({ name }) => [name, hidden.includes(name) ? '42501' : 0])));
    const { serving } = t.gateway;
    expect((await serving.pool.query('select from account')).rowCount).toBe(0);
    expect((await asPlatform(strangerId, () => serving.pool.query('select from account'))).rowCount).toBeGreaterThan(0);
  });

  test('cannot use shared views to see rows that their tables hide from it', async () => {
    const { rows: views } = await t.owner.query<{ name: string; options: string[] | null }>(
      `select relname as name, reloptions as options from pg_class where relnamespace = 'public'::regnamespace and relkind = 'v'`,
    );
    expect(views).toEqual([{ name: 'event', options: ['security_invoker=true'] }]);
    const foreign = `select count(*)::int as count from event where platform_id <> '${strangerId}' or snapshot is null`;
    expect((await as('gateway_serving', foreign)).rows).toEqual([{ count: 0 }]);
    expect((await as('gateway_serving', 'select from event')).rowCount).toBeGreaterThan(0);
  });

  test('can read every column of a table that it reads through a view', async () => {
    const text = `select table_name, column_name, ordinal_position from information_schema.columns
      where table_schema = $1 and table_name in (select table_name from information_schema.views where table_schema = 'serving')
      order by 1, 3`;
    const columnsOf = async (schema: string) => (await t.owner.query(text, [schema])).rows;
    expect(await columnsOf('serving')).toEqual(await columnsOf('public'));
    expect((await columnsOf('serving')).length).toBeGreaterThan(60);
  });

  test.each([
    ['transaction', "status = 'EXPIRED'", 'transaction_platform_id_status_id_idx'],
    ['account', "status = 'INACTIVE'", 'account_status'],
    ['quote', "status = 'EXPIRED'", 'quote_platform_id_status_id_idx'],
  ])('uses an index to find rows of %s where %s', async (table, condition, index) => {
    const database = openDatabase({ url: servingUrl(t.databaseUrl), role: 'gateway_serving', poolSize: 1 });
    // With so few rows, Postgres would otherwise choose a sequential scan or the primary key.
    const usePrimaryKey = (isUsed: boolean) =>
      t.owner.query(`update pg_index set indisvalid = ${isUsed} where indexrelid = '${table}_pkey'::regclass`);
    const query = (text: string) => asPlatform(strangerId, () => database.pool.query(text));
    await usePrimaryKey(false);
    for (const setting of ['enable_seqscan', 'enable_sort']) await query(`set ${setting} = off`);
    const { rows } = await query(
      `explain select id from ${table} where platform_id = '${strangerId}' and ${condition} order by id limit 20`,
    );
    await database.close();
    await usePrimaryKey(true);
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(
      new RegExp(`using ${index} on ${table}.*Index Cond: [^\\n]*status`, 's'),
    );
  });

  test("cannot write another platform's rows, or any event except a test event", async () => {
    const outbox = (platformId: string, type: string) =>
      `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
       values ('${platformId}', uuid_v7(), '${type}', clock_ms(), 1, '{}')`;
    expect(await sqlStateOf(as('gateway_serving', outbox(t.platform.platformId, 'TEST')))).toBe('42501');
    expect(await sqlStateOf(as('gateway_serving', outbox(strangerId, 'ACCOUNT_STATUS')))).toBe('42501');
    expect(await sqlStateOf(as('gateway_serving', outbox(strangerId, 'TEST')))).toBe('allowed');
    const key = (platformId: string) =>
      `insert into idempotency_record (platform_id, operation, key, request_hash) values ('${platformId}', 'a', 'b', '')`;
    expect(await sqlStateOf(as('gateway_serving', key(t.platform.platformId)))).toBe('42501');
    expect((await as('gateway_serving', 'update webhook_endpoint set failures = 9')).rowCount).toBe(0);
    expect((await as('gateway_serving', 'delete from webhook_endpoint')).rowCount).toBe(0);
  });

  test("sees only the rows of each statement's caller, even after errors and in transactions", async () => {
    const database = openDatabase({ url: servingUrl(t.databaseUrl), role: 'gateway_serving', poolSize: 1 });
    const counted = 'select count(*)::text as count, min(platform_id::text) as whose from customer';
    const text = 'select min(platform_id::text) from customer';
    const seen = async (platformId: string) =>
      asPlatform(platformId, async () => [
        (await database.pool.query(counted)).rows[0]?.whose,
        await database.readText(text, { values: [], planning: undefined }),
        (await database.prisma.customer.findFirst())?.platformId,
      ]);
    const both = [t.platform.platformId, strangerId];
    for (const platformId of [...both, ...both]) {
      expect(await seen(platformId)).toEqual([platformId, platformId, platformId]);
      const other = both.find((one) => one !== platformId) ?? '';
      await expect(
        asPlatform(other, () => database.readText('select (1 / 0)::text', { values: [], planning: undefined })),
      ).rejects.toThrow('zero');
      await expect(asPlatform(other, () => database.pool.query('select 1 / $1::int', [0]))).rejects.toThrow('zero');
    }
    const mixed = Array.from({ length: 40 }, (_, at) => both[at % 2] ?? '');
    expect(await Promise.all(mixed.map(seen))).toEqual(mixed.map((one) => [one, one, one]));
    await database.close();
  });
});

describe.each(['gateway_serving', 'gateway_work'] as const)('%s', (role) => {
  test.each([
    'alter table posting disable trigger all',
    'alter table account add column extra int',
    'alter table account disable row level security',
    'drop table posting',
    'drop trigger balance on journal',
    'drop policy one_platform on public.account',
    'truncate webhook_attempt',
    'truncate posting',
    "set session_replication_role = 'replica'",
    'create table mine ()',
    'create or replace function check_journal() returns trigger language plpgsql as $$ begin return null; end $$',
    'create trigger mine before insert on api_token for each row execute function refuse_change()',
    'insert into posting (platform_id, journal_id, leg, currency, amount) select platform_id, journal_id, 9, currency, 1 from posting',
    'update posting set amount = 1',
    'delete from posting',
    "insert into journal (platform_id, kind, created_at) select id, 'x', now() from platform",
    'delete from journal',
    'update account set posted = posted + 1',
    "update quote set status = 'COMPLETED'",
    "update transaction set status = 'COMPLETED'",
    'update customer set is_deleted = true',
    'delete from event',
    'update feed_head set sequence = 0',
    'insert into arrival select * from arrival',
    "update platform set environment = 'PRODUCTION'",
    "update api_token set secret_hash = ''",
    "update api_token set permissions = '{VIEW,TRANSACT,MANAGE}'",
    "insert into currency values ('XXX', 'x', 'x', 0)",
    'delete from _prisma_migrations',
    'set role postgres',
  ])('may not: %s', async (text) => {
    expect(await sqlStateOf(as(role, text))).toBe('42501');
  });
});

test("the database's checks at commit see all rows, regardless of the role that commits", async () => {
  // Before Postgres 18, deferred triggers run as the role that commits, which may see another platform's rows or none.
  const { rows } = await t.owner.query(
    `select p.proname as name, p.prosecdef as has_rights_of_owner from pg_trigger t join pg_proc p on p.oid = t.tgfoid
     where t.tgdeferrable and not t.tgisinternal order by 1`,
  );
  expect(rows).toEqual([{ name: 'check_journal', has_rights_of_owner: true }]);
});

test('a plan cannot insert a row for another platform', async () => {
  const { database } = t.gateway.payments;
  const order = { id: crypto.randomUUID(), transactionId: uuidIn(things.Transaction), kind: 'PAYOUT' as const };
  const plan = { insert: { rail_order: [{ ...order, platformId: t.platform.platformId }] } };
  expect(await sqlStateOf(commitPlan(database, strangerId, plan))).toBe('LG010');
});

describe('production', () => {
  const refusing = (url: string, role: DatabaseRole = 'gateway_serving') => {
    const database: Database = openDatabase({ url, role, poolSize: 1 });
    return refuseOwners(database).finally(() => database.close());
  };
  const login = (name: string) => {
    const url = new URL(t.databaseUrl);
    url.username = name;
    return url.href;
  };

  /** Starts a gateway in production mode, with the login in the given URL. */
  const startAs = (databaseUrl: string) => {
    const settings = { NODE_ENV: 'production', DATABASE_URL: databaseUrl, SECRET_KEY: secretKey, PORT: '0' };
    return startGateway({ databaseUrl, config: readConfig(settings), log: pino({ level: 'silent' }) });
  };

  test('serves requests only with a login that owns nothing', async () => {
    await refusing(servingUrl(t.databaseUrl));
    await expect(refusing(t.databaseUrl)).rejects.toThrow(/is a superuser.*ALLOW_UNSAFE=owner-login/s);
    const password = pg.escapeLiteral(new URL(t.databaseUrl).password);
    const suffix = Date.now();
    const [bypassing, owning] = [`bypassing_${suffix}`, `owning_${suffix}`];
    await t.owner.query(`create role ${bypassing} login bypassrls noinherit password ${password};
      create role ${owning} login noinherit password ${password};
      grant gateway_serving to ${bypassing}, ${owning}; alter table lookup owner to ${owning}`);
    await expect(refusing(login(bypassing))).rejects.toThrow('bypasses row-level security');
    await expect(refusing(login(owning))).rejects.toThrow('owns the table lookup');
    await t.owner.query(
      `alter table lookup owner to postgres; drop owned by ${bypassing}, ${owning}; drop role ${bypassing}, ${owning}`,
    );
  });

  test("does not start with an owner's login by default, and names the setting that allows it", async () => {
    await expect(startAs(t.databaseUrl)).rejects.toThrow('ALLOW_UNSAFE=owner-login');
  });

  test("names the required login if it is started with one that must not serve requests, such as the tables' owner", async () => {
    const owner = `owner_${Date.now()}`;
    const password = pg.escapeLiteral(new URL(t.databaseUrl).password);
    await t.owner.query(`create role ${owner} login password ${password}`);
    const { code, err } = await runOps(t.databaseUrl, ['platform', 'list'], { DATABASE_URL: login(owner) });
    const refused = expect.stringMatching(/^The login in DATABASE_URL is not a member of gateway_serving\./);
    expect([code, err]).toEqual([1, refused]);
    const message = await startAs(login(owner)).catch(messageForUser);
    expect(message).toMatch(/is not a member of .*DATABASE_OWNER_URL for migrations/);
    await t.owner.query(`drop owned by ${owner}; drop role ${owner}`);
  });

  test('does not migrate automatically, and names the missing migrations', async () => {
    expect(readConfig({ NODE_ENV: 'production', DATABASE_URL: t.databaseUrl }).MIGRATE).toBe('verify');
    await verifyMigrations(servingUrl(t.databaseUrl));
    const empty = await emptyDatabase();
    await expect(verifyMigrations(servingUrl(empty.url))).rejects.toThrow(/lacks the migrations? .*npm run migrate/);
  });
});
