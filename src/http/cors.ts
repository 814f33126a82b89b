import type { IncomingMessage, ServerResponse } from 'node:http';

/** The origins whose pages may call this server, or `*` for all. Credentials are never cookies. */
export type AllowedOrigins = readonly string[];

/** The answer to a preflight request: the methods and headers that a page of another origin may use. */
const allowed = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers':
    'authorization, content-type, accept, idempotency-key, last-event-id, x-graphql-event-stream-token',
  'access-control-max-age': '600',
} as const;

/** Says whether a request comes from an allowed origin: an own page, a page of an allowed origin, or no page at all. */
export function acceptsOrigin(request: IncomingMessage, origins: AllowedOrigins): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined) return true;
  if (origins.includes('*') || origins.includes(origin)) return true;
  return origin === `http://${host}` || origin === `https://${host}`;
}

/**
 * Sets the headers that tell a browser whether a page of another origin may read the response, and answers preflight
 * requests.
 * @returns whether the request was a preflight, which is answered now
 */
export function answerCors(request: IncomingMessage, response: ServerResponse, origins: AllowedOrigins): boolean {
  const { origin } = request.headers;
  response.setHeader('vary', 'Origin');
  if (origin !== undefined && acceptsOrigin(request, origins)) {
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader(
      'access-control-expose-headers',
      'retry-after, ratelimit, ratelimit-policy, idempotency-replayed',
    );
  }
  if (request.method !== 'OPTIONS') return false;
  if (response.hasHeader('access-control-allow-origin')) {
    for (const [name, value] of Object.entries(allowed)) response.setHeader(name, value);
  }
  response.writeHead(204).end();
  return true;
}
