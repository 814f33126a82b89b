import { AsyncLocalStorage } from 'node:async_hooks';

// Decides where the reads of the current request run: on a replica, if there are any (database/replicas).

/** How a statement is planned: each time for its values, once for all values, or (undefined) as Postgres decides. */
export type Planning = 'anew' | 'once' | undefined;

/** A composed statement whose result is a single text. */
export interface TextRead {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly planning: Planning;
}

/** Runs the reads of a request, on the primary or elsewhere. */
export type Reader = (read: TextRead, onPrimary: () => Promise<string>) => Promise<string>;

const scope = new AsyncLocalStorage<Reader>();

export function withReader<T>(reader: Reader, work: () => T): T {
  return scope.run(reader, work);
}

/** Returns the reader of the running work, or undefined. */
export function currentReader(): Reader | undefined {
  return scope.getStore();
}
