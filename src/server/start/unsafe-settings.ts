import { protectionOf } from '../../infra/database/connections/address.ts';
import { type Config, ConfigError } from '../config.ts';
import type { Unsafe } from '../settings.ts';

interface Finding {
  readonly kind: Unsafe;
  readonly fault: string;
}

/** Refuses unsafe settings that ALLOW_UNSAFE does not allow. @throws ConfigError that names all of them */
export function refuseUnsafe(config: Config, tlsVerified?: boolean): void {
  const refused = findUnsafe(config, tlsVerified).filter(({ kind }) => !config.ALLOW_UNSAFE.includes(kind));
  if (refused.length === 0) return;
  throw new ConfigError(refused.map(({ kind, fault }) => `${fault}. ALLOW_UNSAFE=${kind} allows it`));
}

const keyNames = ['CLIENT_TOKEN_KEY', 'CLIENT_TOKEN_KEY_FALLBACKS', 'SECRET_KEY', 'SECRET_KEY_FALLBACKS'] as const;
const addressNames = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL', 'DATABASE_OWNER_URL'] as const;

/** Finds the unsafe settings, whether or not they are allowed. */
export function findUnsafe(config: Config, tlsVerified = process.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0'): Finding[] {
  const findings: Finding[] = [];
  const add = (kind: Unsafe, fault: string) => findings.push({ kind, fault });
  if (config.CORS_ORIGINS.includes('*'))
    add(
      'any-origin',
      'CORS_ORIGINS is *, so web pages on any site may call this service: name the origins of your apps',
    );
  for (const name of keyNames) {
    if ([config[name] ?? []].flat().some(isWeakKey))
      add('weak-keys', `${name} can be guessed: create one with "openssl rand -base64 32"`);
  }
  if (!tlsVerified)
    add('unverified-tls', 'NODE_TLS_REJECT_UNAUTHORIZED is 0, so certificates are not verified: remove it');
  for (const name of addressNames) {
    for (const protection of [config[name] ?? []].flat().map(protectionOf)) {
      if (protection === 'VERIFIED' || protection === 'LOCAL') continue;
      const what = protection === 'NONE' ? 'connects without TLS' : 'does not verify the certificate';
      const advice = 'add sslmode=verify-full, and sslrootcert=FILE for your own certificate authority';
      add('unverified-tls', `${name} ${what}: ${advice}`);
    }
  }
  return findings;
}

/** The minimum number of distinct characters or bytes in a key. A random key of length 32 has more, even in hex. */
const fewest = 9;
const placeholder = /change.?me|example|password|secret|sample|your.?key/i;

/** Returns whether a key looks non-random: few distinct characters, a regular sequence, a repetition or placeholder. */
export function isWeakKey(key: string | Uint8Array): boolean {
  if (typeof key === 'string' && placeholder.test(key)) return true;
  const text = Buffer.from(key).toString('latin1');
  const steps = [...text].slice(1).map((character, index) => character.charCodeAt(0) - text.charCodeAt(index));
  const isRepeated = `${text}${text}`.indexOf(text, 1) < text.length;
  return new Set(text).size < fewest || new Set(steps).size < fewest || isRepeated;
}
