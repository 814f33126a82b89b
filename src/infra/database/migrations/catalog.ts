import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Queryable, statement } from '../statement.ts';
import { projectPrisma } from './migration-files.ts';

/** Facts that Postgres reports about each table, view, sequence, schema and function, such as "trigger check_legs". */
export type Catalog = Readonly<Record<string, readonly string[]>>;

/** The catalog file that belongs to the migrations. `npm run migration -- --catalog` writes it. */
export const catalogFile = join(projectPrisma, 'catalog.json');

/** Reads the catalog of a fully migrated database. */
export const expectedCatalog = async (): Promise<Catalog> => JSON.parse(await readFile(catalogFile, 'utf8'));

export function printCatalog(catalog: Catalog): string {
  const lines = Object.entries(catalog).map((entry) => `  ${entry.map((part) => JSON.stringify(part)).join(': ')}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}

const grantees = `(select oid, rolname::text as name from pg_roles where rolname in ('gateway_serving', 'gateway_work')
  union all select 0, 'PUBLIC')`;

/** All facts except the text of constraints, indexes and policies, which differs between Postgres versions. */
const factsStatement = statement<{ object: string; fact: string }>(
  'catalog',
  `with schemas as (select oid, nspname, nspacl, nspowner from pg_namespace where nspname in ('public', 'serving')),
   relations as (
     select c.*, case c.relkind when 'v' then 'view ' when 'S' then 'sequence ' else 'table ' end
       || case n.nspname when 'public' then '' else n.nspname || '.' end || c.relname as object
     from pg_class c join schemas n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v', 'S') and c.relname <> '_prisma_migrations'),
   functions as (
     select p.*, 'function ' || replace(p.oid::regprocedure::text, 'public.', '') as object from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
       and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')),
   rights as (
     select 'schema ' || nspname as object, coalesce(nspacl, acldefault('n', nspowner)) as acl, '' as of from schemas
     union all select object, coalesce(relacl, acldefault(case relkind when 'S' then 's'::"char" else 'r' end, relowner)), '' from relations
     union all select r.object, a.attacl, format(' (%s)', a.attname) from relations r join pg_attribute a on a.attrelid = r.oid
       where a.attacl is not null and not a.attisdropped
     union all select object, coalesce(proacl, acldefault('f', proowner)), '' from functions)
   select object, fact from (
     select object, format('right %s%s for %s', a.privilege_type, of, g.name) as fact
       from rights cross join aclexplode(acl) a join ${grantees} g on g.oid = a.grantee where a.privilege_type <> 'MAINTAIN'
     union all select 'schema ' || nspname, 'there' from schemas
     union all select object, 'row-level security' from relations where relrowsecurity
     union all select r.object, format('policy %s for %s', p.polname, (select string_agg(g.name, ', ' order by g.name) from ${grantees} g where g.oid = any (p.polroles)))
       from relations r join pg_policy p on p.polrelid = r.oid where p.polpermissive and p.polcmd = '*'
     union all select r.object, 'trigger ' || t.tgname from relations r join pg_trigger t on t.tgrelid = r.oid
       where not t.tgisinternal and t.tgenabled = 'O'
     union all select r.object, 'constraint ' || c.conname from relations r join pg_constraint c on c.conrelid = r.oid
       where c.contype in ('c', 'f', 'p', 'u', 'x') and c.convalidated
     union all select r.object, 'triggers of foreign keys' from relations r join pg_trigger t on t.tgrelid = r.oid
       where t.tgisinternal group by r.object having bool_and(t.tgenabled = 'O')
     union all select r.object, case when i.indisunique then 'unique ' else '' end || 'index ' || x.relname
       from relations r join pg_index i on i.indrelid = r.oid join pg_class x on x.oid = i.indexrelid
       where i.indisvalid and i.indisready and not exists (select from pg_constraint c where c.conindid = i.indexrelid and c.contype in ('p', 'u', 'x'))
     union all select r.object, 'columns ' || left(md5(string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
         || case when a.attnotnull then ' not null' else '' end, ', ' order by a.attname)), 8)
       from relations r join pg_attribute a on a.attrelid = r.oid where a.attnum > 0 and not a.attisdropped and r.relkind <> 'S' group by r.object
     union all select object, 'body ' || left(md5(concat_ws(' ', prosrc, provolatile, proisstrict, (select string_agg(one, ', ' order by one) from unnest(proconfig) as one))), 8) from functions
     union all select object, 'security definer' from functions where prosecdef
   ) as facts order by object collate "C", fact collate "C"`,
);

export async function readCatalog(on: Queryable): Promise<Catalog> {
  const catalog: Record<string, string[]> = {};
  for (const { object, fact } of await factsStatement(on)) catalog[object] = [...(catalog[object] ?? []), fact];
  return catalog;
}
