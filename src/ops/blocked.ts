import type { Answer } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import {
  type LockSession,
  lockSessions,
  nameOf,
  nameOfPrepared,
  preparedTransactions,
  rootsOf,
} from '../infra/database/blockers.ts';
import { addCommand, type Tools } from './tools.ts';

export function addBlocked(program: Program): void {
  addCommand(program, 'blocked', show).description(
    'show which sessions are waiting for locks, which sessions hold them, since when, and what is lost if one is ended',
  );
}

async function show({ database }: Tools): Promise<Answer> {
  const sessions = await lockSessions(database.pool);
  const data = sessions.map((session) => ({ ...session, ending: endingOf(session) }));
  if (sessions.length === 0) return { data, lines: ['No session is waiting for a lock.'] };
  const waiting = sessions.filter(({ blockedBy }) => blockedBy.includes(0));
  const prepared = waiting.length > 0 ? await preparedTransactions(database.pool) : [];
  const lines = [
    ...rootsOf(sessions).flatMap((root) => branch(root, sessions, 0, new Set())),
    ...prepared.flatMap((one) => [
      nameOfPrepared(one),
      `  To end it: rollback prepared '${one.gid}'. Its changes are lost: ask its owner first.`,
    ]),
    ...waiting.flatMap((session) => branch(session, sessions, 1, new Set())),
  ];
  return { data, lines };
}

/** Returns lines about a session and the sessions that are waiting for it. Each is listed once, even in a deadlock. */
function branch(session: LockSession, all: readonly LockSession[], depth: number, shown: Set<number>): string[] {
  if (shown.has(session.pid)) return [];
  shown.add(session.pid);
  const indent = '  '.repeat(depth);
  const { waitsFor, waitSeconds } = session;
  const waits = waitsFor === null ? '' : `, has waited for ${waitsFor} for ${Math.round(waitSeconds ?? 0)} s`;
  return [
    `${indent}${nameOf(session)}${waits}`,
    ...(depth === 0 ? [`${indent}  ${wayOut(session)}`] : []),
    ...all
      .filter(({ blockedBy }) => blockedBy.includes(session.pid))
      .flatMap((waiting) => branch(waiting, all, depth + 1, shown)),
  ];
}

function wayOut(session: LockSession): string {
  return session.awaitsStandby
    ? 'Ending it does not help, since the next commit will also wait: start the standby, or remove it from synchronous_standby_names.'
    : `To end it: select pg_terminate_backend(${session.pid}). ${endingOf(session)}`;
}

/** Describes the effect of ending a session. This never harms the ledger, because transactions are atomic. */
function endingOf({ kind, application, statement }: LockSession): string {
  if (kind === 'autovacuum worker') {
    return /to prevent wraparound/.test(statement)
      ? 'Do not end it: it would start again immediately, and it prevents transaction id wraparound.'
      : 'Safe: it starts again later.';
  }
  if (kind === 'walsender') return 'A standby reconnects; a backup must be started again.';
  if (kind !== 'client backend') return 'It is a server process: leave it alone.';
  if (/ migrate \S+:\d+$/.test(application)) return 'Safe: the migration is rolled back; run it again.';
  if (/ \S+:\d+$/.test(application))
    return 'Safe: it is rolled back, and its client repeats the request with the same idempotency key.';
  if (/pg_dump|pg_restore|pg_basebackup/.test(application)) return 'The dump is lost: start it again.';
  if (/\bconcurrently\b/i.test(statement)) return 'It leaves an invalid index behind, which must be dropped.';
  return 'Its uncommitted changes are lost: if you can, ask its owner first. The ledger is not harmed.';
}
