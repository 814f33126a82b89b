import { AsyncLocalStorage } from 'node:async_hooks';
import { context, propagation } from '@opentelemetry/api';
import { currentRequest } from './request-facts.ts';

// Comments that tell Postgres' log and `pg_stat_activity` for which request a statement runs, as sqlcommenter writes them. Off
// until main.ts switches them on: a commented statement cannot be prepared for others.

let isOn = false;
/** The requests that share the statements which are sent now. */
const sharing = new AsyncLocalStorage<readonly string[]>();

/** Makes statements have comments. */
export function switchStatementComments(on: boolean): void {
  isOn = on;
}

/** Whether statements have comments. */
export function makesStatementComments(): boolean {
  return isOn;
}

/** Runs work whose statements are sent for several requests, by their ids. */
export function forRequests<T>(requestIds: readonly string[], work: () => T): T {
  return isOn ? sharing.run(requestIds, work) : work();
}

/**
 * Returns the comment of a statement that is sent now, to be put behind its text: the ids of its requests, and its place in the
 * trace of OpenTelemetry where there is one. Empty for background work.
 */
export function statementComment(): string {
  if (!isOn) return '';
  const current = currentRequest()?.requestId;
  const requestIds = sharing.getStore() ?? (current === undefined ? [] : [current]);
  if (requestIds.length === 0) return '';
  const trace: { traceparent?: string } = {};
  propagation.inject(context.active(), trace);
  const pairs = requestIds.map((id) => pair('request_id', id));
  if (trace.traceparent !== undefined) pairs.push(pair('traceparent', trace.traceparent));
  return ` /*${pairs.join(',')}*/`;
}

/** Writes one pair. Encoded, a value of a client has neither a quote nor the end of the comment in it. */
const pair = (key: string, value: string) => `${key}='${encodeURIComponent(value).replaceAll(/[!'()*]/g, percent)}'`;
const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
