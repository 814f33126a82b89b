import { AsyncResource } from 'node:async_hooks';
import type pg from 'pg';
import { beginStatement, hasSpan } from '../../instruments/spans.ts';
import { platformStatementNames } from './platform-statement.ts';

/** Statements of no request: those that identify the caller, and those of payments, which requests may share. */
const ofNoRequest: ReadonlySet<string | undefined> = new Set([
  'api_token_by_client_id',
  'api_token_used',
  'client_token',
  'commit_batches',
  ...platformStatementNames,
]);

type Done = (error: unknown, result?: unknown) => void;

/** What `pg.Client.query` takes first. */
interface Query {
  readonly name?: string;
  readonly text: string;
  readonly submit?: unknown;
  callback?: Done | undefined;
}

/** What `pg.Pool.connect` calls. */
type Connected = Parameters<pg.Pool['connect']>[0];

/**
 * Makes a callback run in the current span, if there is one. Otherwise the call that releases a connection, and so starts the
 * next waiting one, would be taken for the sender of its statements.
 */
export function inCurrentTrace(connected: Connected): Connected {
  return hasSpan() ? AsyncResource.bind(connected) : connected;
}

/** Runs a query of a client, and records its statement, its time and its rows. Takes what `pg.Client.query` does. */
export function traceQuery(given: unknown[], run: (given: unknown[]) => unknown): unknown {
  const query: Query = typeof given[0] === 'string' ? { text: given[0] } : (given[0] as Query);
  if (ofNoRequest.has(query.name)) return run(given);
  const end = beginStatement(query.name, query.text);
  if (!end) return run(given);
  const ended =
    (done?: Done): Done =>
    (error, result) => {
      end(error, rowsOf(result));
      done?.(error, result);
    };
  const at = given.findIndex((value) => typeof value === 'function');
  if (at >= 0) return run(given.with(at, ended(given[at] as Done)));
  if (query.submit) {
    query.callback = ended(query.callback);
    return run(given);
  }
  // Without a callback and without its own protocol, a query makes a promise.
  const running = run(given) as Promise<unknown>;
  running.then((result) => end(undefined, rowsOf(result)), end);
  return running;
}

function rowsOf(result: unknown): number | null {
  const count = result && typeof result === 'object' && 'rowCount' in result ? result.rowCount : null;
  return typeof count === 'number' ? count : null;
}
