import pg from 'pg';

/** The SQLSTATE of an error from Postgres, or undefined. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Whether Postgres says that a statement failed and the connection lives on: then its transaction did nothing. When the
 * connection ends instead, nobody knows.
 */
export function wasRolledBack(error: unknown): boolean {
  return sqlState(error) !== undefined && error instanceof Error && 'severity' in error && error.severity === 'ERROR';
}

/**
 * A transaction that may have taken effect, and whose answer is lost: its commit was sent, and the connection broke or fell
 * silent before it was answered; or it was committed, and what was to be answered could not be read.
 */
export class OutcomeUnknown extends Error {
  constructor(cause: unknown) {
    super('the answer to a transaction was lost', { cause });
    this.name = 'OutcomeUnknown';
  }
}

/**
 * What is read after a commit to answer it. An error of that must not pass for one that says that nothing has happened.
 * @throws OutcomeUnknown for whatever is thrown
 */
export async function afterCommit<T>(reading: Promise<T>): Promise<T> {
  return reading.catch((error: unknown) => {
    throw new OutcomeUnknown(error);
  });
}

/** Whether the connection of this error broke or fell silent, so that nothing more is to be asked of it. */
export function isSilent(error: unknown): boolean {
  return error instanceof OutcomeUnknown || (isDatabaseFault(error) && !wasRolledBack(error));
}

/** Whether an answer did not come in time: a connection may look alive and reach nobody (a firewall forgot it). */
export function timedOut(error: unknown): boolean {
  const cause = error instanceof OutcomeUnknown ? error.cause : error;
  return cause instanceof Error && cause.message === 'Query read timeout';
}

/** SQLSTATEs, or whole classes of them, by which Postgres says that it cannot do now what it could do another time. */
const passing = [
  '08', // connection exceptions
  '25006', // read only: a standby, or a primary that is being replaced
  '25P03', // idle in transaction for too long
  '40', // lost to another transaction, again and again
  '53', // out of disk, memory or connections
  '55P03', // a lock was not to be had in time
  '57014', // cancelled: it took too long
  '57P', // shutting down, starting up, crashed
  '58', // the system below it failed: disk, files
];

/** What the system says of a connection that is not to be had, or broke. */
const broken = new Set([
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** What pg and its pool say in words only. */
const words =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error|Client was closed and is not queryable|Cannot use a pool after calling end)/;

/** Prisma's codes for the same (https://www.prisma.io/docs/orm/reference/error-reference). */
const prismaCodes = new Set(['P1001', 'P1002', 'P1008', 'P1011', 'P1017', 'P1018', 'P2024', 'P2028', 'P2034', 'P2037']);

/**
 * Whether the database could not be reached, had too much to do, or could not write: the same request may succeed another time.
 * Says nothing about whether it took effect (see `OutcomeUnknown`). Prisma hides what its driver said in its own errors.
 */
export function isDatabaseFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = sqlState(error);
  if (code !== undefined && broken.has(code)) return true;
  if (error instanceof pg.DatabaseError) return isPassing(code);
  if (words.test(error.message)) return true;
  if (error.name.startsWith('Prisma') && code !== undefined && prismaCodes.has(code)) return true;
  return isDriverFault(driverCause(error)) || (error.cause !== error && isDatabaseFault(error.cause));
}

function isPassing(state: string | undefined): boolean {
  return state !== undefined && passing.some((prefix) => state.startsWith(prefix));
}

interface DriverCause {
  readonly kind?: unknown;
  readonly code?: unknown;
  readonly originalCode?: unknown;
}

/** What adapter-pg made of its driver's error: on the error itself, or in the `meta` of Prisma's. */
function driverCause(error: Error): DriverCause | undefined {
  const { meta } = error as { readonly meta?: { readonly driverAdapterError?: { readonly cause?: unknown } } };
  const cause = meta?.driverAdapterError?.cause ?? error.cause;
  return typeof cause === 'object' && cause !== null && 'kind' in cause ? cause : undefined;
}

const driverKinds: ReadonlySet<unknown> = new Set([
  'ConnectionClosed',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TooManyConnections',
  'TransactionWriteConflict',
]);

function isDriverFault(cause: DriverCause | undefined): boolean {
  if (!cause) return false;
  return driverKinds.has(cause.kind) || [cause.originalCode, cause.code].some((code) => isPassing(textOf(code)));
}

function textOf(code: unknown): string | undefined {
  return typeof code === 'string' ? code : undefined;
}
