/** Returns the value of a JSON column in the type of the command that alone writes it, unchecked. */
export function trustedJson<T>(column: unknown): T {
  return column as T;
}
