import { setTimeout as delay } from 'node:timers/promises';
import { sqlState } from './faults.ts';

/**
 * What Postgres says when a command lost a race and did nothing: serialization failure, deadlock, and a row that
 * another made first (run again, the command sees that row and can say what it collides with).
 */
const lostRace = new Set(['40001', '40P01', '23505']);

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
