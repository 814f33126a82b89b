import type pg from 'pg';

/** The tables that are partitioned by time. */
export const partitionedTables = ['idempotency_record', 'webhook_delivery', 'webhook_attempt'] as const;
type PartitionedTable = (typeof partitionedTables)[number];

/**
 * Adds a partition of the past, as one that was made then and has not left yet.
 * @param from how long ago it begins and ends, such as `40 days`
 * @returns its name
 */
export async function addPastPartition(
  owner: pg.Pool,
  table: PartitionedTable,
  { from, to }: { from: string; to: string },
): Promise<string> {
  const name = `${table}_past_${from.replaceAll(' ', '_')}`;
  const bound = (age: string) =>
    table === 'idempotency_record'
      ? `(clock_timestamp() - interval '${age}')::text`
      : `uuid_v7_from(clock_timestamp() - interval '${age}')::text`;
  const { rows } = await owner.query(`select ${bound(from)} as first, ${bound(to)} as last`);
  await owner.query(`create table partitions.${name} (like partitions.${table}_default including all)`);
  await owner.query(
    `alter table ${table} attach partition partitions.${name} for values from ('${rows[0].first}') to ('${rows[0].last}')`,
  );
  return name;
}

/** Lists the partitions of a table, oldest first. */
export async function partitionsOf(owner: pg.Pool, table: PartitionedTable): Promise<string[]> {
  const { rows } = await owner.query(
    'select name from partitions() where table_name = $1 and not is_default order by starts nulls first',
    [table],
  );
  return rows.map(({ name }) => name);
}
