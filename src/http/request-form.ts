import type { IncomingMessage } from 'node:http';

/**
 * Returns the error for a POST that is not JSON; otherwise undefined. A page of another origin can send forms and plain text
 * without a preflight, so these are refused.
 */
export function refusalOf(request: IncomingMessage): { status: number; code: string; message: string } | undefined {
  if (request.method !== 'POST' || isJson(request.headers['content-type'])) return undefined;
  return { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', message: 'a POST body is application/json' };
}

function isJson(type = ''): boolean {
  return type === 'application/json' || type.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}
