import type { Logger } from 'pino';
import { type LockSession, lockSessions, nameOf, rootsOf } from '../../infra/database/blockers.ts';
import type { Database } from '../../infra/database/database.ts';

/** How many seconds somebody may keep others waiting: as long as a request waits for a lock. */
const patienceSeconds = 2;

/** Makes the check that logs who keeps others waiting for a lock: when it begins, changes, and is over. */
export function lockWatch({ pool }: Database, log: Logger, seconds = patienceSeconds): () => Promise<void> {
  let said = '';
  return async () => {
    const sessions = await lockSessions(pool);
    const roots = rootsOf(sessions).filter(({ openSeconds }) => openSeconds >= seconds);
    const now = roots.map(({ pid }) => pid).join();
    if (now === said) return;
    said = now;
    if (roots.length === 0) log.info('no session waits long for a lock any more');
    else
      log.error(
        { blockers: roots.map(nameOf), waiting: waitingFor(sessions) },
        'sessions wait for locks: `npm run ops -- blocked` shows them',
      );
  };
}

/** What is waited for, and how many wait for it: `AccessShareLock on customer: 12`. */
function waitingFor(sessions: readonly LockSession[]): string[] {
  const waiting = Map.groupBy(sessions, ({ waitsFor }) => waitsFor);
  waiting.delete(null);
  return [...waiting].map(([lock, of]) => `${lock}: ${of.length}`);
}
