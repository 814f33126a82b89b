import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { stepLock } from '../../src/domain/events/sequencer.ts';
import { openDatabase } from '../../src/infra/database/database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/infra/database/embedded/embedded.ts';
import { makeServingLogin, servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import { migrate } from '../../src/infra/database/migrations/migrate.ts';
import { createThrowawayDatabase, type ThrowawayDatabase } from '../../src/infra/database/migrations/throwaway.ts';
import { checkNames, examine } from '../../src/ops/doctor.ts';
import type { Finding, Limits } from '../../src/ops/doctor-server.ts';
import { lockWatch } from '../../src/server/workers/workers.ts';
import { temporaryDataDirectory } from '../setup/child-gateway.ts';
import { query } from '../setup/embedded-servers.ts';
import { openClient, untilWaiting } from '../setup/gateway.ts';
import { runOps } from '../setup/ops.ts';

/** A separate server, because many faults affect all of a server's databases. */
let server: EmbeddedPostgres;
let template: ThrowawayDatabase;
let data: Awaited<ReturnType<typeof temporaryDataDirectory>>;
beforeAll(async () => {
  data = await temporaryDataDirectory();
  server = await startEmbeddedPostgres({ dataDir: data.path });
  for (const setting of [`archive_mode = on`, `archive_command = 'true'`, 'max_prepared_transactions = 5'])
    await onServer(`alter system set ${setting}`);
  await server.stop();
  server = await startEmbeddedPostgres({ dataDir: data.path });
  template = await createThrowawayDatabase(server.url);
  await migrate(template.url);
  await makeServingLogin(template.url);
});
afterAll(async () => {
  await server.stop();
  await rm(server.dataDirectory, { recursive: true, force: true });
  await data.remove();
});

async function run(url: string, ...texts: readonly string[]): Promise<void> {
  const client = await openClient(url);
  try {
    for (const text of texts) await client.query(text);
  } finally {
    await client.end();
  }
}
const onServer = (...texts: readonly string[]) => run(server.url, ...texts);
const nameOf = (url: string) => new URL(url).pathname.slice(1);

const production = {
  NODE_ENV: 'production',
  SECRET_KEY: randomBytes(32).toString('base64'),
  CLIENT_TOKEN_KEY: randomBytes(32).toString('base64'),
};

/** A fault to inject, and how to undo it if it affects more than the test's own database. */
interface Broken {
  /** SQL to run as a superuser in the test's own database. */
  readonly sql?: readonly string[];
  readonly settings?: (url: string) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Injects a fault that SQL in the test's own database cannot. Returns a function that ends the fault. */
  readonly during?: (url: string) => Promise<() => Promise<unknown>>;
  readonly after?: readonly string[];
  /** Limits for the doctor that are exceeded immediately, so that the test need not wait. */
  readonly hasty?: Partial<Limits>;
}

/** A change to the whole server, and the statement that undoes it. */
const undone = (sql: string, undo: string): Broken => ({ sql: [sql], after: [undo] });
const withRight = (role: string, right: string): Broken =>
  undone(`alter role ${role} ${right}`, `alter role ${role} no${right}`);
const connectedBy = (part: Partial<URL>): Broken => ({
  settings: (url) => ({ DATABASE_URL: Object.assign(new URL(url), part).href }),
});
const set = (more: Readonly<Record<string, string>>): Broken => ({ settings: () => more });
const ofDatabase = (setting: string): Broken => ({
  during: async (url) => {
    await onServer(`alter database ${nameOf(url)} set ${setting}`);
    return async () => undefined;
  },
});
const ofServer = (setting: string): Broken => ({
  during: async () => {
    await onServer(`alter system set ${setting}`, 'select pg_reload_conf()');
    const [name] = setting.split(' ');
    return () => onServer(`alter system reset ${name}`, 'select pg_reload_conf()');
  },
});
const wrong = (of: typeof ofServer, name: string, value: string): [words: RegExp, how: Broken] => [
  new RegExp(`${name} is ${value}`),
  of(`${name} = ${value}`),
];
const session = (...texts: readonly string[]): Broken => ({
  hasty: { transactionSeconds: 0 },
  during: async (url) => {
    const client = await openClient(url);
    for (const text of texts) await client.query(text);
    return () => client.end();
  },
});
/** Inserts a row, bypassing triggers and foreign keys. */
const row = (text: string): Broken => ({ sql: ['set session_replication_role = replica', text] });
const id = "'01990000-0000-7000-8000-000000000001'";
const waitingEvent = row(
  `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot) values (${id}, ${id}, 'TEST', now() - interval '1 minute', 1, '{}')`,
);

/** SQL statements by check, each with the expected report. Each causes a fault that only that check reports. */
const statements: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  migrations: {
    "update _prisma_migrations set migration_name = '0_before'": /created by an earlier series/,
    'update _prisma_migrations set checksum = reverse(checksum)': /was changed after/,
    'update _prisma_migrations set finished_at = null': /did not finish/,
  },
  rights: {
    'revoke execute on function commit_batches from gateway_serving':
      /function commit_batches\(jsonb\) lacks the right EXECUTE for gateway_serving/,
    'grant execute on function find_receiver to public':
      /function find_receiver\(text,environment\) has the additional right EXECUTE for PUBLIC/,
    'revoke select on customer from gateway_serving': /table customer lacks the right SELECT for gateway_serving/,
    'grant update on posting to gateway_serving': /table posting has the additional right UPDATE for gateway_serving/,
    'revoke update (last_used_at) on api_token from gateway_serving':
      /table api_token lacks the right UPDATE \(last_used_at\)/,
    'revoke usage on schema serving from gateway_serving': /schema serving lacks the right USAGE/,
  },
  'row security': {
    'alter table customer disable row level security': /table customer lacks the row-level security/,
    'drop policy one_platform on quote': /table quote lacks the policy one_platform/,
    'create policy "all" on quote using (true)': /table quote has the additional policy all for PUBLIC/,
  },
  triggers: {
    'alter table posting disable trigger user': /table posting lacks the trigger append_only/,
    'alter table account disable trigger announce': /table account lacks the trigger announce/,
    'alter table rail_order disable trigger all': /table rail_order lacks the triggers of foreign keys/,
    'create trigger mine before update on lookup for each row execute function suppress_redundant_updates_trigger()':
      /has the additional trigger mine/,
  },
  functions: {
    "create or replace function same_person(p_one text, p_other text) returns boolean language sql as 'select true'":
      /function same_person\(text,text\) differs in its body/,
    'alter function commit_batches security invoker': /commit_batches\(jsonb\) lacks the security definer/,
  },
  objects: {
    'drop function wake_orders(uuid, uuid)': /function wake_orders\(uuid,uuid\) is missing/,
    'drop table resume_point': /table resume_point is missing/,
  },
  columns: {
    'alter table rail_case alter times type bigint': /table rail_case differs in its columns/,
    'alter table lookup add mine int': /table lookup differs in its columns/,
  },
  constraints: {
    'alter table posting drop constraint posting_amount': /table posting lacks the constraint posting_amount/,
    'alter table lookup add constraint mine check (false)': /has the additional constraint mine/,
  },
  indexes: {
    'drop index lookup_expiry': /table lookup lacks the index lookup_expiry/,
    'create unique index mine on quote (created_at)': /table quote has the additional unique index mine/,
    "update pg_index set indisvalid = false where indexrelid = 'lookup_expiry'::regclass":
      /table lookup lacks the index lookup_expiry/,
  },
};

/** More faults, by check and name, each with the expected report and a way to cause the fault. */
const broken: Readonly<Record<string, Readonly<Record<string, readonly [words: RegExp, how: Broken]>>>> = {
  settings: {
    'an unknown setting': [/PORT must be a whole number/, set({ PORT: 'eighty' })],
    'metrics on the port of the APIs': [/METRICS_PORT and PORT are both 4000/, set({ METRICS_PORT: '4000' })],
    'every origin': [/CORS_ORIGINS is \*/, set({ CORS_ORIGINS: '*' })],
    'a guessable key': [/SECRET_KEY can be guessed/, set({ SECRET_KEY: '0'.repeat(64) })],
  },
  'own keys': {
    'no key for webhooks': [/SECRET_KEY is not set/, set({ SECRET_KEY: '' })],
    'no key for client tokens': [/CLIENT_TOKEN_KEY is not set/, set({ CLIENT_TOKEN_KEY: '' })],
  },
  proxies: {
    'every address trusted as a proxy': [/trusts every address/, set({ TRUSTED_PROXIES: '10.0.0.0/8, 0.0.0.0/0' })],
    'half of all addresses trusted as proxies': [/every address/, set({ TRUSTED_PROXIES: '128.0.0.0/1' })],
    'every IPv6 address trusted as a proxy': [/every address/, set({ TRUSTED_PROXIES: '::/0' })],
  },
  database: {
    'a database that does not answer': [
      /^DATABASE_URL does not lead to .* nothing answers/,
      connectedBy({ port: '1' }),
    ],
    'a wrong password': [/28P01/, connectedBy({ password: 'wrong' })],
    'a login that may not serve': [
      /is not a member of gateway_work/,
      {
        ...connectedBy({ username: 'visitor', password: 'visitor' }),
        ...undone(`create role visitor login password 'visitor'`, 'drop role visitor'),
      },
    ],
  },
  migrations: {
    'a database without migrations': [
      /lacks the migrations .* Run "npm run migrate"/,
      connectedBy({ pathname: '/payments', username: 'gateway' }),
    ],
  },
  login: {
    'a superuser as login': [/is a superuser/, { settings: (url) => ({ DATABASE_URL: url }) }],
    'a login that owns a table': [/owns the table lookup/, { sql: ['alter table lookup owner to gateway'] }],
    'a login that bypasses row security': [/bypasses row-level/, withRight('gateway', 'bypassrls')],
  },
  roles: {
    'a role that bypasses row security': [/service needs: gateway_serving/, withRight('gateway_serving', 'bypassrls')],
    'a role that may write every table': [
      /service needs: gateway_serving/,
      undone('grant pg_write_all_data to gateway_serving', 'revoke pg_write_all_data from gateway_serving'),
    ],
    'a role that may create roles': [/service needs: gateway_work/, withRight('gateway_work', 'createrole')],
  },
  writable: {
    'a read-only database': [/default_transaction_read_only/, ofDatabase('default_transaction_read_only = on')],
  },
  session: {
    'a different date style': wrong(ofDatabase, 'DateStyle', 'German'),
    'another isolation': wrong(ofDatabase, 'default_transaction_isolation', 'serializable'),
    'disabled triggers in the session': wrong(ofDatabase, 'session_replication_role', 'replica'),
    'a timeout of idle sessions': wrong(ofDatabase, 'idle_session_timeout', '500'),
    'non-standard string escapes': wrong(ofDatabase, 'standard_conforming_strings', 'off'),
  },
  durability: {
    'asynchronous commits': wrong(ofDatabase, 'synchronous_commit', 'off'),
    'asynchronous commits of the login': [
      /synchronous_commit is off/,
      undone('alter role gateway set synchronous_commit = off', 'alter role gateway reset synchronous_commit'),
    ],
    'no full-page writes': wrong(ofServer, 'full_page_writes', 'off'),
    'a synchronous standby that is away': [
      /synchronous_standby_names \(gone\) is connected/,
      ofServer(`synchronous_standby_names = 'gone'`),
    ],
    'no flush to the disk': wrong(ofServer, 'fsync', 'off'),
  },
  autovacuum: {
    'no autovacuum': wrong(ofServer, 'autovacuum', 'off'),
    'no counts of changed rows for autovacuum': wrong(ofServer, 'track_counts', 'off'),
    'no autovacuum for a table': [/off for posting/, { sql: ['alter table posting set (autovacuum_enabled = false)'] }],
  },
  connections: {
    'too few connections': [/lower DATABASE_POOL/, set({ DATABASE_POOL: '200' })],
  },
  'other sessions': {
    'statistics that are hidden': [
      /grant pg_read_all_stats/,
      undone('revoke pg_read_all_stats from gateway_work', 'grant pg_read_all_stats to gateway_work'),
    ],
  },
  transactions: {
    'a forgotten read': [/has been open for/, session('begin isolation level repeatable read; select 1')],
    'a forgotten write': [/has been open for/, session('begin; create temporary table mine ()')],
    'a forgotten prepared transaction': [
      /the prepared transaction 'mine' of/,
      {
        sql: [`begin; create table mine (); prepare transaction 'mine'`],
        during: async (url) => () => run(url, `rollback prepared 'mine'`),
        hasty: { transactionSeconds: 0 },
      },
    ],
  },
  locks: {
    'a session that waits for a lock': [
      /waiting sessions: 1, blocked by process \d+ .*idle in transaction after "lock table customer"/,
      {
        hasty: { lockSeconds: 0 },
        during: async (url) => {
          const [holder, waiting, watching] = [await openClient(url), await openClient(url), await openClient(url)];
          await holder.query('begin');
          await holder.query('lock table customer');
          const waits = waiting.query('select from customer').catch(() => undefined);
          await untilWaiting(watching, 1);
          return async () => {
            await holder.end();
            await watching.end();
            await waits;
            await waiting.end();
          };
        },
      },
    ],
  },
  slots: {
    'an unread replication slot': [
      /no standby uses these slots: away keeps/,
      undone(`select pg_create_physical_replication_slot('away', true)`, `select pg_drop_replication_slot('away')`),
    ],
  },
  archive: {
    'failing archiving': [
      /archive_command fails for/,
      {
        during: async (url) => {
          await onServer(`alter system set archive_command = 'false'`, 'select pg_reload_conf()');
          await run(url, `select pg_logical_emit_message(true, 'x', 'y'), pg_switch_wal()`);
          const failed = async () =>
            (await query(url, "select from pg_stat_archiver where last_failed_wal <> ''")).length;
          await vi.waitFor(async () => expect(await failed()).toBe(1), { timeout: 60_000, interval: 100 });
          const repair = [`alter system set archive_command = 'true'`, 'select pg_reload_conf()'];
          return () => onServer(...repair, `select pg_stat_reset_shared('archiver')`);
        },
      },
    ],
  },
  wraparound: {
    'transaction numbers that are used up': [
      /has used \d+ % of its transaction ids/,
      {
        sql: [
          'set allow_system_table_mods = on',
          `update pg_database set datfrozenxid = ((pg_current_xact_id()::text::bigint - 1200000000 + 4294967296) % 4294967296)::text::xid where datname = current_database()`,
        ],
      },
    ],
  },
  pooler: {
    'a pooler to a different database': [
      /lead to different databases/,
      { settings: (url) => ({ DATABASE_URL: servingUrl(template.url), DATABASE_DIRECT_URL: servingUrl(url) }) },
    ],
    'a pooler whose login lacks its settings': [
      /lack the settings .*lock_timeout/,
      { settings: (url) => ({ DATABASE_URL: servingUrl(url), DATABASE_DIRECT_URL: servingUrl(url) }) },
    ],
  },
  rails: {
    'a rail that cannot be loaded': [
      /cannot start: RAILS PRODUCTION: the module \.\/none\.ts cannot be loaded/,
      set({ RAILS: '{"PRODUCTION": {"module": "./none.ts"}}' }),
    ],
  },
  replicas: {
    'a replica that is a primary': [
      /^number 1: /,
      { settings: (url) => ({ DATABASE_URL: servingUrl(url), DATABASE_READ_URL: servingUrl(url) }) },
    ],
  },
  keys: {
    "a key that differs from the others'": [
      /SECRET_KEY has the id .* use the key with the id other/,
      row(`insert into key_in_use (setting, key_id) values ('SECRET_KEY', 'other')`),
    ],
  },
  feed: {
    'a stalled feed': [/1 events have waited[^.]*$/, waitingEvent],
    'a stalled feed whose lock is held by a session': [
      /1 events have waited .* Process \d+ \(no application name, login postgres\) holds .*: select pg_terminate_backend\(\d+\)/,
      { ...session(`select pg_advisory_lock(${stepLock})`), ...waitingEvent, hasty: {} },
    ],
  },
  ledger: {
    'an audit that found broken rules': [
      /found 2 rules of the ledger broken/,
      row(`insert into audit_run (rules, broken) values (10, array['one', 'two'])`),
    ],
  },
  restore: {
    'an unmarked restore': [/was restored/, row(`insert into feed_epoch (epoch, server) values (7, 'another')`)],
  },
};

async function examineBroken({ sql: texts = [], settings, during, after = [], hasty }: Broken): Promise<Finding[]> {
  const database = await createThrowawayDatabase(server.url, nameOf(template.url));
  try {
    await run(database.url, ...texts);
    const end = await during?.(database.url);
    try {
      const own = { ...production, DATABASE_URL: servingUrl(database.url) };
      const limits = { transactionSeconds: 1_800, lockSeconds: 5, ...hasty };
      return await examine({ ...own, ...(await settings?.(database.url)) }, limits);
    } finally {
      await end?.();
      await onServer(...after);
    }
  } finally {
    await database.drop();
  }
}

describe('the doctor reports, with exactly one check,', () => {
  const faults = [
    ...Object.entries(broken).flatMap(([check, ofIt]) =>
      Object.entries(ofIt).map(([what, [words, how]]) => [what, check, words, how] as const),
    ),
    ...Object.entries(statements).flatMap(([check, ofIt]) =>
      Object.entries(ofIt).map(([text, words]) => [text, check, words, { sql: [text] }] as const),
    ),
  ];

  test.each(faults)('%s', async (_what, check, words, how) => {
    const findings = await examineBroken(how);
    const named = findings.filter(({ result }) => result === 'warning' || result === 'fault');
    expect(named).toEqual(named.map(() => ({ check, result: expect.any(String), detail: expect.any(String) })));
    expect(named.map(({ detail }) => detail).join('\n')).toMatch(words);
  });

  test('each of more than forty faults, covering every check that is not tested elsewhere', () => {
    expect(faults.length).toBeGreaterThan(40);
    const elsewhere = ['version', 'encoding', 'clock', 'orders', 'suspense', 'cases', 'deposits', 'differences'];
    expect(new Set([...faults.map(([, check]) => check), ...elsewhere])).toEqual(new Set(checkNames));
  });
});

test('the doctor runs every check, and reports nothing if the setup is sound', async () => {
  const findings = await examineBroken({});
  expect(findings.filter(({ result }) => result !== 'ok')).toEqual([]);
  const notUsed = ['pooler', 'replicas'];
  expect(findings.map(({ check }) => check)).toEqual(checkNames.filter((name) => !notUsed.includes(name)));
});

test('the doctor names the checks that it skips for an instance with ROLE=serve', async () => {
  const findings = await examineBroken({ settings: () => ({ ROLE: 'serve' }) });
  const skipped = findings.filter(({ result }) => result !== 'ok');
  expect(skipped).toEqual(skipped.map(({ check }) => ({ check, result: 'skipped', detail: expect.any(String) })));
  expect(skipped.map(({ check }) => check)).toEqual(
    expect.arrayContaining(['feed', 'orders', 'suspense', 'cases', 'deposits', 'differences', 'ledger']),
  );
});

test.each([
  [-10_000, /1\d\.\d s ahead of/],
  [15_000, /1\d\.\d s behind/],
])("the doctor reports a clock that differs from the database's by %i ms", async (ms, detail) => {
  vi.setSystemTime(Date.now() + ms);
  const findings = await examineBroken({}).finally(() => vi.useRealTimers());
  expect(findings.filter(({ result }) => result !== 'ok')).toEqual([
    { check: 'clock', result: 'warning', detail: expect.stringMatching(detail) },
  ]);
});

test('the doctor names a lock that a check is waiting for, and runs the other checks', async () => {
  const findings = await examineBroken({ ...session('begin; lock table transaction'), hasty: {} });
  expect(findings.filter(({ result }) => result !== 'ok')).toEqual([
    { check: 'suspense', result: 'warning', detail: expect.stringContaining('see "blocked"') },
  ]);
});

test('"blocked" says that a commit is waiting for a synchronous standby, and that ending the session would not help', async () => {
  const [committing, waiting] = [await openClient(template.url), await openClient(template.url)];
  let isOver = false;
  const again = async (client: pg.Client, text: string) => {
    while (!isOver) await client.query(text);
  };
  await onServer(`alter system set synchronous_standby_names = 'gone'`, 'select pg_reload_conf()');
  const loops = [
    again(committing, `begin; lock table customer; select pg_logical_emit_message(true, 'x', 'y'); commit`),
    again(waiting, 'select from customer'),
  ];
  const said = /runs "begin; lock table customer.*, and waits for a synchronous standby\n +Ending it does not help/;
  const shown = async () => expect((await runOps(template.url, ['blocked'])).out).toMatch(said);
  await vi.waitFor(shown, { timeout: 60_000, interval: 100 });
  isOver = true;
  await onServer('alter system reset synchronous_standby_names', 'select pg_reload_conf()');
  await Promise.all(loops);
  for (const client of [committing, waiting]) await client.end();
});

test('"blocked", the doctor and the log name a prepared transaction that holds a lock', async () => {
  const [holder, waiting] = [await openClient(template.url), await openClient(template.url)];
  await holder.query(`begin; lock table customer; prepare transaction 'mine'`);
  const read = waiting.query('select from customer');
  const said =
    /^the prepared transaction 'mine' of \w+, open for \d+ s, which has locked customer\n +To end it: rollback prepared 'mine'.*\n +process \d+ .*has waited for AccessShareLock on customer/;
  const shown = async () => expect((await runOps(template.url, ['blocked'])).out).toMatch(said);
  await vi.waitFor(shown, { timeout: 60_000, interval: 100 });
  const name = /the prepared transaction 'mine' of \w+/;
  const limits = { transactionSeconds: 1_800, lockSeconds: 0 };
  expect(await examine({ ...production, DATABASE_URL: servingUrl(template.url) }, limits)).toContainEqual({
    ...{ check: 'locks', result: 'warning', detail: expect.stringMatching(name) },
  });
  const lines: string[] = [];
  const database = openDatabase({ url: servingUrl(template.url), role: 'gateway_work', poolSize: 1 });
  await lockWatch(database, pino({}, { write: (line) => void lines.push(line) }), 0)();
  expect(lines.join()).toMatch(name);
  await database.close();
  await holder.query(`rollback prepared 'mine'`);
  await read;
  for (const client of [holder, waiting]) await client.end();
});

test("the doctor's page describes what each check examines", () => {
  const page = readFileSync('docs/operating.md', 'utf8');
  expect(checkNames.filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([]);
});
