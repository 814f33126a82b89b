import type pg from 'pg';
import { serialize } from 'pg-protocol';
import { type Connection, type PlatformFirst, platformMessages, prepareValue } from './platform-statement.ts';
import type { TextRead } from './read-scope.ts';

/** The statement by which a standby checks whether it may run the next query of the same batch. */
const guard = { name: 'has_replayed', text: 'select has_replayed($1::pg_lsn, $2)' } as const;

/** The statement that makes Postgres plan the next query of the same batch once for all values. */
const planOnce = {
  name: 'plan_once',
  text: "select set_config('plan_cache_mode', 'force_generic_plan', true)",
} as const;

/** The position that the server must have replayed before it runs a query (database/replicas). */
export interface Replayed {
  /** A position in the log, as written by Postgres. */
  readonly lsn: string;
  readonly history: string;
}

/** Reports that a standby has not replayed the position that a query requires. */
export class ReplicaBehind extends Error {
  constructor() {
    super('the replica has not replayed the position that the read requires');
    this.name = 'ReplicaBehind';
  }
}

/** Stands for a result that the server is not allowed to return. */
const refused = Symbol('refused');
type Result = string | null | typeof refused;

/** The end of every query: execute the bound portal, and end the batch. */
const executeAndSync = Buffer.concat([serialize.execute(), serialize.sync()]);

/**
 * A query whose result is a single text, through pg's interface for custom queries: pg's own query needs a third more
 * CPU time.
 */
export class TextQuery implements pg.Submittable, PlatformFirst {
  name: string;
  text: string;
  platform: PlatformFirst['platform'];
  readonly values: readonly unknown[];
  /** Whether to plan once for any values, instead of leaving the choice to Postgres. */
  readonly isPlannedOnce: boolean;
  readonly #required: Replayed | undefined;
  /** The number of results before the query's own: of the statements for the platform and the plan, and the guard. */
  #before = 0;
  #answer: Result | undefined;
  /** Set by pg, which waits until it is called. */
  callback: ((error: Error | null, answer?: Result) => void) | undefined;

  /**
   * @param name the name under which the text is prepared, or ''
   * @param required the position that a standby must have replayed. The standby checks this itself, in the statement
   *   before the query: so the query's snapshot is newer than the check, whichever server a proxy has chosen
   */
  constructor(name: string, { text, values, planning }: TextRead, required?: Replayed) {
    this.name = name;
    this.text = text;
    this.values = values;
    this.isPlannedOnce = planning === 'once';
    this.#required = required;
  }

  submit(connection: unknown): Error | null {
    // pg submits a query on its connection.
    const { parsedStatements, submittedNamedStatements, stream } = connection as Connection;
    const { name, text, values } = this;
    const preparedText = parsedStatements[name] ?? submittedNamedStatements[name];
    if (preparedText !== undefined && preparedText !== text)
      return new Error(`${name} is the name of another statement`);
    // A single buffer: writing several would increase a request's CPU time by a twentieth (bench/LOG.md).
    const messages: Buffer[] = [];
    if (this.platform) {
      this.#before += 1;
      messages.push(...platformMessages(this.platform));
    }
    // Without a name, Postgres plans it each time; behind some poolers no statement has a name.
    if (this.isPlannedOnce && name !== '') {
      this.#before += 1;
      messages.push(...firstMessages(connection as Connection, planOnce, []));
    }
    if (this.#required) {
      this.#before += 1;
      messages.push(...firstMessages(connection as Connection, guard, [this.#required.lsn, this.#required.history]));
    }
    if (preparedText === undefined) {
      messages.push(serialize.parse({ name, text }));
      if (name !== '') submittedNamedStatements[name] = text;
    }
    messages.push(serialize.bind({ statement: name, values: [...values], valueMapper: prepareValue }), executeAndSync);
    if (stream.writable) stream.write(Buffer.concat(messages));
    return null;
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#before === 0) this.#answer ??= fields[0];
    else if (this.#before === 1 && this.#required && fields[0] !== 't') this.#answer = refused;
  }

  handleCommandComplete(): void {
    if (this.#before > 0) this.#before -= 1;
  }

  handleReadyForQuery(): void {
    this.platform?.onSet?.();
    if (this.#answer === undefined) this.callback?.(new Error('expected a text, but the query returned no row'));
    else this.callback?.(null, this.#answer);
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }
}

/** Returns the messages of a statement that precedes the query, without the end of the batch. */
function firstMessages(
  { submittedNamedStatements }: Connection,
  { name, text }: { readonly name: string; readonly text: string },
  values: string[],
): readonly Buffer[] {
  const messages = [serialize.bind({ statement: name, values, valueMapper: prepareValue }), serialize.execute()];
  if (submittedNamedStatements[name] !== undefined) return messages;
  // From here on the statement counts as prepared, since pg would take the end of its preparation for the end of the
  // query.
  submittedNamedStatements[name] = text;
  return [serialize.parse({ name, text }), ...messages];
}

/** Runs a query on a pool and returns its text. @throws ReplicaBehind */
export function queryText(pool: pg.Pool, query: TextQuery): Promise<string> {
  return new Promise((resolve, reject) => {
    // pg's types have no callback for custom queries.
    const submit = pool.query.bind(pool) as (query: TextQuery, done: TextQuery['callback']) => void;
    submit(query, (error, answer) => {
      if (error) reject(error);
      else if (typeof answer === 'string') resolve(answer);
      else if (answer === refused) reject(new ReplicaBehind());
      else reject(new Error('expected a text, but the query returned null'));
    });
  });
}
