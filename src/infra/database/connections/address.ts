import { isIP } from 'node:net';
import os from 'node:os';
import pg from 'pg';

export interface Server {
  readonly host: string;
  readonly port: number;
}

const parts = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s;

/** Returns the servers in an address. As in libpq, hosts are separated by commas: `host1:5432,host2:5433`. */
export function serversOf(address: string): Server[] {
  const [, , hosts = ''] = parts.exec(address) ?? [];
  const usualPort = Number(process.env.PGPORT || 5432);
  return hosts.split(',').map((host) => {
    const [, name = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(host) ?? [];
    return { host: decodeURIComponent(name.replace(/^\[|\]$/g, '')), port: Number(port ?? usualPort) };
  });
}

/** Returns an address with only its first host, because pg supports only one. */
export function firstServer(address: string): string {
  return address.replace(
    parts,
    (_all, before: string, hosts: string, after: string) => before + hosts.split(',', 1) + after,
  );
}

/** Address parameters that would override the program's own session settings. */
const ofSessions = [
  ...['options', 'application_name', 'statement_timeout', 'lock_timeout'],
  ...['idle_in_transaction_session_timeout', 'query_timeout'],
];

/**
 * Returns an address with only its first host and without session settings, which would override the program's own.
 * Also returns the address's application name, and its `options`, such as `-c work_mem=8MB`.
 */
export function readAddress(given: string) {
  const address = firstServer(given);
  const start = address.indexOf('?');
  if (start < 0) return { url: address, options: '', applicationName: undefined };
  const parameters = new URLSearchParams(address.slice(start + 1));
  const options = parameters.getAll('options').join(' ');
  const applicationName = parameters.get('application_name') ?? undefined;
  const count = parameters.size;
  for (const name of ofSessions) parameters.delete(name);
  // Unless a parameter was removed, the query stays exactly as the operator wrote it.
  const query = parameters.size === count ? address.slice(start + 1) : parameters.toString();
  return { url: address.slice(0, start) + (query && `?${query}`), options, applicationName };
}

/** The parameters that pg supports, and libpq parameters that are accepted although they have no effect. */
const knownParameters = new Set([
  ...ofSessions,
  ...['sslmode', 'ssl', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation', 'uselibpqcompat'],
  ...['host', 'port', 'user', 'password', 'client_encoding', 'fallback_application_name', 'connect_timeout'],
  ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count', 'tcp_user_timeout'],
  ...['target_session_attrs', 'load_balance_hosts', 'channel_binding', 'gssencmode'],
]);
const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** Returns why an address cannot be used as written; undefined if it can. Reveals no part of a password. */
export function faultOfAddress(address: string): string | undefined {
  if (!/^postgres(ql)?:\/\/\S+$/.test(address))
    return 'must be a Postgres address such as postgres://user:password@host:5432/database';
  const [, , hosts = '', rest = ''] = parts.exec(address) ?? [];
  const ports = hosts.split(',').map((host) => /:([^:\]]*)$/.exec(host)?.[1] ?? '5432');
  if (
    hosts.includes('@') ||
    !ports.every((port) => /^\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) < 65_536)
  )
    return 'has a port that is not a number from 1 to 65535, or special characters in its login, which must be escaped as in %40';
  for (const [name, value] of new URLSearchParams(rest.slice(rest.indexOf('?') + 1 || rest.length))) {
    if (name === 'schema')
      return 'has the parameter schema, but the tables are always in the schema public: remove it, and use a separate database for the service';
    if (!knownParameters.has(name)) return `has a parameter${/^\w+$/.test(name) ? ` ${name}` : ''} that has no effect`;
    if (name === 'sslmode' && !sslModes.includes(value))
      return `has an unknown sslmode: use one of ${sslModes.join(', ')}`;
  }
  try {
    serversOf(address);
    new pg.Client({ connectionString: readAddress(address).url });
    return undefined;
  } catch (error) {
    return `cannot be used (${error instanceof Error ? error.message : error})`;
  }
}

/** The maximum length of a connection's name. Postgres truncates longer names. */
const maxNameBytes = 63;

/** Returns a connection's name, which states the program, the purpose, and the instance's machine and process. */
export function connectionName(use: string, program = 'payments-gateway'): string {
  const rest = ` ${use} ${os.hostname()}:${process.pid}`.replace(/[^ -~]/g, '?');
  if (rest.length >= maxNameBytes) return rest.trim().slice(0, maxNameBytes);
  return program.replace(/[^ -~]/g, '?').slice(0, maxNameBytes - rest.length) + rest;
}

/** How a connection is protected: by TLS with or without a verified certificate, by being local, or not at all. */
export type Protection = 'VERIFIED' | 'UNVERIFIED' | 'NONE' | 'LOCAL';

/** Returns how pg protects connections to an address. The result also depends on PGSSLMODE and PGHOST. */
export function protectionOf(address: string): Protection {
  const client = new pg.Client({ connectionString: readAddress(address).url });
  const others = serversOf(address).slice(1);
  if ([client, ...others].every(({ host }) => isLocal(host))) return 'LOCAL';
  // pg's types declare `ssl` as a boolean, but it holds the options for node:tls.
  const ssl: unknown = client.ssl;
  if (!ssl) return 'NONE';
  const isUnverified = typeof ssl === 'object' && 'rejectUnauthorized' in ssl && ssl.rejectUnauthorized === false;
  return isUnverified ? 'UNVERIFIED' : 'VERIFIED';
}

function isLocal(host: string): boolean {
  if (host.startsWith('/') || host === 'localhost' || host === '::1' || host === '[::1]') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
