import type { ExecutionResult } from 'graphql';

type Extensions = NonNullable<ExecutionResult['extensions']>;

/**
 * An answer that the database has made whole. Over HTTP its text is sent as it is; who needs it as data reads it from there.
 */
export class TextAnswer implements ExecutionResult {
  readonly #data: string;
  /** Own and enumerable, for transports that copy an answer into a message. */
  declare readonly data: Record<string, unknown>;
  readonly extensions?: Extensions;

  /** @param data as JSON */
  constructor(data: string, extensions?: Extensions) {
    this.#data = data;
    Object.defineProperty(this, 'data', { get: () => JSON.parse(data), enumerable: true });
    if (extensions) this.extensions = extensions;
  }

  /** The whole answer, as JSON. */
  get text(): string {
    return this.extensions === undefined
      ? `{"data":${this.#data}}`
      : `{"data":${this.#data},"extensions":${JSON.stringify(this.extensions)}}`;
  }

  /** The same with more extensions. */
  with(extensions: Extensions): TextAnswer {
    return new TextAnswer(this.#data, { ...this.extensions, ...extensions });
  }
}
