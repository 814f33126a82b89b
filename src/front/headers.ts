import type { IncomingMessage } from 'node:http';

/** Headers that belong to one connection, not to the request (RFC 9110, 7.6.1). */
const ofConnection: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  'http2-settings',
]);

/**
 * Returns the headers of a request or a response as they are passed on: as they were written, without those of the connection and
 * those that it names.
 * @param without the names of others to leave out, in small letters
 */
export function passedOn({ rawHeaders, headers }: IncomingMessage, without: readonly string[] = []): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const left = new Set([...ofConnection, ...named, ...without]);
  const pairs: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    if (!left.has(name.toLowerCase())) pairs.push(name, value);
  }
  return pairs;
}

/** Returns `X-Forwarded-For` with the address of who has sent the request at its end: what stands before is as it came. */
export function forwardedFor({ headers, socket }: IncomingMessage): string[] {
  const before = headers['x-forwarded-for'];
  const hops = [...(before === undefined ? [] : [before].flat()), socket.remoteAddress ?? ''];
  return ['x-forwarded-for', hops.join(', ')];
}
