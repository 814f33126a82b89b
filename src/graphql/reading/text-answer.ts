import type { ExecutionResult } from 'graphql';

type Extensions = NonNullable<ExecutionResult['extensions']>;

/** An answer that the database has made whole: its text is sent as it is, and read only where somebody needs it as data. */
export class TextAnswer {
  readonly #data: string;
  readonly #extensions: Extensions | undefined;

  /** @param data as JSON */
  constructor(data: string, extensions?: Extensions) {
    this.#data = data;
    this.#extensions = extensions;
  }

  /** The whole answer, as JSON. */
  get text(): string {
    return this.#extensions === undefined
      ? `{"data":${this.#data}}`
      : `{"data":${this.#data},"extensions":${JSON.stringify(this.#extensions)}}`;
  }

  /** The whole answer, as data. */
  get result(): ExecutionResult {
    return { data: JSON.parse(this.#data), ...(this.#extensions && { extensions: this.#extensions }) };
  }

  /** The same with extensions. */
  with(extensions: Extensions): TextAnswer {
    return new TextAnswer(this.#data, extensions);
  }
}
