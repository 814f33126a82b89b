import { setTimeout as delay } from 'node:timers/promises';

/**
 * What Postgres says when a command lost a race and did nothing: serialization failure, deadlock, and a row that
 * another made first (run again, the command sees that row and can say what it collides with).
 */
const lostRace = new Set(['40001', '40P01', '23505']);

/** The SQLSTATE of an error from Postgres, or undefined. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The constraint that a statement broke, or undefined. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof Error && 'constraint' in error && typeof error.constraint === 'string'
    ? error.constraint
    : undefined;
}

/**
 * Whether Postgres says that a statement failed and the connection lives on: then its transaction did nothing. When the
 * connection ends instead, nobody knows.
 */
export function wasRolledBack(error: unknown): boolean {
  return sqlState(error) !== undefined && error instanceof Error && 'severity' in error && error.severity === 'ERROR';
}

/** Whether no connection of the pool came free in time: nothing was asked of the database. The pool says it in words only. */
export function foundNoConnection(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect';
}

/**
 * Runs a whole command again when it lost a race with another: at most five times, after a random pause that grows to
 * 200 ms. Safe because such a command was rolled back whole; no other error is retried.
 */
export async function retryLostRaces<T>(command: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await command();
    } catch (error) {
      const state = sqlState(error);
      if (state === undefined || !lostRace.has(state) || attempt === 5) throw error;
      await delay(Math.random() * Math.min(200, 10 * 2 ** attempt));
    }
  }
}
