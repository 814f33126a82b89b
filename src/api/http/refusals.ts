import type { ServerResponse } from 'node:http';
import { RateLimited } from '../../domain/access/limits/rate-limits.ts';
import { earlyRefusals } from '../../infra/instruments/instruments.ts';

export type Api = 'GRAPHQL' | 'REST';

/** Why a request is refused before it reaches its API. A retry may succeed after `retryAfter` seconds. */
export type EarlyRefusal = RateLimited | ReturnType<typeof unavailable>;

export const busy = unavailable('too many concurrent requests; try again');

/** Creates the refusal for a request that could not be processed because of overload or a fault. */
export function unavailable(message: string) {
  return { message, retryAfter: 1 };
}

/** The maximum extra wait, in seconds, for refused streams, so that they do not all reconnect together. */
const streamSpreadSeconds = 5;

/** The error codes for malformed requests, by HTTP status and API. */
const formCodes = {
  400: { REST: 'INVALID_REQUEST_FORMAT', GRAPHQL: 'BAD_REQUEST' },
  413: { REST: 'PAYLOAD_TOO_LARGE', GRAPHQL: 'PAYLOAD_TOO_LARGE' },
  415: { REST: 'INVALID_REQUEST_FORMAT', GRAPHQL: 'UNSUPPORTED_MEDIA_TYPE' },
} as const;

/** Creates the response body for a malformed request. */
export function formBody(api: Api, status: keyof typeof formCodes, message: string): object {
  return errorBody(api, status, message, { code: formCodes[status][api] });
}

/** Creates an error body in the format of the API that the request was sent to. */
export function errorBody(
  api: Api,
  status: number,
  message: string,
  extensions: { readonly code: string; readonly retryAfter?: number },
): object {
  if (api === 'GRAPHQL') return { errors: [{ message, extensions }] };
  return { status, code: extensions.code, message, details: { reason: message } };
}

/** Responds to a request that was not processed, which the client may therefore send again. */
export function refuse(response: ServerResponse, api: Api, refusal: EarlyRefusal): void {
  const { message } = refusal;
  const [status, code] = refusal instanceof RateLimited ? [429, 'RATE_LIMITED'] : [503, 'SERVICE_UNAVAILABLE'];
  earlyRefusals.inc({ code });
  const isStream = response.req.headers.accept?.includes('text/event-stream') ?? false;
  const spread = isStream && status === 503 ? Math.floor(Math.random() * streamSpreadSeconds) : 0;
  const retryAfter = refusal.retryAfter + spread;
  response.setHeader('retry-after', String(retryAfter));
  answer(response, status, errorBody(api, status, message, { code, retryAfter }));
}

export function answer(response: ServerResponse, status: number, body: object, type = 'application/json'): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(JSON.stringify(body));
}
