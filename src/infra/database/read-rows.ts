import { Binding } from './conditions.ts';
import type { Database } from './database.ts';
import type { Prisma } from './generated/client/client.ts';
import { listRows } from './list-rows.ts';
import { columnName, fieldsOf, rowFromFields, type SnapshotRows } from './rows.ts';

/** The conditions on each model's rows. The types are Prisma's, although conditions.ts supports only some of them. */
interface WhereInputs {
  readonly Account: Prisma.AccountWhereInput;
  readonly ClientToken: Prisma.ClientTokenWhereInput;
  readonly Customer: Prisma.CustomerWhereInput;
  readonly Quote: Prisma.QuoteWhereInput;
  readonly Transaction: Prisma.TransactionWhereInput;
}

export type Noun = keyof WhereInputs;
export type Where<N extends Noun> = WhereInputs[N] | { readonly AND: readonly Where<N>[] };

interface RowQuery<N extends Noun> {
  readonly where: Where<N>;
  readonly orderBy?: readonly Readonly<Record<string, 'asc' | 'desc'>>[];
  readonly take?: number;
}

/** Additional fields to read with each row, as SQL expressions of type json; the argument is the row's alias. */
export type Extra<More extends object> = (row: string) => { readonly [Field in keyof More]: string };

/** Reads whole rows of a model as one JSON string. This takes a quarter of the CPU time that Prisma's client needs. */
export async function readRows<N extends Noun, More extends object>(
  { readText }: Pick<Database, 'readText'>,
  noun: N,
  query: RowQuery<N>,
  extra?: Extra<More>,
): Promise<(SnapshotRows[N] & More)[]> {
  const more = Object.entries<string>(extra?.('t') ?? {}).map(([field, sql]) => `, ${sql} as "${field}"`);
  const { text, binding } = select(noun, `${fieldsOf(noun, 't')}${more.join('')}`, query);
  const json = await readText(`select coalesce(json_agg(r), '[]')::text from (${text}) r`, binding);
  const rows: (Record<string, unknown> & More)[] = JSON.parse(json);
  return rows.map((row) => rowFromFields(noun, row) as SnapshotRows[N] & More);
}

/** Returns the first row that matches, or null. */
export async function readRow<N extends Noun, More extends object>(
  database: Pick<Database, 'readText'>,
  noun: N,
  where: Where<N>,
  extra?: Extra<More>,
): Promise<(SnapshotRows[N] & More) | null> {
  const [row] = await readRows(database, noun, { where, take: 1 }, extra);
  return row ?? null;
}

export async function countRows<N extends Noun>({ readText }: Pick<Database, 'readText'>, noun: N, query: RowQuery<N>) {
  const { text, binding } = select(noun, '', query);
  return Number(await readText(`select count(*)::text from (${text}) s`, binding));
}

function select<N extends Noun>(noun: N, columns: string, { where, orderBy, take }: RowQuery<N>) {
  const binding = new Binding();
  const sorted = orderBy?.flatMap(Object.entries<'asc' | 'desc'>) ?? [];
  const orderText = sorted.map(([field, direction]) => `t.${columnName(field)} ${direction}`).join(', ');
  // The limit is a literal, not a parameter, because the planner must know that a page is short.
  const limit = take === undefined ? undefined : Math.trunc(take);
  const order = limit !== undefined &&
    sorted[0] && { columns: sorted.map(([field]) => columnName(field)), read: sorted[0][1], limit };
  const from = listRows({ model: noun, alias: 't', where, ...(order && { order }) }, binding);
  const end = `${orderText && ` order by ${orderText}`}${limit === undefined ? '' : ` limit ${limit}`}`;
  return { text: `select ${columns} from ${from}${end}`, binding };
}
