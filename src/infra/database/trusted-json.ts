/**
 * Returns the value of a JSON column in the type of the command that wrote it, unchecked. The tables cannot declare that
 * type, and no other code writes the column.
 */
export function trustedJson<T>(column: unknown): T {
  return column as T;
}
