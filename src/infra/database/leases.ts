import type { Logger } from 'pino';
import type { Environment } from './generated/client/client.ts';
import { fieldName } from './rows.ts';
import { type CamelCased, type NounsArgument, type Queryable, statement } from './statement.ts';

/** A table of work that is leased to workers in any number of processes. A dead worker's lease simply expires. */
export interface LeasedTable {
  readonly table: string;
  /** The plural noun for its rows, for statement names such as `lease_account_checks`. */
  readonly rows: string;
  /** The column of its primary key besides `platform_id`, and its type. Absent if each platform has only one row. */
  readonly key?: readonly [column: string, type: 'text' | 'uuid'];
  /** The column that holds a row's due time or, while it is leased, the end of its lease: `due_at` by default. */
  readonly dueAt?: string;
}

export interface Lease {
  readonly platformId: string;
  readonly environment: Environment;
  /** The end of the lease, as the database wrote it. If the row has a different one, this worker has lost the lease. */
  leasedUntil: string;
}

/** How rows are claimed, in SQL. `l` is the leased row, and `p` its platform. */
interface Claim {
  /** The column that counts how often a row has been leased; null if there is none. Defaults to `attempts`. */
  readonly counter?: string | null;
  /** The condition of the partial index on due rows, unless the due time implies it. */
  readonly where?: string;
  /** Common table expressions; the last, `due`, selects `ctid as row`. By default, it selects the first $1 due rows. */
  readonly due?: string;
  /** The column with the end of the lease, if it is not the due-time column. */
  readonly until?: string;
  readonly reads: string;
  readonly joins?: string;
}

const platformKey = ['platform_id', 'uuid'] as const;

/** Creates the function that leases up to `limit` due rows for `leaseMs` milliseconds. */
export function leasing<Row extends Lease & CamelCased<Row>>(
  { table, rows, dueAt = 'due_at' }: LeasedTable,
  { counter = 'attempts', where = 'true', due, until = dueAt, reads, joins = '' }: Claim,
  ...nouns: NounsArgument<Row>
): (on: Queryable, limit: number, leaseMs: number) => Promise<Row[]> {
  const firstDue = `due as (
     select ctid as row from ${table} where ${where} and ${dueAt} <= clock_timestamp()
     order by ${dueAt} limit $1 for update skip locked)`;
  return statement<Row>(
    `lease_${rows}`,
    `with ${due ?? firstDue}, leased as (
     update ${table} l set ${until} = clock_ms() + $2::float8 * interval '1 millisecond'
       ${counter === null ? '' : `, ${counter} = l.${counter} + 1`}
     where l.ctid = any (array(select row from due)) returning l.*)
   select l.platform_id, p.environment, l.${until}::text as leased_until, ${reads}
   from leased l join platform p on p.id = l.platform_id ${joins}`,
    ...nouns,
  );
}

/** A new time for a leased row, in milliseconds from now: its next due time, or the new end of its lease. */
export interface Postponement {
  readonly lease: Lease;
  readonly dueInMs: number;
}

/** Creates the function that releases leased rows or renews their leases. It returns undefined for each lost lease. */
export function postponing({ table, rows, key: [key, type] = platformKey, dueAt = 'due_at' }: LeasedTable) {
  const field = fieldName(key);
  const postpone = statement<{ platformId: string; key: string; until: string }>(
    `postpone_${rows}`,
    `update ${table} l set ${dueAt} = clock_ms() + d.due_in_ms * interval '1 millisecond'
     from unnest($1::uuid[], $2::${type}[], $3::timestamptz[], $4::float8[]) as d(platform_id, key, leased_until, due_in_ms)
     where l.platform_id = d.platform_id and l.${key} = d.key and l.${dueAt} = d.leased_until
     returning l.platform_id, l.${key} as key, l.${dueAt}::text as until`,
  );
  return async (on: Queryable, postponements: readonly Postponement[]): Promise<readonly (string | undefined)[]> => {
    if (postponements.length === 0) return [];
    const keys = postponements.map(({ lease }) => Reflect.get(lease, field));
    const postponed = await postpone(
      on,
      postponements.map(({ lease }) => lease.platformId),
      keys,
      postponements.map(({ lease }) => lease.leasedUntil),
      postponements.map(({ dueInMs }) => dueInMs),
    );
    const times = new Map(postponed.map((row) => [`${row.platformId} ${row.key}`, row.until]));
    return postponements.map(({ lease }, at) => times.get(`${lease.platformId} ${keys[at]}`));
  };
}

/** Returns the SQL that selects the earliest due time of the waiting rows; it selects no row if none is waiting. */
export function firstDue({ table, dueAt = 'due_at' }: Pick<LeasedTable, 'table' | 'dueAt'>): string {
  return `select ${dueAt} as due_at from ${table} where ${dueAt} is not null order by ${dueAt} limit 1`;
}

/** Creates the function that returns the milliseconds until the next row is due, or undefined if none is waiting. */
export function untilNext(leased: LeasedTable): (on: Queryable) => Promise<number | undefined> {
  const next = statement<{ waitMs: number }>(
    `next_${leased.rows}`,
    `select greatest(0, extract(epoch from due_at - clock_timestamp()) * 1000)::float8 as wait_ms
     from (${firstDue(leased)}) as first`,
  );
  return async (on) => (await next(on))[0]?.waitMs;
}

/** How long a worker in `workOnDue` may take for one row, in milliseconds: longer than a rail may take to respond. */
const workMs = 30_000;

/** Returns the delay after a failure, in milliseconds. It grows with each failure, up to an hour. */
export function retryMs(attempts: number): number {
  return Math.min(3_600_000, 500 * 2 ** attempts);
}

interface Work<Row> {
  readonly lease: (on: Queryable, limit: number, leaseMs: number) => Promise<Row[]>;
  readonly postpone: ReturnType<typeof postponing>;
  readonly work: (due: Row) => Promise<void>;
  readonly failure: string;
  readonly about: (due: Row) => object;
}

/** Leases and processes up to `limit` due rows, and returns their number. A failed row is logged and retried later. */
export async function workOnDue<Row extends Lease & { readonly attempts: number }>(
  { database: { pool }, log }: { readonly database: { readonly pool: Queryable }; readonly log: Logger },
  limit: number,
  { lease, postpone, work, failure, about }: Work<Row>,
): Promise<number> {
  const due = await lease(pool, limit, workMs);
  await Promise.all(
    due.map((one) =>
      work(one).catch(async (error: unknown) => {
        log.error({ err: error, platformId: one.platformId, ...about(one) }, `${failure}; will retry`);
        await postpone(pool, [{ lease: one, dueInMs: retryMs(one.attempts) }]);
      }),
    ),
  );
  return due.length;
}
