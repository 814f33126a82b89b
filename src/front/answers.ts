import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

/** Why a front answers by itself. The bodies are those of the service. */
export const refusals = {
  away: { status: 503, code: 'SERVICE_UNAVAILABLE', message: 'the service is away for this platform; try again' },
  paused: { status: 503, code: 'SERVICE_UNAVAILABLE', message: 'this platform is being moved; try again' },
  lost: {
    status: 504,
    code: 'OUTCOME_UNKNOWN',
    message: 'the answer was lost: send a mutation again with the same idempotency key',
  },
} as const;
type Refusal = (typeof refusals)[keyof typeof refusals];

/** Answers with a refusal in the form of the API that the path is of. What may be sent again says when. */
export function refuse(response: ServerResponse, { status, code, message }: Refusal): void {
  const retryAfter = status === 503 ? 1 : undefined;
  if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
  response.setHeader('x-request-id', response.req.headers['x-request-id'] ?? randomUUID());
  const isGraphql = response.req.url?.startsWith('/graphql') ?? false;
  const body = isGraphql
    ? { errors: [{ message, extensions: { code, ...(retryAfter !== undefined && { retryAfter }) } }] }
    : { status, code, message, details: { reason: message } };
  answerJson(response, status, body);
}

/** Answers with JSON, which no browser guesses at and no cache stores. */
export function answerJson(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    .end(JSON.stringify(body));
}
