import { isIP } from 'node:net';
import { Refusal } from '../../core/refusal.ts';
import { isLoopbackAddress } from '../delivery/addresses.ts';

/** The ports on which webhook receivers are served. */
const ports: ReadonlySet<string> = new Set(['', '443', '8443']);
const maxLength = 2_048;

/** Whether the host of a URL is this machine, by name or by address. */
export function isLoopbackHost(url: URL): boolean {
  const host = bareHost(url);
  return host === 'localhost' || isLoopbackAddress(host);
}

/**
 * Reads where an endpoint wants its events: https to a public host name, or (where the platform's sandbox may) http or
 * https to this machine. The URL is judged as it will be used, after its parser has made one form of all spellings.
 * @throws Refusal INVALID_INPUT saying what is wrong
 */
export function parseEndpointUrl(text: string, loopbackAllowed: boolean): URL {
  const refuse = (why: string): never => {
    throw new Refusal('INVALID_INPUT', `the URL ${why}`, { path: ['url'] });
  };
  if (text.length > maxLength) refuse(`must have at most ${maxLength} characters`);
  if (/[\s\p{Cc}\\]/u.test(text)) refuse('must not have blanks, control characters or backslashes');
  const url = URL.canParse(text) ? new URL(text) : refuse('is not a URL');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') refuse('must begin with https://');
  if (url.username !== '' || url.password !== '') refuse('must not carry a user name or password');
  if (url.hash !== '') refuse('must not have a fragment');
  if (loopbackAllowed && isLoopbackHost(url)) return url;
  if (url.protocol !== 'https:') refuse('must begin with https://');
  const host = bareHost(url);
  if (isIP(host) !== 0) refuse('must name a host, not an address');
  // A bare or local name can only be of the inside; every other name is judged by its addresses when it is used.
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(host) || /(^|\.)(localhost|local|internal)$/.test(host))
    refuse('must name a public host');
  if (!ports.has(url.port)) refuse('must use port 443 or 8443');
  return url;
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
