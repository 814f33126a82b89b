import type pg from 'pg';
import { serialize } from 'pg-protocol';
import { type Connection, type PlatformFirst, platformMessages, prepareValue } from './platform-statement.ts';

/** The end of every query: run what was bound, and end the batch. */
const executeAndSync = Buffer.concat([serialize.execute(), serialize.sync()]);

/**
 * A query whose result is one text, by pg's interface for custom queries (Submittable). pg's Query requests the description
 * of its columns each time and builds a result of rows; it takes a third more processor time (bench/LOG.md).
 */
export class TextQuery implements pg.Submittable, PlatformFirst {
  name: string;
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
    const { name, text, values } = this;
    const preparedText = parsedStatements[name] ?? submittedNamedStatements[name];
    if (preparedText !== undefined && preparedText !== text)
      return new Error(`${name} is the name of another statement`);
    // One buffer: to write several takes a twentieth of a request's processor time more (bench/LOG.md).
    const messages: Buffer[] = [];
    if (this.platform) {
      this.#isSetting = true;
      messages.push(...platformMessages(this.platform));
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
    if (!this.#isSetting) this.#answer = fields[0];
  }

  handleCommandComplete(): void {
    this.#isSetting = false;
  }

  handleReadyForQuery(): void {
    this.platform?.onSet?.();
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
