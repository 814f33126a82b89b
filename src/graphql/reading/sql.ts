import { type FieldNode, GraphQLError, type GraphQLField } from 'graphql';
import type { Viewer } from '../../access/viewer.ts';
import type { Binding } from '../../database/conditions.ts';

/** What a plan is bound with when it is run: who asks, with which variables. Values become parameters of the statement. */
export interface Run extends Binding {
  readonly viewer: Viewer;
  /** The public ids that are to be read, where no argument names them. */
  readonly given: readonly string[];
  /** The row whose field is read, as the columns of its table in JSON. */
  readonly row: string | undefined;
  /** The most that the answer may have, in bytes. */
  readonly maxBytes: number;
  /** The arguments of a field, with the variables of this run. */
  args(field: GraphQLField<unknown, unknown>, node: FieldNode): Readonly<Record<string, unknown>>;
  /** Makes something for a piece of the plan, once. */
  once<Made>(owner: object, make: () => Made): Made;
  /** Remembers a value for when the answer is finished, and answers its number. */
  note(value: unknown): number;
  /** Makes SQL that puts an error of the caller's in its place (finish.ts). */
  refuse(error: GraphQLError): string;
}

/** A piece of SQL: text, what is known only when the plan is run, or a part. */
export type Piece = string | ((run: Run) => string | Sql) | Part;

/** SQL in pieces, as far as possible in one. */
export type Sql = readonly Piece[];

let lastPart = 0;

/** SQL that was put together when it was planned, and that a run takes or leaves as a whole. */
export class Part {
  readonly sql: Sql;
  /** Whether an error of the caller's within it stands in its place, and leaves the rest as it is. */
  readonly isGuarded: boolean;
  readonly number: number;

  constructor(sql: Sql, { isGuarded = false } = {}) {
    this.sql = sql;
    this.isGuarded = isGuarded;
    lastPart += 1;
    this.number = lastPart;
  }
}

/** Puts SQL together from text and pieces. What is text stays one string, so that running a plan is mostly concatenation. */
export function sql(strings: TemplateStringsArray, ...values: readonly (string | number | Piece | Sql)[]): Sql {
  const pieces: Piece[] = [];
  for (const [at, text] of strings.entries()) {
    pieces.push(text);
    const value = values[at];
    if (value === undefined) continue;
    if (typeof value === 'number') pieces.push(String(value));
    else if (Array.isArray(value)) pieces.push(...(value as Sql));
    else pieces.push(value as Piece);
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

/** How many texts of a statement are kept: what callers leave out or turn round makes another, and what they are asked by. */
const mostTexts = 8;

/**
 * A statement of a plan. Of its text little differs from one run to the next: by that the whole is found again, as one string
 * that nobody has to put together, and that is known by its name at once where it was prepared (database.ts).
 */
export class Statement {
  readonly #sql: Sql;
  readonly #texts = new Map<string, string>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The text of the statement for a run, whose values are bound meanwhile. */
  textFor(run: Run): string {
    const draft = new Draft();
    draft.add(this.#sql, run);
    const { key } = draft;
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const { text } = draft;
    if (this.#texts.size < mostTexts) this.#texts.set(key, text);
    return text;
  }
}

/** A statement's text while a run puts it together. */
class Draft {
  readonly #texts: string[] = [];
  #key = '';

  /** What the run has decided of the text, and nothing else: two texts of the same statement have the same key only if they are the same. */
  get key(): string {
    return this.#key;
  }

  get text(): string {
    return this.#texts.join('');
  }

  /** Adds SQL of the plan. */
  add(sql: Sql, run: Run): void {
    for (const piece of sql) {
      if (typeof piece === 'string') this.#texts.push(piece);
      else if (typeof piece === 'function') this.#addMade(piece(run), run);
      else this.#addPart(piece, run);
    }
  }

  /** Adds what the run has made: all its text is its decision. */
  #addMade(made: string | Sql, run: Run): void {
    if (typeof made === 'string') {
      // With its length before it, whatever is in it cannot be taken for something else.
      this.#key += `${made.length}:${made}`;
      this.#texts.push(made);
      return;
    }
    for (const piece of made) {
      if (typeof piece === 'string') this.#addMade(piece, run);
      else if (typeof piece === 'function') this.#addMade(piece(run), run);
      else this.#addPart(piece, run);
    }
  }

  #addPart(part: Part, run: Run): void {
    const { length } = this.#texts;
    const key = this.#key;
    const bound = run.values.length;
    this.#key += `#${part.number};`;
    try {
      this.add(part.sql, run);
    } catch (error) {
      if (!part.isGuarded || !(error instanceof GraphQLError)) throw error;
      this.#texts.length = length;
      this.#key = key;
      // What stands for no value may not be bound.
      run.values.length = bound;
      this.#addMade(run.refuse(error), run);
    }
  }
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
