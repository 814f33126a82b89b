/**
 * Says why the embedded Postgres cannot be used and what to do about it. The message is for the person who started the
 * program; it is printed without a stack.
 */
export class EmbeddedPostgresError extends Error {
  /** The last lines that the failed program printed, without times and process ids, which differ at each try. */
  readonly lastLines: readonly string[];

  constructor(message: string, options: { readonly cause?: unknown; readonly lastLines?: readonly string[] } = {}) {
    super(message, { cause: options.cause });
    this.name = 'EmbeddedPostgresError';
    this.lastLines = options.lastLines ?? [];
  }
}
