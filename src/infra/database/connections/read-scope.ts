import { AsyncLocalStorage } from 'node:async_hooks';

// The current request's reader decides whether a read runs on a replica or on the primary (database/replicas).

/** How a statement is planned: each time for its values, once for all values, or (undefined) as Postgres decides. */
export type Planning = 'anew' | 'once' | undefined;

/** A composed statement that returns a single string. */
export interface TextRead {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly planning: Planning;
}

/** Runs a request's reads, on a replica or on the primary. */
export type Reader = (read: TextRead, onPrimary: () => Promise<string>) => Promise<string>;

/** The reader of the current work. Work without a reader reads from the primary. */
export const currentReader = new AsyncLocalStorage<Reader>();
