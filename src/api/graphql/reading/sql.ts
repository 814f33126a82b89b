import { type FieldNode, GraphQLError, type GraphQLField, getArgumentValues } from 'graphql';
import { Binding } from '../../../infra/database/conditions.ts';
import type { Queryable } from '../../../infra/database/statement.ts';
import type { Context } from '../context.ts';
import { wrongArgument } from '../wrong-value.ts';

/** A condition on the database that must be met before a run's statement is executed. */
export interface Requirement {
  /** Identifies the requirement: equal requirements have equal keys. */
  readonly key: string;
  readonly holds: (on: Queryable) => Promise<boolean>;
  readonly refusal: () => GraphQLError;
}

export interface RunInput {
  readonly variables: Readonly<Record<string, unknown>>;
  /** The row that the field belongs to: its table's columns, as JSON. */
  readonly row?: string | undefined;
  /** The public ids to read, if they do not come from an argument. */
  readonly ids?: readonly string[] | undefined;
  /** Whether each requirement checked so far was met, by key. */
  readonly known?: ReadonlyMap<string, boolean>;
  /** Additional arguments for one field. */
  readonly given?: { readonly node: FieldNode; readonly args: Readonly<Record<string, unknown>> } | undefined;
}

/** The key that marks a JSON object as an error. No field can have this name. */
export const errorKey = '!';

/** One run of a plan, with its caller and its variables. Values become statement parameters. */
export class Run extends Binding {
  readonly context: Context;
  readonly input: RunInput;
  /** Values that are needed to complete the response, by number. */
  readonly notes: unknown[] = [];
  /** The errors in the response, where each is represented by an object with its index under `errorKey`. */
  readonly errors: GraphQLError[] = [];
  readonly unknown: Requirement[] = [];
  /** The results of `once`. In a WeakMap, they would survive V8's young-generation collections (bench/LOG.md). */
  readonly #cache = new Map<object, unknown>();

  constructor(context: Context, input: RunInput) {
    super();
    this.context = context;
    this.input = input;
  }

  get viewer() {
    return this.context.viewer;
  }

  get cursors() {
    return this.context.payments.cursors;
  }

  args(field: GraphQLField<unknown, unknown>, node: FieldNode): Readonly<Record<string, unknown>> {
    return this.once(node, () => {
      const { variables, given } = this.input;
      const args = getArgumentValues(field, node, variables);
      const wrong = wrongArgument(args);
      if (wrong) throw wrong;
      return node === given?.node ? { ...args, ...given.args } : args;
    });
  }

  /** Calls `make` once for each owner, and returns its result. */
  once<Value>(owner: object, make: () => Value): Value {
    const cached = this.#cache.get(owner);
    // All values of an owner have the same type.
    if (cached !== undefined) return cached as Value;
    const value = make();
    this.#cache.set(owner, value);
    return value;
  }

  /** Stores a value until the response is complete, and returns its number. */
  note(value: unknown): number {
    return this.notes.push(value) - 1;
  }

  /** Adds a requirement that is checked before the statement runs. If it is not met, its refusal is thrown. */
  require(requirement: Requirement): void {
    const holds = this.input.known?.get(requirement.key);
    if (holds === undefined) this.unknown.push(requirement);
    else if (!holds) throw requirement.refusal();
  }

  /** Stores an error and returns the JSON that represents it. */
  errorJson(error: GraphQLError): string {
    return `{"${errorKey}":${this.errors.push(error) - 1}}`;
  }

  refuse(error: GraphQLError): string {
    return literal(this.errorJson(error));
  }
}

/**
 * A piece of SQL: text, a function of the run, a part, a concatenation, a shared query, or a scope. A shared query
 * stands for a table in a FROM clause. A scope is an expression within which Postgres runs identical shared queries
 * only once.
 */
export type Piece = string | ((run: Run) => string | Sql) | Part | Concatenation | Shared | { readonly scope: Sql };

interface Shared {
  readonly shared: Sql;
}

/** SQL in as few pieces as possible. */
export type Sql = readonly Piece[];

let lastPart = 0;

/** SQL that is fixed when the plan is made. Each run includes or omits it as a whole. */
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

/**
 * An expression that concatenates known text and the text of expressions. Within a longer concatenation, its parts are
 * inlined, which saves Postgres about a tenth of the time that a list takes (bench/LOG.md).
 */
export class Concatenation {
  readonly parts: readonly (string | Sql)[];
  readonly #write: () => Sql;
  #expression: Sql | undefined;

  /** @param write writes the expression for use outside a longer concatenation */
  constructor(parts: readonly (string | Sql)[], write: () => Sql) {
    this.parts = parts;
    this.#write = write;
  }

  get expression(): Sql {
    this.#expression ??= this.#write();
    return this.#expression;
  }
}

/** Writes concatenations as expressions. */
const written = (sql: Sql): Sql =>
  sql.flatMap((piece) => (piece instanceof Concatenation ? piece.expression : [piece]));

export const isShared = (piece: Piece): piece is Shared => typeof piece === 'object' && 'shared' in piece;

/** Creates a scope from an expression, if it contains shared queries that are not already in an inner scope. */
export function inScope(expression: Sql): Sql {
  const hasShared = (sql: Sql): boolean =>
    written(sql).some((piece) => isShared(piece) || (piece instanceof Part && hasShared(piece.sql)));
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
    else pieces.push(...written(Array.isArray(value) ? (value as Sql) : [value as Piece]));
  }
  return mergeText(pieces);
}

export function joinSql(parts: readonly Sql[], separator: string): Sql {
  return mergeText(parts.flatMap((part, at) => (at === 0 ? written(part) : [separator, ...written(part)])));
}

/** Writes SQL that has no parts as text for a given run. */
export function textOfRun(pieces: Sql, run: Run): string {
  const text = (piece: Piece): string => {
    if (typeof piece === 'string') return piece;
    if (typeof piece !== 'function') throw new Error('SQL that a run turns into text must have no parts');
    const made = piece(run);
    return typeof made === 'string' ? made : textOfRun(made, run);
  };
  return pieces.map(text).join('');
}

/** Joins adjacent texts, and omits empty ones. */
function mergeText<Other>(pieces: readonly (string | Other)[]): (string | Other)[] {
  const result: (string | Other)[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') result[result.length - 1] = last + piece;
    else if (piece !== '') result.push(piece);
  }
  return result;
}

/** The maximum number of cached SQL strings per statement, which differ in paging order and in the arguments given. */
const maxTexts = 8;

/**
 * A plan's statement. The few parts of its text that differ between runs serve as the key in a cache of complete
 * SQL strings. database.ts finds the prepared statement of a cached string immediately.
 */
export class PlanStatement {
  readonly #sql: Sql;
  readonly #texts = new Map<string, string>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Returns the statement's text for a run, and binds the run's values. */
  textFor(run: Run): string {
    const draft = new StatementDraft(run);
    draft.add(this.#sql);
    const cached = this.#texts.get(draft.key);
    if (cached !== undefined) return cached;
    const text = draft.texts.join('');
    if (this.#texts.size < maxTexts) this.#texts.set(draft.key, text);
    return text;
  }
}

interface SharedText {
  readonly text: string;
  /** Returns the text with values in place of parameters, which is the same for identical queries. */
  readonly meaning: () => string;
  /** The indexes of the elements of `texts` that read the query. */
  places: readonly number[];
}

class StatementDraft {
  /** Everything in the text that depends on the run. A statement's text is the same for every run with the same key. */
  key = '';
  readonly texts: string[] = [];
  readonly #run: Run;
  #shared: SharedText[] = [];

  constructor(run: Run) {
    this.#run = run;
  }

  add(sql: Sql): void {
    for (const piece of sql) {
      if (typeof piece === 'string') this.texts.push(piece);
      else this.#addPiece(piece);
    }
  }

  #addPiece(piece: Exclude<Piece, string>): void {
    if (typeof piece === 'function') this.#addRunText(piece(this.#run));
    else if (piece instanceof Part) this.#addPart(piece);
    else if (piece instanceof Concatenation) this.add(piece.expression);
    else if (isShared(piece)) this.#addShared(piece.shared);
    else this.#addScope(piece.scope);
  }

  /** Adds text that depends on the run, and therefore belongs to the key. */
  #addRunText(sqlOfRun: string | Sql): void {
    for (const piece of typeof sqlOfRun === 'string' ? [sqlOfRun] : sqlOfRun) {
      if (typeof piece === 'string') {
        // The length prefix makes the key unambiguous.
        this.key += `${piece.length}:${piece}`;
        this.texts.push(piece);
      } else this.#addPiece(piece);
    }
  }

  #addScope(scope: Sql): void {
    const around = this.#shared;
    const shared: SharedText[] = [];
    this.#shared = shared;
    try {
      const start = this.texts.push('') - 1;
      this.add(scope);
      const withQueries: string[] = [];
      for (const { text, places } of shared) {
        const name = `q${withQueries.length}`;
        if (places.length > 1) withQueries.push(`${name} as materialized (${text})`);
        for (const place of places) this.texts[place] = places.length > 1 ? name : `(${text})`;
      }
      if (withQueries.length === 0) return;
      this.texts[start] = `(with ${withQueries.join(', ')} select `;
      this.texts.push(')');
    } finally {
      this.#shared = around;
    }
  }

  #addShared(query: Sql): void {
    const run = this.#run;
    const start = this.texts.length;
    const bound = run.values.length;
    run.writeApart(() => this.add(query));
    const text = this.texts.splice(start).join('');
    // Computed lazily, because most statements have a single shared query and never need it.
    const meaning = () =>
      text.replaceAll(/\$(\d+)/g, (_parameter, number) => valueText(run.values[Number(number) - 1]));
    const same = this.#shared.findIndex((one) => one.meaning() === meaning());
    this.key += `@${same};`;
    const known = this.#shared[same];
    if (known) {
      run.values.length = bound;
      known.places = [...known.places, start];
    } else this.#shared.push({ text, meaning, places: [start] });
    this.texts.push('');
  }

  #addPart({ sql, isGuarded, number }: Part): void {
    const { length } = this.texts;
    const { length: sharedBefore } = this.#shared;
    const { key } = this;
    const run = this.#run;
    const bound = run.values.length;
    this.key += `#${number};`;
    try {
      this.add(sql);
    } catch (error) {
      if (!isGuarded || !(error instanceof GraphQLError)) throw error;
      this.texts.length = length;
      this.key = key;
      this.#shared.length = sharedBefore;
      for (const shared of this.#shared) shared.places = shared.places.filter((place) => place < length);
      // Postgres refuses parameters that the text does not use.
      run.values.length = bound;
      this.#addRunText(run.refuse(error));
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

/** The maximum number of arguments in one call to `concat`. Postgres accepts at most 100. */
const maxArguments = 90;

/**
 * Concatenates parts of JSON with `concat`, because `||` would copy at each step. A part is known text, or an
 * expression whose value is JSON as text and never null.
 */
export function concatenate(parts: readonly (string | Sql)[]): Sql {
  const all = mergeText(parts.flatMap((part) => (typeof part === 'string' ? [part] : partsOf(part))));
  return [new Concatenation(all, () => concat(all.map((part) => (typeof part === 'string' ? [literal(part)] : part))))];
}

function partsOf(expression: Sql): readonly (string | Sql)[] {
  const [piece, ...others] = expression;
  return piece instanceof Concatenation && others.length === 0 ? piece.parts : [expression];
}

function concat(pieces: readonly Sql[]): Sql {
  const [first = [], ...others] = pieces;
  if (others.length === 0) return first;
  const groups: Sql[] = [];
  for (let from = 0; from < pieces.length; from += maxArguments) {
    groups.push(sql`concat(${joinSql(pieces.slice(from, from + maxArguments), ', ')})`);
  }
  return concat(groups);
}

/** Writes the JSON for a value that needs no escaping, such as an id, digits or an enum value. */
export const quoted = (expression: string, prefix = ''): Sql => [
  // Used on its own, the expression is null if the value is null.
  new Concatenation([`"${prefix}`, [expression], '"'], () => [`'"${prefix}' || ${expression} || '"'`]),
];
