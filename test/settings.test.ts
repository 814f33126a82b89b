import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { protectionOf } from '../src/infra/database/connections/address.ts';
import { readConfig, secretSettings } from '../src/server/config.ts';
import { isWeakKey, refuseUnsafe } from '../src/server/start/unsafe-settings.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'settings-'));
afterAll(() => rmSync(folder, { recursive: true }));
const fileOf = (name: string, text: string) => {
  writeFileSync(path.join(folder, name), text);
  return path.join(folder, name);
};

describe('a secret can be read from a file named in a setting', () => {
  const values: Record<(typeof secretSettings)[number], string> = {
    DATABASE_URL: 'postgres://gateway:password@127.0.0.1/payments',
    DATABASE_DIRECT_URL: 'postgres://gateway:password@127.0.0.1:5433/payments',
    DATABASE_READ_URL: [1, 2].map((host) => `postgres://gateway:password@replica${host}/payments`).join('; '),
    DATABASE_OWNER_URL: 'postgres://owner:password@127.0.0.1/payments',
    CLIENT_TOKEN_KEY: randomBytes(32).toString('base64'),
    CLIENT_TOKEN_KEY_FALLBACKS: [1, 2].map(() => randomBytes(32).toString('base64')).join(';'),
    SECRET_KEY: randomBytes(32).toString('hex'),
    SECRET_KEY_FALLBACKS: [1, 2].map(() => randomBytes(32).toString('base64')).join('; '),
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret, x-tenant=payments',
  };

  test('collector headers are in the format that OpenTelemetry defines', () => {
    const read = (text: string) => readConfig({ OTEL_EXPORTER_OTLP_HEADERS: text }).OTEL_EXPORTER_OTLP_HEADERS;
    expect(read(values.OTEL_EXPORTER_OTLP_HEADERS)).toEqual({ authorization: 'Bearer secret', 'x-tenant': 'payments' });
    expect(() => read('a secret')).toThrow(/^(?!.*a secret).*OTEL_EXPORTER_OTLP_HEADERS must be headers/s);
  });

  test.each(secretSettings)('%s', (name) => {
    // These two settings are valid only together with DATABASE_URL.
    const beside = {
      ...((name === 'DATABASE_DIRECT_URL' || name === 'DATABASE_READ_URL') && { DATABASE_URL: values.DATABASE_URL }),
    };
    const config = readConfig({ ...beside, [`${name}_FILE`]: fileOf(name, `${values[name]}\n`) });
    expect(config[name]).toEqual(readConfig({ ...beside, [name]: values[name] })[name]);
    expect(config[name]).not.toEqual(readConfig({})[name]);
    expect(() => readConfig({ [name]: values[name], [`${name}_FILE`]: fileOf(name, values[name]) })).toThrow(
      `${name} and ${name}_FILE are both set`,
    );
    expect(() => readConfig({ [`${name}_FILE`]: fileOf(name, '\n') })).toThrow(/_FILE .* is empty/);
    expect(() => readConfig({ [`${name}_FILE`]: path.join(folder, 'missing') })).toThrow(/_FILE .* cannot be read/);
  });
});

test.each([
  [{ PORT: '70000' }, 'PORT must be between 0 and 65535'],
  [{ DATABASE_URL: 'mysql://somewhere' }, 'DATABASE_URL must be a Postgres address'],
  [{ PORT: '4000', METRICS_PORT: '4000' }, 'METRICS_PORT and PORT are both 4000'],
  [{ DATABASE_URL: 'postgres://host:99999/payments' }, 'DATABASE_URL has a port that is not a number from 1 to 65535'],
  [{ DATABASE_URL: 'postgres://one,two:x/payments' }, 'DATABASE_URL has a port that is not a number'],
  [{ DATABASE_URL: 'postgres://host/payments?schema=app' }, 'DATABASE_URL has the parameter schema, but'],
  [{ DATABASE_OWNER_URL: 'postgres://host/payments?schema=app' }, 'DATABASE_OWNER_URL has the parameter schema, but'],
  [
    { DATABASE_URL: 'postgres://host/payments?connection_limit=5' },
    'DATABASE_URL has a parameter connection_limit that',
  ],
  [
    { DATABASE_URL: 'postgres://host/payments?sslmode=bogus' },
    'DATABASE_URL has an unknown sslmode: use one of disable',
  ],
  [{ DATABASE_URL: 'postgres://host/payments?sslrootcert=/none.pem' }, 'DATABASE_URL cannot be used (ENOENT'],
  [{ DATABASE_URL: 'postgres://host%zz/payments' }, 'DATABASE_URL cannot be used (URI malformed)'],
  [{ DATABASE_DIRECT_URL: 'postgres://host/payments' }, 'DATABASE_DIRECT_URL needs DATABASE_URL'],
  [{ ROLE: 'leader' }, 'ROLE must be all, serve or work'],
  ...[
    'https://*.example.com',
    'https://App.example.com',
    'https://app.example.com:443',
    'https://app.example.com/',
  ].map((CORS_ORIGINS): [{ CORS_ORIGINS: string }, string] => [
    { CORS_ORIGINS },
    'CORS_ORIGINS must be origins as browsers',
  ]),
  [{ TRUSTED_PROXIES: '10/8' }, 'TRUSTED_PROXIES must be addresses or ranges'],
  [{ OTEL_TRACES_SAMPLER_ARG: 'all' }, 'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1'],
  [{ NODE_ENV: 'production', DATABASE_URL: '' }, 'DATABASE_URL is required in production'],
])('a wrong setting is reported: %o', (environment, message) => {
  expect(() => readConfig(environment)).toThrow(message);
});

test('no message about an invalid secret reveals it', () => {
  const wrong = { CLIENT_TOKEN_KEY: 'short-secret', SECRET_KEY: 'short-secret', DATABASE_URL: 'short-secret' };
  const lists = { CLIENT_TOKEN_KEY_FALLBACKS: 'short-secret', SECRET_KEY_FALLBACKS: 'short-secret' };
  expect(() => readConfig({ ...wrong, ...lists })).toThrow(/^(?!.*short-secret).*SECRET_KEY_FALLBACKS/s);
  const railsFault = /^(?!.*short-secret).*RAILS must be JSON: Unexpected token 's'$/s;
  expect(() => readConfig({ RAILS: '{"key": short-secret}' })).toThrow(railsFault);
  for (const character of '/?#@:%') {
    const DATABASE_URL = `postgres://gateway:short-secret${character}short-secret@host:99999/payments`;
    expect(() => readConfig({ DATABASE_URL })).toThrow(/^(?!.*short-secret).*DATABASE_URL/s);
  }
});

describe('production', () => {
  const safe = {
    NODE_ENV: 'production',
    DATABASE_URL: 'postgres://gateway@db.internal/payments?sslmode=verify-full',
    CLIENT_TOKEN_KEY: randomBytes(32).toString('base64'),
    SECRET_KEY: randomBytes(32).toString('base64'),
  };
  const start = (more: Readonly<Record<string, string>> = {}) => refuseUnsafe(readConfig({ ...safe, ...more }), true);

  test('accepts safe settings', () => {
    expect(() => start()).not.toThrow();
  });

  test.each([
    ['CORS_ORIGINS', '*', 'any-origin'],
    ['SECRET_KEY', Buffer.alloc(32).toString('base64'), 'weak-keys'],
    ['SECRET_KEY_FALLBACKS', Buffer.alloc(32, 7).toString('hex'), 'weak-keys'],
    ['CLIENT_TOKEN_KEY', 'a'.repeat(40), 'weak-keys'],
    ['CLIENT_TOKEN_KEY_FALLBACKS', 'please change me before production', 'weak-keys'],
    ['DATABASE_URL', 'postgres://gateway@db.internal/payments', 'unverified-tls'],
    ['DATABASE_URL', 'postgres://gateway@db.internal/payments?sslmode=no-verify', 'unverified-tls'],
    ['DATABASE_OWNER_URL', 'postgres://owner@db.internal/payments?sslmode=disable', 'unverified-tls'],
  ])('refuses %s=%s, and names the setting that allows it', (name, value, kind) => {
    expect(() => start({ [name]: value })).toThrow(new RegExp(`${name}.*ALLOW_UNSAFE=${kind} allows it$`, 's'));
    expect(() => start({ [name]: value, ALLOW_UNSAFE: `owner-login, ${kind}` })).not.toThrow();
    expect(() => refuseUnsafe(readConfig({ [name]: value }), true)).not.toThrow();
  });

  test('refuses disabled certificate checks, and reports all faults together', () => {
    const config = readConfig({ ...safe, CORS_ORIGINS: '*' });
    expect(() => refuseUnsafe(config, false)).toThrow(/CORS_ORIGINS is \*.*NODE_TLS_REJECT_UNAUTHORIZED is 0/s);
  });

  test('refuses an unknown name in ALLOW_UNSAFE', () => {
    expect(() => readConfig({ ALLOW_UNSAFE: 'everything' })).toThrow(/ALLOW_UNSAFE.*must be one or more of any-origin/);
  });
});

test('a database on this machine does not need TLS', () => {
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '%2Fvar%2Frun%2Fpostgresql']) {
    expect(protectionOf(`postgres://gateway@${host}/payments`)).toBe('LOCAL');
  }
  expect(protectionOf('postgres://gateway@10.0.0.1/payments')).toBe('NONE');
  expect(protectionOf('postgres://gateway@10.0.0.1/payments?sslmode=verify-full')).toBe('VERIFIED');
});

test('random keys are never weak, whatever their format', () => {
  for (let count = 0; count < 1_000; count += 1) {
    const key = randomBytes(32);
    for (const form of [key, key.toString('base64'), key.toString('hex')]) expect(isWeakKey(form)).toBe(false);
  }
  const sequence = Buffer.from(Array.from({ length: 32 }, (_none, index) => index));
  const weak = [sequence, sequence.toString('latin1'), 'correct horse correct horse correct horse '.slice(0, 42)];
  for (const key of [...weak, '0123456789abcdef'.repeat(4), Buffer.alloc(32, 'ab')]) expect(isWeakKey(key)).toBe(true);
});
