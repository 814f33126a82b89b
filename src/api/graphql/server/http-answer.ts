import type { ExecutionResult } from 'graphql';
import { type HttpStatus, withoutStatus } from '../failure.ts';
import { TextAnswer } from '../reading/run.ts';

/** The media types of responses; the first is used if a client has no preference. */
export const jsonTypes = ['application/json', 'application/graphql-response+json'] as const;
export type JsonType = (typeof jsonTypes)[number];

/** Returns the status, headers and body of an HTTP response (GraphQL over HTTP). */
export function answerOf(answer: ExecutionResult | TextAnswer, type: JsonType) {
  const headers: Record<string, string> = { 'content-type': `${type}; charset=utf-8` };
  if (answer instanceof TextAnswer) return { status: 200, headers, body: answer.text };
  const { errors, ...rest } = answer;
  if (!errors) return { status: 200, headers, body: JSON.stringify(rest) };
  const status = statusOf(answer, type);
  return {
    status,
    headers: Object.assign(
      headers,
      status === 503 && { 'retry-after': '1' },
      ...errors.map(({ extensions }) => (extensions.http as HttpStatus | undefined)?.headers),
    ),
    body: JSON.stringify({ ...rest, errors: errors.map(withoutStatus) }),
  };
}

/**
 * Returns the status of a response with errors, as defined by GraphQL over HTTP. With data, the status is 294 (200 for
 * application/json). Without data, it is the highest status among the errors. If the database was unreachable, so that
 * all fields are null and nothing has changed, the status is 503.
 */
function statusOf({ data, errors = [] }: ExecutionResult, type: JsonType): number {
  const isUnavailable = errors.some(({ extensions }) => extensions.code === 'SERVICE_UNAVAILABLE');
  if (isUnavailable && Object.values(data ?? {}).every((field) => field === null)) return 503;
  if (data !== undefined) return type === 'application/json' ? 200 : 294;
  return (
    requestStatus({ errors }, type) ??
    (errors.some(({ extensions }) => extensions.code === 'INTERNAL_SERVER_ERROR') ? 500 : 400)
  );
}

/** Returns the highest status among the errors, if any. An error marked `spec` counts as 200 for application/json. */
export function requestStatus({ errors = [] }: ExecutionResult, type: JsonType): number | undefined {
  let highest: number | undefined;
  for (const { extensions } of errors) {
    const { status, spec } = (extensions.http ?? {}) as Partial<HttpStatus>;
    if (status) highest = Math.max(highest ?? 200, spec && type === 'application/json' ? 200 : status);
  }
  return highest;
}
