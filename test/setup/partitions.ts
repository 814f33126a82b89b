import type pg from 'pg';

/** The tables that are partitioned by time. */
export const partitionedTables = ['idempotency_record', 'webhook_delivery', 'webhook_attempt'] as const;
type PartitionedTable = (typeof partitionedTables)[number];

/**
 * Divides the time of tables anew: drops their partitions, empties the default ones, and makes others.
 * @param ages how long ago each of the new ones begins and the one before it ends, such as `40 days`; the last one goes on for 40 days
 * @returns their names, without that of the table
 */
export async function partitionAnew(
  owner: pg.Pool,
  tables: readonly PartitionedTable[],
  ages: readonly string[],
): Promise<string[]> {
  const { rows } = await owner.query<{ time: string; id: string }>(
    `select b.at::text as time, uuid_v7_from(b.at)::text as id
     from unnest($1::interval[]) age, lateral (select statement_timestamp() - age as at) b order by b.at`,
    [[...ages, '-40 days']],
  );
  const names = ages.map((age) => `since_${age.replaceAll(' ', '_')}`);
  for (const table of tables) {
    const key = table === 'idempotency_record' ? 'time' : 'id';
    for (const name of await partitionsOf(owner, table)) await owner.query(`drop table partitions.${name}`);
    await owner.query(`truncate partitions.${table}_default`);
    for (const [at, suffix] of names.entries()) {
      const name = `${table}_${suffix}`;
      await owner.query(
        `create table partitions.${name} (like partitions.${table}_default including all);
         alter table ${table} attach partition partitions.${name} for values from ('${rows[at]?.[key]}') to ('${rows[at + 1]?.[key]}');
         alter table partitions.${name} enable row level security`,
      );
    }
  }
  return names;
}

/** Lists the partitions of a table, oldest first. */
export async function partitionsOf(owner: pg.Pool, table: PartitionedTable): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    'select name from partitions() where table_name = $1 and not is_default order by starts nulls first',
    [table],
  );
  return rows.map(({ name }) => name);
}
