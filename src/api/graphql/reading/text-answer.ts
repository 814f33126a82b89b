import type { ExecutionResult } from 'graphql';

type Extensions = NonNullable<ExecutionResult['extensions']>;

/** An answer that the database has written whole: its text is sent as it is, and parsed only where it is needed as data. */
export class TextAnswer {
  readonly #data: string;
  readonly #extensions: Extensions | undefined;

  /** @param data as JSON */
  constructor(data: string, extensions?: Extensions) {
    this.#data = data;
    this.#extensions = extensions;
  }

  /** Returns the whole answer, as JSON. */
  get text(): string {
    return this.#extensions === undefined
      ? `{"data":${this.#data}}`
      : `{"data":${this.#data},"extensions":${JSON.stringify(this.#extensions)}}`;
  }

  /** Returns the whole answer, as data. */
  get result(): ExecutionResult {
    return { data: JSON.parse(this.#data), ...(this.#extensions && { extensions: this.#extensions }) };
  }

  /** Returns the same answer with extensions. */
  with(extensions: Extensions): TextAnswer {
    return new TextAnswer(this.#data, extensions);
  }
}
