import type pg from 'pg';
import { type Connection, type PlatformFirst, prepareValue, sendPlatform } from './platform-statement.ts';

/**
 * A query whose result is one text, by pg's interface for custom queries (Submittable). pg's Query requests the description
 * of its columns each time and builds a result of rows; it takes a third more processor time (bench/LOG.md).
 */
export class TextQuery implements pg.Submittable, PlatformFirst {
  readonly name: string;
  readonly text: string;
  platform: PlatformFirst['platform'];
  readonly values: readonly unknown[];
  #isSetting = false;
  #answer: string | null | undefined;
  /** Set by pg, which waits for the call. */
  callback: ((error: Error | null, answer?: string | null) => void) | undefined;

  /** @param name under which the text is prepared, or '' */
  constructor(name: string, text: string, values: readonly unknown[]) {
    this.name = name;
    this.text = text;
    this.values = values;
  }

  submit(connection: unknown): Error | null {
    const { parsedStatements, submittedNamedStatements, stream } = connection as Connection;
    const { name, text } = this;
    const preparedText = parsedStatements[name] ?? submittedNamedStatements[name];
    if (preparedText !== undefined && preparedText !== text)
      return new Error(`${name} is the name of another statement`);
    stream.cork();
    try {
      if (this.platform) {
        this.#isSetting = true;
        sendPlatform(connection as Connection, this.platform.id);
      }
      this.#send(connection as Connection, preparedText !== undefined);
    } finally {
      stream.uncork();
    }
    return null;
  }

  #send(connection: Connection, isKnown: boolean): void {
    const { name, text, values } = this;
    if (!isKnown) {
      connection.parse({ name, text });
      if (name !== '') connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values, valueMapper: prepareValue });
    connection.execute({});
    connection.sync();
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (!this.#isSetting) this.#answer = fields[0];
  }

  handleCommandComplete(): void {
    this.#isSetting = false;
  }

  handleReadyForQuery(): void {
    this.platform?.onSet();
    if (this.#answer === undefined) this.callback?.(new Error('a text was asked for, and no row came'));
    else this.callback?.(null, this.#answer);
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }
}

/** Runs a query on a pool and returns its text. */
export function queryText(pool: pg.Pool, query: TextQuery): Promise<string> {
  return new Promise((resolve, reject) => {
    // pg's types know no callback for custom queries.
    const submit = pool.query.bind(pool) as (
      query: TextQuery,
      done: (error: Error | null, answer?: string) => void,
    ) => void;
    submit(query, (error, answer) => {
      if (error) reject(error);
      else if (typeof answer === 'string') resolve(answer);
      else reject(new Error('a text was asked for, and null came'));
    });
  });
}
