import { isIP } from 'node:net';
import pg from 'pg';
import { readAddress, serversOf } from './address.ts';

/**
 * How a connection is protected: VERIFIED, by TLS with a certificate that is checked; UNVERIFIED, by TLS with any certificate;
 * NONE; or LOCAL, where it does not leave this machine.
 */
export type Protection = 'VERIFIED' | 'UNVERIFIED' | 'NONE' | 'LOCAL';

/** Says how pg protects the connections to an address, of which also the environment decides (PGSSLMODE, PGHOST). */
export function protectionOf(address: string): Protection {
  const client = new pg.Client({ connectionString: readAddress(address).url });
  const others = serversOf(address).slice(1);
  if ([client, ...others].every(({ host }) => isLocal(host))) return 'LOCAL';
  // Its types say a boolean: pg stores the options of node:tls here.
  const ssl: unknown = client.ssl;
  if (!ssl) return 'NONE';
  const isUnverified = typeof ssl === 'object' && 'rejectUnauthorized' in ssl && ssl.rejectUnauthorized === false;
  return isUnverified ? 'UNVERIFIED' : 'VERIFIED';
}

/** Tells whether a host is this machine: a folder of sockets, or its loopback interface. */
function isLocal(host: string): boolean {
  if (host.startsWith('/') || host === 'localhost' || host === '::1' || host === '[::1]') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
