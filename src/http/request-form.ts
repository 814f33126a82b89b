import type { IncomingMessage } from 'node:http';

/**
 * Returns the error for a request that is malformed or not JSON; otherwise undefined. A page of another origin
 * can send forms and plain text without a preflight, so these are refused.
 */
export function refusalOf(request: IncomingMessage): { status: number; code: string; message: string } | undefined {
  if (!isAddress(request)) {
    return { status: 400, code: 'BAD_REQUEST', message: 'the Host header or the path is malformed' };
  }
  if (request.method === 'POST' && !isJson(request.headers['content-type'])) {
    return { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', message: 'a POST body is application/json' };
  }
  return undefined;
}

function isJson(type = ''): boolean {
  return type === 'application/json' || type.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

/** The last valid Host header: most requests have the same. */
let validHost: string | undefined;

/** Says whether the path and the Host header make a valid URL. */
function isAddress({ url = '/', headers: { host = 'localhost' } }: IncomingMessage): boolean {
  if (url === '/graphql' && host === validHost) return true;
  const isValid = URL.canParse(url, `http://${host}`);
  if (isValid) validHost = host;
  return isValid;
}
