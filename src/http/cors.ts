import type { IncomingMessage, ServerResponse } from 'node:http';

/** Which pages of other origins may talk to this server: origins, or `*` for all. Credentials are never cookies. */
export type AllowedOrigins = readonly string[];

/** What a page of another origin may send and ask; all else that a request can carry is allowed without asking. */
const allowed = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers': 'authorization, content-type, accept, idempotency-key, x-graphql-event-stream-token',
  'access-control-max-age': '600',
} as const;

/** Whether a request comes from a page that may: one of this server's own, one that is allowed, or from no page at all. */
export function acceptsOrigin(request: IncomingMessage, origins: AllowedOrigins): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined) return true;
  if (origins.includes('*') || origins.includes(origin)) return true;
  return origin === `http://${host}` || origin === `https://${host}`;
}

/**
 * Tells a browser whether a page of another origin may read the answer, and answers its question beforehand.
 * @returns whether the request was such a question and is answered
 */
export function answerCors(request: IncomingMessage, response: ServerResponse, origins: AllowedOrigins): boolean {
  const { origin } = request.headers;
  response.setHeader('vary', 'Origin');
  if (origin !== undefined && acceptsOrigin(request, origins)) {
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-expose-headers', 'retry-after, idempotency-replayed');
  }
  if (request.method !== 'OPTIONS') return false;
  if (response.hasHeader('access-control-allow-origin')) {
    for (const [name, value] of Object.entries(allowed)) response.setHeader(name, value);
  }
  response.writeHead(204).end();
  return true;
}
