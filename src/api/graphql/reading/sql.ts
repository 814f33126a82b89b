import { type FieldNode, GraphQLError, type GraphQLField } from 'graphql';
import type { Cursors } from '../../../core/cursors.ts';
import type { Viewer } from '../../../domain/access/viewer.ts';
import type { Binding } from '../../../infra/database/conditions.ts';
import type { Queryable } from '../../../infra/database/statement.ts';

/** A condition on the database, which must hold before the statement of a run is executed. */
export interface Requirement {
  /** The requirement as text; equal requirements have equal texts. */
  readonly key: string;
  readonly holds: (on: Queryable) => Promise<boolean>;
  readonly refusal: () => GraphQLError;
}

/** One run of a plan, with its viewer and its variables. Values become parameters of the statement. */
export interface Run extends Binding {
  readonly viewer: Viewer;
  readonly cursors: Cursors;
  /** The public ids to read, if they do not come from an argument. */
  readonly ids: readonly string[];
  /** The row that the field belongs to: its table's columns, as JSON. */
  readonly row: string | undefined;
  readonly maxBytes: number;
  args(field: GraphQLField<unknown, unknown>, node: FieldNode): Readonly<Record<string, unknown>>;
  /** Returns the value that `make` returned at the first call with this owner. */
  once<Value>(owner: object, make: () => Value): Value;
  /** Stores a value until the answer is complete, and returns its number. */
  note(value: unknown): number;
  /** Adds a requirement that is checked before the statement runs. If it does not hold, the run throws its refusal. */
  require(requirement: Requirement): void;
  /** Returns the SQL for the JSON that stands for an error (finish.ts). */
  refuse(error: GraphQLError): string;
}

/** A piece of SQL: text, a function of the run, a part, a shared query that runs once in its scope, or such a scope. */
export type Piece = string | ((run: Run) => string | Sql) | Part | Shared | Scope;

/** A query that stands for a table in a FROM clause. Postgres runs identical queries of a scope once. */
interface Shared {
  readonly shared: Sql;
}

/** An expression for an object of the response. Within it, identical queries run once. */
interface Scope {
  readonly scope: Sql;
}

/** SQL in as few pieces as possible. */
export type Sql = readonly Piece[];

let lastPart = 0;

/** SQL that is fixed when the plan is made; a run includes or omits it as a whole. */
export class Part {
  readonly sql: Sql;
  /** Whether a GraphQLError within the part replaces only this part, so that the rest of the statement still runs. */
  readonly isGuarded: boolean;
  readonly number: number;

  constructor(sql: Sql, { isGuarded = false } = {}) {
    this.sql = sql;
    this.isGuarded = isGuarded;
    lastPart += 1;
    this.number = lastPart;
  }
}

export const isShared = (piece: Piece): piece is Shared => typeof piece === 'object' && 'shared' in piece;

/** Creates a scope from an expression, if it contains shared queries that are not already in an inner scope. */
export function inScope(expression: Sql): Sql {
  const hasShared = (sql: Sql): boolean =>
    sql.some((piece) => isShared(piece) || (piece instanceof Part && hasShared(piece.sql)));
  return hasShared(expression) ? [{ scope: expression }] : expression;
}

/** Builds SQL from text and pieces. Adjacent text is merged, so running a plan is mostly concatenation. */
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
  return mergeText(pieces);
}

export function joinSql(parts: readonly Sql[], separator: string): Sql {
  return mergeText(parts.flatMap((part, at) => (at === 0 ? part : [separator, ...part])));
}

/** Returns a run's text for SQL that has no parts. */
export function textOfRun(pieces: Sql, run: Run): string {
  const text = (piece: Piece): string => {
    if (typeof piece === 'string') return piece;
    if (typeof piece !== 'function') throw new Error('SQL that a run turns into text must have no parts');
    const made = piece(run);
    return typeof made === 'string' ? made : textOfRun(made, run);
  };
  return pieces.map(text).join('');
}

function mergeText(pieces: readonly Piece[]): Sql {
  const result: Piece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') result[result.length - 1] = last + piece;
    else if (piece !== '') result.push(piece);
  }
  return result;
}

/** The number of cached texts per statement. Each paging order and each set of omitted arguments has its own text. */
const maxTexts = 8;

/**
 * A plan's statement. Little of its text differs between runs, and the differences are the key to a cache of whole
 * texts. A cached text need not be concatenated again, and an identical string finds its prepared statement immediately
 * (database.ts).
 */
export class PlanStatement {
  readonly #sql: Sql;
  readonly #texts = new Map<string, string>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Returns the statement's text for a run, and binds the run's values. */
  textFor(run: Run): string {
    const draft = new StatementDraft();
    draft.add(this.#sql, run);
    const { key } = draft;
    const cached = this.#texts.get(key);
    if (cached !== undefined) return cached;
    const { text } = draft;
    if (this.#texts.size < maxTexts) this.#texts.set(key, text);
    return text;
  }
}

/** A shared query with the run's values. */
interface SharedText {
  readonly text: string;
  /** Returns the text with values instead of parameters: identical queries have identical texts. */
  readonly meaning: () => string;
  /** The indexes, among the statement's texts, of the places that read it. */
  places: readonly number[];
}

class StatementDraft {
  /** Everything in the text that depends on the run: a statement's texts with the same key are identical. */
  key = '';
  readonly #texts: string[] = [];
  #shared: SharedText[] = [];

  get text(): string {
    return this.#texts.join('');
  }

  add(sql: Sql, run: Run): void {
    for (const piece of sql) {
      if (typeof piece === 'string') this.#texts.push(piece);
      else this.#addPiece(piece, run);
    }
  }

  #addPiece(piece: Exclude<Piece, string>, run: Run): void {
    if (typeof piece === 'function') this.#addRunText(piece(run), run);
    else if (piece instanceof Part) this.#addPart(piece, run);
    else if (isShared(piece)) this.#addShared(piece, run);
    else this.#addScope(piece, run);
  }

  /** Adds text that depends on the run, and therefore belongs to the key. */
  #addRunText(sqlOfRun: string | Sql, run: Run): void {
    if (typeof sqlOfRun === 'string') {
      // The length prefix makes the key unambiguous.
      this.key += `${sqlOfRun.length}:${sqlOfRun}`;
      this.#texts.push(sqlOfRun);
      return;
    }
    for (const piece of sqlOfRun) {
      if (typeof piece === 'string') this.#addRunText(piece, run);
      else this.#addPiece(piece, run);
    }
  }

  #addScope({ scope }: Scope, run: Run): void {
    const around = this.#shared;
    const shared: SharedText[] = [];
    this.#shared = shared;
    try {
      const start = this.#texts.push('') - 1;
      this.add(scope, run);
      const withQueries: string[] = [];
      for (const { text, places } of shared) {
        const name = `q${withQueries.length}`;
        if (places.length > 1) withQueries.push(`${name} as materialized (${text})`);
        for (const place of places) this.#texts[place] = places.length > 1 ? name : `(${text})`;
      }
      if (withQueries.length === 0) return;
      this.#texts[start] = `(with ${withQueries.join(', ')} select `;
      this.#texts.push(')');
    } finally {
      this.#shared = around;
    }
  }

  #addShared({ shared: query }: Shared, run: Run): void {
    const start = this.#texts.length;
    const bound = run.values.length;
    run.writeApart(() => this.add(query, run));
    const text = this.#texts.splice(start).join('');
    // A function, because most statements have a single shared query and never need its meaning.
    const meaning = () =>
      text.replaceAll(/\$(\d+)/g, (_parameter, number) => valueText(run.values[Number(number) - 1]));
    const same = this.#shared.findIndex((one) => one.meaning() === meaning());
    this.key += `@${same};`;
    const known = this.#shared[same];
    if (known) {
      run.values.length = bound;
      known.places = [...known.places, start];
    } else this.#shared.push({ text, meaning, places: [start] });
    this.#texts.push('');
  }

  #addPart(part: Part, run: Run): void {
    const { length } = this.#texts;
    const { length: sharedBefore } = this.#shared;
    const key = this.key;
    const bound = run.values.length;
    this.key += `#${part.number};`;
    try {
      this.add(part.sql, run);
    } catch (error) {
      if (!part.isGuarded || !(error instanceof GraphQLError)) throw error;
      this.#texts.length = length;
      this.key = key;
      this.#shared.length = sharedBefore;
      for (const shared of this.#shared) shared.places = shared.places.filter((place) => place < length);
      // Postgres refuses parameters that the text does not use.
      run.values.length = bound;
      this.#addRunText(run.refuse(error), run);
    }
  }
}

function valueText(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one)) ?? '';
}

/** Quotes text as an SQL string literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The maximum number of arguments of a Postgres function. */
const maxArguments = 90;

/**
 * Writes an expression that concatenates parts of JSON (known text, or expressions whose values are JSON as text and
 * never null), with one `concat`; `||` would copy at each step.
 */
export function concatenate(parts: readonly (string | Sql)[]): Sql {
  const pieces: Sql[] = [];
  let text = '';
  const flush = () => {
    if (text !== '') pieces.push([literal(text)]);
    text = '';
  };
  for (const part of parts) {
    if (typeof part === 'string') text += part;
    else {
      flush();
      pieces.push(part);
    }
  }
  flush();
  if (pieces.length === 1) return pieces[0] ?? [];
  const groups: Sql[] = [];
  for (let from = 0; from < pieces.length; from += maxArguments) {
    groups.push(sql`concat(${joinSql(pieces.slice(from, from + maxArguments), ', ')})`);
  }
  return groups.length === 1 ? (groups[0] ?? []) : concatenate(groups);
}
