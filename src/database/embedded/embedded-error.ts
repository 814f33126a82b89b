/**
 * Says why the embedded Postgres cannot be used and what to do about it. The message is for the person who started us,
 * who needs no stack.
 */
export class EmbeddedPostgresError extends Error {
  /** What the failed program said, without the moments and process ids that differ from one try to the next. */
  readonly lastWords: readonly string[];

  constructor(message: string, options: { readonly cause?: unknown; readonly lastWords?: readonly string[] } = {}) {
    super(message, { cause: options.cause });
    this.name = 'EmbeddedPostgresError';
    this.lastWords = options.lastWords ?? [];
  }
}
