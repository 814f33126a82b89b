import type pg from 'pg';
import { fieldName, rowFromSnapshot, type SnapshotRows } from './rows.ts';

/** Anything that runs a query: the pool, or one client of it. */
export type Queryable = Pick<pg.Pool, 'query'>;

/** A prepared statement: runs with its values and answers the rows. */
export type Statement<Row> = (on: Queryable, ...values: readonly unknown[]) => Promise<Row[]>;

/** A row whose fields are named as everywhere in TypeScript: the compiler refuses the name of a column. */
export type Named<Row> = { [Field in keyof Row]: Field extends `${string}_${string}` ? never : Row[Field] };

type Noun = keyof SnapshotRows;
type NounOf<T> = {
  [N in Noun]: SnapshotRows[N] extends T ? (T extends SnapshotRows[N] ? N : never) : never;
}[Noun];
/** Which fields hold a whole row as JSON, and of what noun: read off the type, so that none can be forgotten. */
type NounsIn<Row> = {
  readonly [Field in keyof Row as [NounOf<NonNullable<Row[Field]>>] extends [never] ? never : Field]: NounOf<
    NonNullable<Row[Field]>
  >;
};

/** What a statement is told beside its text: the nouns in its rows, where there are any. */
export type NounsArgument<Row> = keyof NounsIn<Row> extends never ? [] : [nouns: NounsIn<Row>];

const texts = new Map<string, string>();

/** Lists the texts of all statements that were made, by their names: docs/prisma.md is held against them. */
export function statementTexts(): ReadonlyMap<string, string> {
  return texts;
}

/**
 * Makes a prepared statement. Its rows have TypeScript's names: the column `due_at` is the field `dueAt`. Where a column
 * holds a whole row of a noun as JSON (`to_json`, `account_snapshot`), `nouns` says which, and the field is that row.
 * @param name says what the statement does
 * @throws Error when another text has the name: a connection that had prepared the one would refuse the other
 */
export function statement<Row extends Named<Row>>(
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

/** The caller says what its statement answers, and this is where it is believed. */
function rowOf<Row>(columns: readonly { field: string; noun: Noun | undefined }[], values: readonly unknown[]): Row {
  const row: Record<string, unknown> = {};
  for (const [position, { field, noun }] of columns.entries()) {
    const value = values[position];
    row[field] = noun && value !== null ? rowFromSnapshot(noun, value as object) : value;
  }
  return row as Row;
}
