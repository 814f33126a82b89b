import type { FieldNode, GraphQLField } from 'graphql';
import type { Viewer } from '../../access/viewer.ts';
import type { Binds } from '../../database/conditions.ts';

/** What a plan is bound with when it is run: who asks, with which variables. Values become parameters of the statement. */
export interface Run extends Binds {
  readonly viewer: Viewer;
  /** The public ids that are to be read, where no argument names them. */
  readonly given: readonly string[];
  /** The arguments of a field, with the variables of this run. */
  args(field: GraphQLField<unknown, unknown>, node: FieldNode): Readonly<Record<string, unknown>>;
  /** Remembers a value for when the answer is finished, and answers its number. */
  note(value: unknown): number;
  /** Makes SQL, or, where what the caller gave is wrong, SQL that puts this error in its place (finish.ts). */
  attempt(make: () => string): string;
}

/** A piece of SQL: text, or text that is known only when the plan is run. */
export type Piece = string | ((run: Run) => string);

/** SQL in pieces, as far as possible in one. */
export type Sql = readonly Piece[];

/** Puts SQL together from text and pieces. What is text stays one string, so that running a plan is mostly concatenation. */
export function sql(strings: TemplateStringsArray, ...values: readonly (string | number | Piece | Sql)[]): Sql {
  const pieces: Piece[] = [];
  for (const [at, text] of strings.entries()) {
    pieces.push(text);
    const value = values[at];
    if (value === undefined) continue;
    if (typeof value === 'number') pieces.push(String(value));
    else if (typeof value === 'string' || typeof value === 'function') pieces.push(value);
    else pieces.push(...value);
  }
  return merged(pieces);
}

/** Lists of SQL, with something between. */
export function joined(parts: readonly Sql[], between: string): Sql {
  return merged(parts.flatMap((part, at) => (at === 0 ? part : [between, ...part])));
}

function merged(pieces: readonly Piece[]): Sql {
  const result: Piece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') result[result.length - 1] = last + piece;
    else if (piece !== '') result.push(piece);
  }
  return result;
}

/** The text of SQL in a run. */
export function textOf(pieces: Sql, run: Run): string {
  let text = '';
  for (const piece of pieces) text += typeof piece === 'string' ? piece : piece(run);
  return text;
}

/** A string as SQL writes it. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A part of JSON under construction: text that is known, or an expression whose value is JSON as text and never null. */
export type JsonPart = { readonly text: string } | { readonly of: Sql };

/** The most arguments that a function of Postgres takes. */
const mostArguments = 90;

/** An expression that puts parts of JSON together. `concat` writes them one after another; `||` would copy at each step. */
export function concatenated(parts: readonly JsonPart[]): Sql {
  const pieces: Sql[] = [];
  let text = '';
  const flush = () => {
    if (text !== '') pieces.push([literal(text)]);
    text = '';
  };
  for (const part of parts) {
    if ('text' in part) text += part.text;
    else {
      flush();
      pieces.push(part.of);
    }
  }
  flush();
  if (pieces.length === 1) return pieces[0] ?? [];
  const groups: Sql[] = [];
  for (let from = 0; from < pieces.length; from += mostArguments) {
    groups.push(sql`concat(${joined(pieces.slice(from, from + mostArguments), ', ')})`);
  }
  return groups.length === 1 ? (groups[0] ?? []) : concatenated(groups.map((of) => ({ of })));
}
