import { isIP } from 'node:net';
import type { ConnectionOptions } from '@nats-io/transport-node';

/** The servers of a relay, and what this service shows them. */
export interface NatsAddress {
  readonly servers: readonly URL[];
  /** The text of a credentials file: a JWT and the seed of its key. */
  readonly credentials: string | undefined;
}

/**
 * Reads the addresses of NATS servers, separated by commas: `nats://`, or `tls://` where nothing else than TLS will do. Undefined
 * where the text has none.
 */
export function natsServersOf(text: string): URL[] | undefined {
  const addresses = text.split(',').map((address) => address.trim());
  if (!addresses.every((address) => /^(nats|tls):\/\/[^\s/]+\/?$/.test(address) && URL.canParse(address)))
    return undefined;
  return addresses.map((address) => new URL(address));
}

/** Says whether the way to all servers is protected: by TLS with a certificate that is checked, or since it stays on this machine. */
export function isProtected(servers: readonly URL[]): boolean {
  return servers.every(({ protocol, hostname }) => protocol === 'tls:' || isLoopback(hostname));
}

/** Returns the options with which the client library connects. */
export function optionsOf(
  { servers, credentials }: NatsAddress,
  authenticatorOf: (credentials: Uint8Array) => NonNullable<ConnectionOptions['authenticator']>,
): ConnectionOptions {
  const { username = '', password = '' } = servers.find((url) => url.username !== '') ?? {};
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  return {
    servers: servers.map(({ host }) => host),
    ...(servers.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
    // As other clients do: a user without a password is a token.
    ...(user !== '' && (pass === '' ? { token: user } : { user, pass })),
    ...(credentials !== undefined && { authenticator: authenticatorOf(new TextEncoder().encode(credentials)) }),
  };
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
}
