import pg from 'pg';

/** Reports what is wrong with the installation and what to do, for the person who started the program. */
export class OperatorError extends Error {}

/** Returns the SQLSTATE of an error from Postgres, or undefined. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Returns whether Postgres reported a failure without closing the connection. The transaction then had no effect. */
export function wasRolledBack(error: unknown): boolean {
  return sqlState(error) !== undefined && error instanceof Error && 'severity' in error && error.severity === 'ERROR';
}

/** The error for a transaction that may have taken effect: its result, or the reply to its commit, has been lost. */
export class OutcomeUnknown extends Error {
  constructor(cause: unknown) {
    super('the answer to a transaction was lost', { cause });
    this.name = 'OutcomeUnknown';
  }
}

/** Awaits a read that follows a commit. Any error becomes OutcomeUnknown. */
export async function afterCommit<T>(reading: Promise<T>): Promise<T> {
  return reading.catch((error: unknown) => {
    throw new OutcomeUnknown(error);
  });
}

/** Returns whether an error means that the connection broke or timed out, so that it can no longer be used. */
export function isConnectionLost(error: unknown): error is Error {
  return error instanceof OutcomeUnknown || (isDatabaseFault(error) && !wasRolledBack(error));
}

/** Returns whether a result did not arrive in time. The connection may be dead, for example dropped by a firewall. */
export function isAnswerTimeout(error: unknown): boolean {
  const cause = error instanceof OutcomeUnknown ? error.cause : error;
  return cause instanceof Error && cause.message === 'Query read timeout';
}

/** Returns whether an error means that the session is read-only. It remains so even if its server becomes writable. */
export function isReadOnly(error: unknown): error is Error {
  // On a standby, the function that returns the WAL's write position fails.
  const isStandby = sqlState(error) === '55000' && error instanceof pg.DatabaseError && error.file === 'xlogfuncs.c';
  return isStandby || sqlState(error) === '25006';
}

/** The SQLSTATEs of temporary failures, or prefixes of them. The same statement may succeed later. */
const transientStates = [
  '08', // connection exceptions
  '25006', // read only: a standby, or a primary that is being replaced
  '25P03', // idle in transaction for too long
  '40', // serialization failure or deadlock, even after retries
  '53', // out of disk, memory or connections
  '55P03', // lock timeout
  '57014', // canceled: it took too long
  '57P', // shutting down, starting up, crashed
  '58', // the operating system failed: disk, files
];

/** The operating system's error codes for a failed or broken connection. */
const connectionErrors = new Set([
  ...['EADDRNOTAVAIL', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND'],
  ...['ECONNABORTED', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'],
]);

/** The errors from pg and its pool that have a message but no code. */
const connectionMessages =
  /^(timeout exceeded when trying to connect|timeout expired|Connection terminated|Query read timeout|Client has encountered a connection error|Client was closed and is not queryable|Cannot use a pool after calling end)/;

/** Prisma's codes for a transaction that has ended or has exceeded its time limit. */
const prismaCodes = new Set(['P1018', 'P2028']);

/** Returns whether the database was unreachable, overloaded or read-only, so that the request may succeed later. */
export function isDatabaseFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = sqlState(error);
  if ((code !== undefined && connectionErrors.has(code)) || isTlsFault(error)) return true;
  // Nothing was sent, so the code does not matter. For example, it is ENOENT if the server's Unix socket is gone.
  if ('syscall' in error && error.syscall === 'connect') return true;
  // Postgres has ended the session or refused a new one, for whatever reason (the login, the database, a firewall).
  if (error instanceof pg.DatabaseError) {
    const isTransient = transientStates.some((prefix) => code?.startsWith(prefix));
    return isTransient || ['FATAL', 'PANIC'].includes(error.severity ?? '') || isReadOnly(error);
  }
  if (connectionMessages.test(error.message) || error.name === 'TooLate') return true;
  if (error.name.startsWith('Prisma') && code !== undefined && prismaCodes.has(code)) return true;
  return error.cause !== error && isDatabaseFault(error.cause);
}

/** Returns whether a server's certificate was refused or the server does not support TLS. */
export function isTlsFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const codes = /^(CERT_|DEPTH_ZERO_|ERR_SSL_|ERR_TLS_|HOSTNAME_MISMATCH|SELF_SIGNED_|UNABLE_TO_)/;
  return codes.test(sqlState(error) ?? '') || error.message === 'The server does not support SSL connections';
}

/** Returns whether a statement, possibly one of Prisma's, exceeded the lock timeout. */
export function isLockTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return sqlState(error) === '55P03' || (error.cause !== error && isLockTimeout(error.cause));
}

/** Returns whether a statement was waiting for a row that another transaction was writing, not for a whole table. */
export function waitedForRow(error: unknown): boolean {
  return error instanceof Error && 'where' in error && /\bwhile \w+( \w+)? (index )?tuple/.test(String(error.where));
}
