/**
 * What a JSON column holds, in the type of the command that wrote it. The tables cannot say that type and nothing else
 * writes the column: this is the one place where that is taken on trust.
 */
export function trustedJson<T>(column: unknown): T {
  return column as T;
}
