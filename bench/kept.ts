import pg from 'pg';
import { drained } from './drained.ts';
import type { Fact } from './report.ts';

/** Tables that do not grow with the number of payments, most of them because old rows are deleted. */
const leaving = ['outbox', 'idempotency_record', 'webhook_delivery', 'webhook_attempt', 'api_token', 'client_token'];

interface Table {
  readonly name: string;
  readonly rows: number;
  readonly indexes: number;
}

/** Returns the sizes of all tables not in `leaving`, and of their indexes, after a vacuum has freed the dead rows. */
async function sizesOf(url: string): Promise<Map<string, Table>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('vacuum');
  const { rows } = await client.query<Table>(
    `select c.relname::text as name, pg_table_size(c.oid)::float8 as rows, pg_indexes_size(c.oid)::float8 as indexes
     from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> all ($1)`,
    [leaving],
  );
  await client.end();
  return new Map(rows.map((table) => [table.name, table]));
}

/**
 * Measures the bytes that the database stores permanently for each payment: the growth of the tables and their indexes
 * after many payments have been made and settled. Tables whose rows are deleted later do not count.
 * @param pay makes many payments and returns their number
 */
export async function measureKept(what: string, url: string, pay: () => Promise<number>): Promise<Fact> {
  // First use up the free space that earlier runs left in the tables.
  await pay();
  await drained(url);
  const before = await sizesOf(url);
  const payments = await pay();
  await drained(url);
  const after = await sizesOf(url);
  const grown = [...after.values()].map(({ name, rows, indexes }) => ({
    name,
    rows: (rows - (before.get(name)?.rows ?? 0)) / payments,
    indexes: (indexes - (before.get(name)?.indexes ?? 0)) / payments,
  }));
  const kB = (bytes: number) => (bytes / 1000).toFixed(2);
  const parts = grown
    .filter(({ rows, indexes }) => rows + indexes >= 10)
    .sort((one, other) => other.rows + other.indexes - one.rows - one.indexes)
    .map(({ name, rows, indexes }) => `${name} ${kB(rows)} + ${kB(indexes)}`);
  const all = grown.reduce((sum, { rows, indexes }) => sum + rows + indexes, 0);
  return {
    what: `kB that each ${what} stores permanently (rows + indexes)`,
    value: `${kB(all)}: ${parts.join(', ')} (${payments} payments)`,
  };
}
