import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv4 } from 'node:net';

/** The policy of responses that are not pages, which have their own: nothing is run, loaded or framed. */
const nothingRuns = "default-src 'none'; frame-ancestors 'none'";

/** Sets the headers that protect a response in a browser: no sniffing, framing, scripts or caching. Handlers may differ. */
export function protectResponse(response: ServerResponse): void {
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('content-security-policy', nothingRuns);
  response.setHeader('cache-control', 'no-store');
}

/**
 * Returns whether a request names this machine in its Host header. A foreign page can make its own name point here (DNS
 * rebinding) and would then be of the same origin as the service; its requests carry that name.
 */
export function namesThisMachine({ headers: { host = '' } }: IncomingMessage): boolean {
  return isThisMachine(URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '');
}

/** Returns whether a host name, as a URL has it, always refers to that machine. */
export function isThisMachine(name: string): boolean {
  if (isIPv4(name)) return name.startsWith('127.');
  return name === '[::1]' || name === 'localhost' || name.endsWith('.localhost');
}
