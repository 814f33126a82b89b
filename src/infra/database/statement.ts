import type pg from 'pg';
import { fieldName, rowFromSnapshot, type SnapshotRows } from './rows.ts';

/** Anything that runs a query: the pool, or one of its clients. */
export type Queryable = Pick<pg.Pool, 'query'>;

/** A prepared statement. Call it with the values of its parameters to get the rows. */
export type Statement<Row> = (on: Queryable, ...values: readonly unknown[]) => Promise<Row[]>;

/** A row with field names in camel case. The compiler rejects names with an underscore, such as column names. */
export type CamelCased<Row> = { [Field in keyof Row]: Field extends `${string}_${string}` ? never : Row[Field] };

type Noun = keyof SnapshotRows;
type NounOf<T> = {
  [N in Noun]: SnapshotRows[N] extends T ? (T extends SnapshotRows[N] ? N : never) : never;
}[Noun];
/** The fields that hold a whole row as JSON, each with its model. Derived from `Row`, so that none is forgotten. */
type NounsIn<Row> = {
  readonly [Field in keyof Row as [NounOf<NonNullable<Row[Field]>>] extends [never] ? never : Field]: NounOf<
    NonNullable<Row[Field]>
  >;
};

/** The argument `nouns`, which is required only if a column holds a whole row as JSON. */
export type NounsArgument<Row> = keyof NounsIn<Row> extends never ? [] : [nouns: NounsIn<Row>];

const texts = new Map<string, string>();

/** Returns each statement's SQL, by name. A test compares these statements with docs/prisma.md. */
export function statementTexts(): ReadonlyMap<string, string> {
  return texts;
}

/**
 * Creates a prepared statement. Its rows have field names in camel case: the column `due_at` is the field `dueAt`. If a
 * column holds a whole row as JSON (`to_json`, `account_snapshot`), `nouns` gives its model, and the field is that row.
 * @throws Error if another statement has the same name, because a connection could prepare only one of them
 */
export function statement<Row extends CamelCased<Row>>(
  name: string,
  text: string,
  ...[nouns]: NounsArgument<Row>
): Statement<Row> {
  if ((texts.get(name) ?? text) !== text) throw new Error(`two statements are named ${name}`);
  texts.set(name, text);
  const nounOf = new Map<string, Noun>(Object.entries(nouns ?? {}));
  return async (on, ...values) => {
    const { fields, rows } = await on.query<unknown[]>({ name, text, values: [...values], rowMode: 'array' });
    const columns = fields.map((column) => {
      const field = fieldName(column.name);
      return { field, noun: nounOf.get(field) };
    });
    return rows.map((row) => rowOf<Row>(columns, row));
  };
}

/** Builds a row from its values. The row has the type that the statement declares, which is not checked. */
function rowOf<Row>(columns: readonly { field: string; noun: Noun | undefined }[], values: readonly unknown[]): Row {
  const row: Record<string, unknown> = {};
  for (const [position, { field, noun }] of columns.entries()) {
    const value = values[position];
    // A column with a whole row contains JSON.
    row[field] = noun && value !== null ? rowFromSnapshot(noun, value as object) : value;
  }
  return row as Row;
}
