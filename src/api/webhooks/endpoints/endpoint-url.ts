import { isIP } from 'node:net';
import { invalid } from '../../../core/refusal.ts';
import { isLoopbackAddress } from '../../../infra/net/addresses.ts';

const ports: ReadonlySet<string> = new Set(['', '443', '8443']);
const maxLength = 2_048;

/** Returns whether the host of a URL is this machine, by name or by address. */
export function isLoopbackHost(url: URL): boolean {
  const host = bareHost(url);
  return host === 'localhost' || isLoopbackAddress(host);
}

/**
 * Parses the URL of an endpoint: https to a public host name, or, with `loopbackAllowed`, http or https to this
 * machine. Checks the URL after parsing, which normalizes equivalent forms.
 * @throws Refusal INVALID_INPUT with the reason
 */
export function parseEndpointUrl(text: string, loopbackAllowed: boolean): URL {
  const refuse = (reason: string): never => {
    throw invalid(`the URL ${reason}`, ['url']);
  };
  if (text.length > maxLength) refuse(`must have at most ${maxLength} characters`);
  if (/[\s\p{C}\\]/u.test(text)) refuse('must not contain spaces, invisible characters or backslashes');
  const url = URL.canParse(text) ? new URL(text) : refuse('is not a URL');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') refuse('must begin with https://');
  if (url.username !== '' || url.password !== '') refuse('must not contain a user name or password');
  if (url.hash !== '') refuse('must not have a fragment');
  if (loopbackAllowed && isLoopbackHost(url)) return url;
  if (url.protocol !== 'https:') refuse('must begin with https://');
  const host = bareHost(url);
  if (isIP(host) !== 0) refuse('must have a host name, not an IP address');
  // These names can only be internal. The addresses of all other names are checked on each attempt.
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(host) || /(^|\.)(localhost|local|internal)$/.test(host))
    refuse('must have a public host name');
  if (!ports.has(url.port)) refuse('must use port 443 or 8443');
  return url;
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
