import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { migrate, verifyMigrations } from '../../src/infra/database/migrations/migrate.ts';
import { execute } from '../../src/infra/database/migrations/throwaway.ts';
import { emptyDatabase, testDatabase } from '../setup/database.ts';
import { ownGateway, testClient } from '../setup/gateway.ts';

/** Only the service's roles can call or read anything in its database (docs/database-roles.md). */

const unique = `${process.pid}_${Date.now()}`;
const stranger = `stranger_${unique}`;
const ours = `(select oid, nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema')`;

const database = await testDatabase();
// With an empty search path, every name is printed with its schema.
const owner = await testClient({ databaseUrl: database.url }, '-c search_path=');
const strangerUrl = new URL(database.url);
await owner.query(`create role ${stranger} login password ${pg.escapeLiteral(strangerUrl.password)}`);
afterAll(() => owner.query(`drop owned by ${stranger}; drop role ${stranger}`));
strangerUrl.username = stranger;
const outside = await testClient({ databaseUrl: strangerUrl.href });

const namesOf = async (on: pg.Client, text: string): Promise<string[]> =>
  (await on.query<{ name: string }>(text)).rows.map(({ name }) => name);

/** Returns statements that an unprivileged role could try: calls, reads, and new objects in each schema. */
const attempts = () =>
  namesOf(
    owner,
    // The arguments come from a subquery. With literal nulls, the planner would drop calls to strict functions.
    `select format('select %I.%I(%s) from (select %s offset 0) a', s.nspname, p.proname,
       (select string_agg('a' || n, ', ' order by n) from unnest(p.proargtypes::oid[]) with ordinality a (t, n)),
       (select string_agg(format('null::%s as a%s', format_type(t, null), n), ', ' order by n) from unnest(p.proargtypes::oid[]) with ordinality a (t, n))) as name
     from pg_proc p join ${ours} s on s.oid = p.pronamespace
     union all select format('select from %s', c.oid::regclass) from pg_class c join ${ours} s on s.oid = c.relnamespace
       where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
     union all select format('select nextval(%L)', c.oid::regclass) from pg_class c join ${ours} s on s.oid = c.relnamespace where c.relkind = 'S'
     union all select format('create table %I.mine ()', nspname) from ${ours} s
     union all select format('create function %I.mine() returns int language sql return 1', nspname) from ${ours} s`,
  );

async function notRefused(statements: readonly string[]): Promise<string[]> {
  const passed: string[] = [];
  for (const text of statements) {
    const state = await outside.query(text).then(
      () => 'done',
      ({ code }) => code,
    );
    if (state !== '42501') passed.push(`${text}: ${state}`);
  }
  return passed;
}

describe('a login without one of the service’s roles', () => {
  test('cannot call functions, read relations or create objects, even with USAGE on the schemas', async () => {
    const schemas = await namesOf(owner, `select nspname as name from ${ours} s`);
    expect(schemas).toEqual(['public', 'serving']);
    await owner.query(`grant usage on schema ${schemas.join(', ')} to ${stranger}`);
    const all = await attempts();
    expect(all.length).toBeGreaterThan(100);
    expect(await notRefused(all)).toEqual([]);
  });

  test('cannot call a function added by a later migration, though both service roles can', async () => {
    await owner.query('create function public.later() returns int language sql security definer return 1');
    expect(await notRefused(['select public.later()'])).toEqual([]);
    const { rows } = await owner.query(
      `select has_function_privilege('gateway_serving', 'public.later()', 'execute') and has_function_privilege('gateway_work', 'public.later()', 'execute') as both`,
    );
    expect(rows).toEqual([{ both: true }]);
    await owner.query('drop function public.later()');
  });
});

test('PUBLIC has no privileges on any object or column', async () => {
  const granted = await namesOf(
    owner,
    `select format('%s %s', a.privilege_type, o.name) as name from (
       select p.oid::regprocedure::text, coalesce(p.proacl, acldefault('f', p.proowner)) from pg_proc p join ${ours} s on s.oid = p.pronamespace
       union all select c.oid::regclass::text, coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))
         from pg_class c join ${ours} s on s.oid = c.relnamespace
       union all select format('%s.%s', a.attrelid::regclass, a.attname), a.attacl
         from pg_attribute a join pg_class c on c.oid = a.attrelid join ${ours} s on s.oid = c.relnamespace
       union all select n.nspname, coalesce(n.nspacl, acldefault('n', n.nspowner)) from pg_namespace n join ${ours} s on s.oid = n.oid
     ) o (name, acl) cross join aclexplode(o.acl) a where a.grantee = 0`,
  );
  expect(granted).toEqual([]);
});

test('docs/database-roles.md lists every security definer function with its callers, and each has a fixed search path', async () => {
  const { rows } = await owner.query<{ name: string; callers: string; settings: string[] }>(
    `select p.proname as name, p.proconfig as settings, case
       when p.prorettype = 'trigger'::regtype then 'a trigger'
       when has_function_privilege('gateway_serving', p.oid, 'execute') and has_function_privilege('gateway_work', p.oid, 'execute') then 'both'
       when has_function_privilege('gateway_work', p.oid, 'execute') then '\`gateway_work\`'
       when has_function_privilege('gateway_serving', p.oid, 'execute') then '\`gateway_serving\`' else 'nobody' end as callers
     from pg_proc p join ${ours} s on s.oid = p.pronamespace where p.prosecdef order by 1`,
  );
  const page = readFileSync('docs/database-roles.md', 'utf8');
  const said = [...page.matchAll(/^\| `(\w+)` \| (both|a trigger|nobody|`gateway_\w+`) \| .+ \|$/gm)];
  expect(
    said.map(([, name, callers]) => ({ name, callers })).toSorted((a, b) => (`${a.name}` < `${b.name}` ? -1 : 1)),
  ).toEqual(rows.map(({ name, callers }) => ({ name, callers })));
  expect(rows.filter(({ settings }) => !settings?.includes('search_path=public, pg_temp'))).toEqual([]);
});

test('with a non-superuser owner, as in prisma/roles.sql, everything is closed to others and the service works', async () => {
  const [owning, login] = [`owner_${unique}`, `login_${unique}`];
  const dropRoles = `drop owned by ${owning}, ${login}; drop role ${owning}, ${login}`;
  onTestFinished(() => execute(inject('server').url, dropRoles));
  const empty = await emptyDatabase();
  const url = new URL(empty.url);
  const roles = readFileSync('prisma/roles.sql', 'utf8')
    .replaceAll('payments_owner', owning)
    .replaceAll('payments_gateway', login)
    .replaceAll('database payments', `database ${url.pathname.slice(1)}`)
    // All databases of the server share these two roles, which already exist.
    .replaceAll(/^create role gateway_\w+ nologin;$/gm, '');
  const as = (name: string) => {
    const address = new URL(url);
    [address.username, address.password] = [name, 'change me'];
    return address.href;
  };
  await execute(empty.url, roles);
  await migrate(as(owning));
  await verifyMigrations(as(login));
  await verifyMigrations(as(owning));
  const platform = await (await ownGateway({}, empty.url)).newPlatform('served');
  const { id } = await platform.pay(await platform.makeScene());
  expect(await platform.ended(id)).toMatchObject({ status: 'COMPLETED' });
  url.username = stranger;
  await expect(verifyMigrations(url.href)).rejects.toThrow('permission denied to set role "gateway_serving"');
});
