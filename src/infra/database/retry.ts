import { setTimeout as delay } from 'node:timers/promises';
import { lostRaces } from '../instruments/instruments.ts';
import { sqlState } from './faults.ts';

/** The SQLSTATEs of a lost race: serialization failure, deadlock, unique violation (the next run sees the row). */
const lostRace = new Set(['40001', '40P01', '23505']);

/** Runs a command, and repeats it after a random pause if it lost a race and was rolled back: five runs at most. */
export async function retryLostRaces<T>(command: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await command();
    } catch (error) {
      const state = sqlState(error);
      if (state === undefined || !lostRace.has(state)) throw error;
      lostRaces.inc({ result: attempt === 5 ? 'gave_up' : 'retried' });
      if (attempt === 5) throw error;
      await delay(Math.random() * Math.min(200, 10 * 2 ** attempt));
    }
  }
}
