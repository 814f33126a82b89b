import pg from 'pg';

/** What a query uses of pg's connection: as pg's own Query, pg-cursor and pg-query-stream do. */
interface Connection {
  /** The texts that are prepared, or under way, by their names. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  readonly submittedNamedStatements: Record<string, string>;
  readonly stream: { cork(): void; uncork(): void };
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(values: {
    readonly statement: string;
    readonly values: readonly unknown[];
    readonly valueMapper: (value: unknown) => unknown;
  }): void;
  execute(portal: object): void;
  sync(): void;
}

/** How pg writes values; its types leave it out. */
const { prepareValue } = (pg as unknown as { readonly utils: { prepareValue(value: unknown): unknown } }).utils;

/**
 * A query whose answer is one text: pg's interface for queries of one's own (Submittable). pg's Query asks what its columns are,
 * each time, and makes a result of rows of them; it takes a third more of the processor's time (bench/LOG.md).
 */
export class TextQuery implements pg.Submittable {
  readonly name: string;
  readonly text: string;
  readonly #values: readonly unknown[];
  #answer: string | null | undefined;
  /** Set by pg, which waits for it. */
  callback: ((error: Error | null, answer?: string | null) => void) | undefined;

  /** @param name under which the text is prepared, or '' */
  constructor(name: string, text: string, values: readonly unknown[]) {
    this.name = name;
    this.text = text;
    this.#values = values;
  }

  submit(connection: unknown): Error | null {
    const { parsedStatements, submittedNamedStatements, stream } = connection as Connection;
    const { name, text } = this;
    const known = parsedStatements[name] ?? submittedNamedStatements[name];
    if (known !== undefined && known !== text) return new Error(`${name} is the name of another statement`);
    stream.cork();
    try {
      this.#send(connection as Connection, known !== undefined);
    } finally {
      stream.uncork();
    }
    return null;
  }

  #send(connection: Connection, isKnown: boolean): void {
    const { name, text } = this;
    if (!isKnown) {
      connection.parse({ name, text });
      if (name !== '') connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values: this.#values, valueMapper: (value) => prepareValue(value) });
    connection.execute({});
    connection.sync();
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#answer = fields[0];
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    if (this.#answer === undefined) this.callback?.(new Error('a text was asked for, and no row came'));
    else this.callback?.(null, this.#answer);
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }
}

/** Asks a pool for the one text that a statement answers. */
export function askText(pool: pg.Pool, query: TextQuery): Promise<string> {
  return new Promise((resolve, reject) => {
    // Typed for queries that stream, which pg answers at once.
    const ask = pool.query.bind(pool) as (
      query: TextQuery,
      done: (error: Error | null, answer?: string) => void,
    ) => void;
    ask(query, (error, answer) => {
      if (error) reject(error);
      else if (typeof answer === 'string') resolve(answer);
      else reject(new Error('a text was asked for, and null came'));
    });
  });
}
