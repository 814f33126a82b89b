import { Argument, type Command } from 'commander';
import { recordAct } from '../access/operator-acts.ts';
import { statement } from '../database/statement.ts';
import { inTransaction } from '../database/transaction.ts';
import { CommandError } from '../print-error.ts';
import { type Answer, tableOf } from './answer.ts';
import { type Tools, withDatabase } from './command-line.ts';
import { actOf, operatorOf, type Said } from './operator.ts';

/** Adds the commands about the partitions of tables (decision 89). */
export function addPartitions(program: Command): void {
  const partitions = program
    .command('partitions')
    .description('the partitions of the tables that are partitioned by time');
  partitions
    .command('list')
    .description(
      'list the partitions with their times, rows and sizes, when each will be dropped, and those that are archived',
    )
    .action(withDatabase(list));
  actOf(
    partitions
      .command('archive')
      .description(
        'say what becomes of partitions past their retention: left in the schema archive (on), or dropped (off)',
      )
      .addArgument(new Argument('<on or off>').choices(['on', 'off'])),
  ).action(withDatabase(archive));
  actOf(
    partitions
      .command('drop-archived')
      .description('drop a partition of the schema archive, after you have dumped it: nothing brings it back')
      .argument('<partition>', 'its name, as partitions list shows it'),
  ).action(withDatabase(dropArchived));
}

const listStatement = statement<{
  table: string;
  partition: string;
  from: Date | null;
  until: Date | null;
  dropped: Date | null;
  archived: Date | null;
  rows: number | null;
  bytes: string;
  size: string;
}>(
  'list_partitions',
  `select p."table", p.partition, p."from", p.until, p.dropped, p.archived,
     -- As Postgres has counted last; unknown before that.
     nullif(c.reltuples, -1)::float8 as rows, s.bytes::text, pg_size_pretty(s.bytes) as size
   from (
     select p.table_name as "table", p.name as partition, p.relation, p.starts as "from", p.ends as until,
       case when not a.archives then p.ends + t.retention end as dropped,
       case when a.archives then p.ends + t.retention end as archived, p.is_default
     from partitions() p join partitioned_tables() t on t.name = p.table_name cross join partition_policy a
     union all
     select coalesce(a.table_name, '-'), c.relname, c.oid, a.starts_at, a.ends_at, null, a.archived_at, false
     from pg_class c left join archived_partition a on a.name = c.relname
     where c.relnamespace = 'archive'::regnamespace and c.relkind = 'r'
   ) p join pg_class c on c.oid = p.relation
   cross join lateral (select pg_total_relation_size(p.relation) as bytes) s
   order by p."table", p.is_default, p."from" nulls first, p.until nulls first`,
);

async function list({ database }: Tools): Promise<Answer> {
  const rows = await listStatement(database.pool);
  const day = (time: Date | null) => time?.toISOString().slice(0, 10) ?? '';
  return {
    data: rows.map(({ size: _, bytes, ...row }) => ({ ...row, bytes: Number(bytes) })),
    lines: tableOf(
      rows.map(({ bytes: _, from, until, dropped, archived, rows: count, ...row }) => ({
        ...row,
        from: day(from),
        until: day(until),
        dropped: day(dropped),
        archived: day(archived),
        rows: count ?? '',
      })),
      'No table is partitioned.',
    ),
  };
}

const policyStatement = statement<{ before: boolean }>(
  'set_partition_policy',
  `update partition_policy p set archives = $1 from (select archives from partition_policy for update) b
   returning b.archives as before`,
);

async function archive({ database }: Tools, choice: string, said: Said): Promise<Answer> {
  const archives = choice === 'on';
  await inTransaction(database, async (transaction) => {
    const [row] = await policyStatement(transaction.client, archives);
    const states = { before: { archives: row?.before ?? false }, after: { archives } };
    await recordAct(transaction, operatorOf('partitions archive', said), { platformId: null, ...states });
  });
  const what = archives ? 'left in the schema archive: dump and drop them' : 'dropped';
  return { data: { archives }, lines: [`Partitions past their retention are ${what}.`] };
}

const dropStatement = statement<{ dropped: boolean }>(
  'drop_archived_partition',
  'select drop_archived_partition($1) as dropped',
);

async function dropArchived({ database }: Tools, partition: string, said: Said): Promise<Answer> {
  await inTransaction(database, async (transaction) => {
    const [row] = await dropStatement(transaction.client, partition);
    if (!row?.dropped) throw new CommandError(`No partition ${partition} is archived: see partitions list.`);
    const operator = operatorOf('partitions drop-archived', said);
    await recordAct(transaction, operator, { platformId: null, before: { partition } });
  });
  return { data: { partition }, lines: [`Dropped archive.${partition}.`] };
}
