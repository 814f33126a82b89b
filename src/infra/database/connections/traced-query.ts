import { AsyncResource } from 'node:async_hooks';
import type pg from 'pg';
import { beginStatement, hasSpan } from '../../instruments/spans.ts';
import { localPlatformStatement, platformStatement } from './platform-statement.ts';

/** Statements that identify callers, set the platform, or serve several requests. None belongs to a single request. */
const ofNoRequest: ReadonlySet<string | undefined> = new Set([
  'api_token_by_client_id',
  'api_token_used',
  'client_token',
  'commit_batches',
  'text_reads',
  ...[platformStatement.name, localPlatformStatement.name],
]);

type Done = (error: unknown, result?: unknown) => void;

interface Query {
  readonly name?: string;
  readonly text: string;
  readonly submit?: unknown;
  callback?: Done | undefined;
}

export type Connected = Parameters<pg.Pool['connect']>[0];

/** Makes a callback run in the current span, not in the span of the call that released the connection. */
export function inCurrentTrace(connected: Connected): Connected {
  return hasSpan() ? AsyncResource.bind(connected) : connected;
}

/** Runs a client's query (the arguments of `pg.Client.query`), and records its statement, duration and row count. */
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
  // Without a callback or a custom protocol, a query returns a promise.
  const running = run(given) as Promise<unknown>;
  running.then((result) => end(undefined, rowsOf(result)), end);
  return running;
}

function rowsOf(result: unknown): number | null {
  const count = result && typeof result === 'object' && 'rowCount' in result ? result.rowCount : null;
  return typeof count === 'number' ? count : null;
}
