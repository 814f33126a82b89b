import type { Command } from 'commander';
import { statement } from '../database/statement.ts';
import { type Answer, tableOf } from './answer.ts';
import { type Tools, withDatabase } from './command-line.ts';

/** Adds the commands about the partitions of tables (decision 89). */
export function addPartitions(program: Command): void {
  const partitions = program
    .command('partitions')
    .description('the partitions of the tables that are partitioned by time');
  partitions
    .command('list')
    .description('list the partitions with their times, rows and sizes, and when each will be dropped')
    .action(withDatabase(list));
}

const listStatement = statement<{
  table: string;
  partition: string;
  from: Date | null;
  until: Date | null;
  dropped: Date | null;
  rows: number | null;
  bytes: string;
  size: string;
}>(
  'list_partitions',
  `select p.table_name as "table", p.name as partition, p.starts as "from", p.ends as until, p.ends + t.retention as dropped,
     -- As Postgres has counted last; unknown before that.
     nullif(c.reltuples, -1)::float8 as rows, s.bytes::text, pg_size_pretty(s.bytes) as size
   from partitions() p join partitioned_tables() t on t.name = p.table_name join pg_class c on c.oid = p.relation
   cross join lateral (select pg_total_relation_size(p.relation) as bytes) s
   order by p.table_name, p.is_default, p.starts nulls first`,
);

async function list({ database }: Tools): Promise<Answer> {
  const rows = await listStatement(database.pool);
  const day = (time: Date | null) => time?.toISOString().slice(0, 10) ?? '';
  return {
    data: rows.map(({ size: _, bytes, ...row }) => ({ ...row, bytes: Number(bytes) })),
    lines: tableOf(
      rows.map(({ bytes: _, from, until, dropped, rows: count, ...row }) => ({
        ...row,
        from: day(from),
        until: day(until),
        dropped: day(dropped),
        rows: count ?? '',
      })),
      'No table is partitioned.',
    ),
  };
}
