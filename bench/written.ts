import pg from 'pg';
import { drained } from './drained.ts';
import type { Fact } from './report.ts';

interface Table {
  readonly name: string;
  /** The number of rows inserted, updated or deleted. */
  readonly versions: number;
  /** How many of the row versions needed no index entries. */
  readonly heapOnly: number;
  readonly entries: number;
}

/** Counts what was written between two WAL positions. No statistics view counts index entries, but the WAL has them. */
const countStatement = `
  with written as (
    select coalesce(i.indrelid, c.oid) as relation, r.resource_manager, r.record_type
    from pg_get_wal_records_info($1, $2) r,
      lateral regexp_match(r.block_ref, 'blkref #0: rel \\d+/\\d+/(\\d+)') m
    join pg_class c on c.relfilenode = m[1]::oid
    left join pg_index i on i.indexrelid = c.oid
    where r.resource_manager in ('Heap', 'Btree'))
  select t.relname::text as name,
    count(*) filter (where resource_manager = 'Heap' and record_type ~ '^(INSERT|UPDATE|HOT_UPDATE|DELETE)')::float8 as versions,
    count(*) filter (where record_type ~ '^HOT_UPDATE')::float8 as "heapOnly",
    count(*) filter (where resource_manager = 'Btree' and record_type ~ '^(INSERT|SPLIT)')::float8 as entries
  from written w
  join pg_class t on t.oid = w.relation
  where t.relnamespace <> 'pg_catalog'::regnamespace
  group by 1`;

/**
 * Counts, by table, the row versions and index entries that each payment writes until it has settled and its events are
 * in the feed. Requires Postgres 16 or later and a superuser login.
 * @param pay makes many payments and returns their number
 */
export async function measureWritten(what: string, url: string, pay: () => Promise<number>): Promise<Fact> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const end = async () => (await client.query('select pg_current_wal_insert_lsn()::text as lsn')).rows[0].lsn as string;
  await client.query('create extension if not exists pg_walinspect');
  await drained(url);
  const from = await end();
  const payments = await pay();
  await drained(url);
  const { rows } = await client.query<Table>(countStatement, [from, await end()]);
  await client.end();
  const each = (count: number) => (count / payments).toFixed(1).replace(/\.0$/, '');
  const parts = rows
    .filter(({ versions, entries }) => versions + entries >= payments / 10)
    .sort((one, other) => other.versions + other.entries - one.versions - one.entries)
    .map(({ name, versions, heapOnly, entries }) => {
      const hot = heapOnly >= payments / 10 ? ` (${each(heapOnly)} heap-only)` : '';
      return `${name} ${each(versions)}${hot} + ${each(entries)}`;
    });
  const sum = (of: (table: Table) => number) => each(rows.reduce((total, table) => total + of(table), 0));
  return {
    what: `row versions + index entries that each ${what} writes`,
    value: `${sum(({ versions }) => versions)} + ${sum(({ entries }) => entries)}: ${parts.join(', ')} (${payments} payments)`,
  };
}
