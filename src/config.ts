import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { serversOf } from './database/connections/address.ts';
import { parseRailSettings } from './rails/rail-settings.ts';
import { parseRateOverrides } from './rails/sandbox/rates.ts';
import {
  address,
  addressRanges,
  headers,
  key,
  listOf,
  onOff,
  rate,
  textKey,
  type Unsafe,
  unsafe,
  unsafeThings,
  wholeNumber,
} from './setting-kinds.ts';

/** The error for invalid settings: the message names each and says what it should be. */
export class ConfigError extends Error {
  constructor(faults: readonly string[]) {
    super(`The settings are wrong:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/**
 * Every setting, with its default. docs/settings.md describes them, and a test compares it with this list.
 */
export const settings = {
  NODE_ENV: z
    .enum(['development', 'production', 'test'], { error: 'must be development, production or test' })
    .default('development'),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(4000),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
  METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  DATABASE_URL: address.optional(),
  DATABASE_DIRECT_URL: address.optional(),
  DATABASE_READ_URL: listOf(
    address.refine((url) => serversOf(url).length === 1, 'must name one host each: separate replicas by semicolons'),
  ).default([]),
  DATABASE_READ_LAG_MS: wholeNumber(100, 3_600_000).default(10_000),
  DATA_DIR: z.string().min(1).default('.data'),
  DATABASE_OWNER_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/\S+$/, 'must be a Postgres address such as postgres://owner:password@host:5432/database')
    .optional(),
  MIGRATE: z.enum(['on', 'off', 'verify'], { error: 'must be on, off or verify' }).optional(),
  ALLOW_UNSAFE: unsafe.optional(),
  DATABASE_POOL: wholeNumber(1, 200).default(10),
  MAX_IN_FLIGHT: wholeNumber(1, 100_000).default(256),
  MAX_ANSWER_BYTES: wholeNumber(1_024, 100_000_000).default(8_388_608),
  RATE_LIMIT_PLATFORM: rate.default({ perSecond: 20_000, burst: 40_000 }),
  RATE_LIMIT_API_TOKEN: rate.default({ perSecond: 20_000, burst: 40_000 }),
  RATE_LIMIT_CLIENT_TOKEN: rate.default({ perSecond: 100, burst: 500 }),
  WRONG_CREDENTIALS_PER_MINUTE: wholeNumber(1, 1_000_000).default(100),
  TRUSTED_PROXIES: addressRanges.default([]),
  SOCKETS_PER_API_TOKEN: wholeNumber(1, 1_000_000).default(20_000),
  SOCKETS_PER_CLIENT_TOKEN: wholeNumber(1, 1_000_000).default(20),
  STREAMS_PER_API_TOKEN: wholeNumber(1, 1_000_000).default(50_000),
  STREAMS_PER_CLIENT_TOKEN: wholeNumber(1, 1_000_000).default(100),
  COMPRESS_SOCKETS: onOff.default(false),
  COMPRESS_EVENT_STREAMS: onOff.default(false),
  KEEP_ALIVE_MS: wholeNumber(1_000, 120_000).default(12_000),
  SHUTDOWN_DELAY_MS: wholeNumber(0, 60_000).optional(),
  ROLE: z.enum(['all', 'serve', 'work'], { error: 'must be all, serve or work' }).default('all'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
      error: 'must be fatal, error, warn, info, debug or silent',
    })
    .default('info'),
  ACCESS_LOG: onOff.default(false),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headers.optional(),
  OTEL_SERVICE_NAME: z.string().min(1).default('payments-graphql-gateway'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  GRAPHIQL: onOff.optional(),
  CORS_ORIGINS: z
    .string()
    .default('')
    .transform((list) =>
      list
        .split(',')
        .map((origin) => origin.trim())
        .filter((origin) => origin !== ''),
    )
    .refine((list) => list.every((origin) => origin === '*' || /^https?:\/\/[^\s/]+$/.test(origin)), {
      error: 'must be origins such as https://app.example.com, parted by commas, or *',
    }),
  CLIENT_TOKEN_KEY: textKey.optional(),
  CLIENT_TOKEN_KEY_FALLBACKS: listOf(textKey).default([]),
  EVENT_RETENTION_DAYS: wholeNumber(1, 36_500).default(30),
  INTROSPECTION: onOff.optional(),
  OPENAPI: onOff.optional(),
  AUTOMATIC_PERSISTED_QUERIES: onOff.optional(),
  PAYMENT_APPROVAL_MS: wholeNumber(1, 60_000).default(5_000),
  RECONCILE_HOUR: wholeNumber(0, 23).default(2),
  RAILS: z
    .string()
    .transform((text, context) => {
      try {
        return parseRailSettings(text);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
        return z.NEVER;
      }
    })
    .optional(),
  SANDBOX_QUOTE_SECONDS: wholeNumber(1, 86_400).default(300),
  SANDBOX_PACE_MS: wholeNumber(0, 600_000).default(500),
  SANDBOX_RATES: z
    .string()
    .default('{}')
    .transform((json, context) => {
      try {
        return parseRateOverrides(json);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
        return z.NEVER;
      }
    }),
  SECRET_KEY: key.optional(),
  SECRET_KEY_FALLBACKS: listOf(key).default([]),
  WEBHOOK_LOOPBACK: onOff.optional(),
  WEBHOOK_TIME_SCALE: wholeNumber(1, 1_000_000).default(1),
} as const;

const schema = z.object(settings);

/** The settings that hold a secret. Each can also be a file that `<name>_FILE` names. */
export const secretSettings = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_READ_URL',
  'DATABASE_OWNER_URL',
  'CLIENT_TOKEN_KEY',
  'CLIENT_TOKEN_KEY_FALLBACKS',
  'SECRET_KEY',
  'SECRET_KEY_FALLBACKS',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const satisfies readonly (keyof typeof settings)[];

export type Config = Readonly<Omit<z.infer<typeof schema>, 'ALLOW_UNSAFE'>> & {
  readonly SHUTDOWN_DELAY_MS: number;
  readonly GRAPHIQL: boolean;
  readonly INTROSPECTION: boolean;
  readonly OPENAPI: boolean;
  readonly AUTOMATIC_PERSISTED_QUERIES: boolean;
  readonly WEBHOOK_LOOPBACK: boolean;
  readonly MIGRATE: 'on' | 'off' | 'verify';
  readonly ALLOW_UNSAFE: readonly Unsafe[];
};

/** The settings of an instance whose database is prepared. */
export type GatewaySettings = Omit<
  Config,
  'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'DATABASE_OWNER_URL' | 'MIGRATE' | 'DATA_DIR' | 'LOG_LEVEL'
>;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings from the environment, and the secrets that it names as files. An empty variable counts as not set.
 * @throws ConfigError that names every invalid setting
 */
export function readConfig(environment: Environment): Config {
  const variables = {
    ...Object.fromEntries(Object.keys(settings).map((name) => [name, environment[name] || undefined])),
    ...readSecretFiles(environment),
  };
  const result = schema.safeParse(variables);
  if (!result.success) {
    throw new ConfigError(result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`));
  }
  const config = result.data;
  const production = config.NODE_ENV === 'production';
  if (production && config.DATABASE_URL === undefined) {
    throw new ConfigError([
      'DATABASE_URL is required in production: the embedded Postgres and its open sandbox are for development',
    ]);
  }
  if (config.DATABASE_DIRECT_URL !== undefined && config.DATABASE_URL === undefined) {
    throw new ConfigError([
      'DATABASE_DIRECT_URL needs DATABASE_URL: it is the address of the server behind the connection pooler of DATABASE_URL',
    ]);
  }
  if (config.DATABASE_READ_URL.length > 0 && config.DATABASE_URL === undefined) {
    throw new ConfigError(['DATABASE_READ_URL needs DATABASE_URL: its servers are standbys of that one']);
  }
  return {
    ...config,
    SHUTDOWN_DELAY_MS: config.SHUTDOWN_DELAY_MS ?? (production ? 2_000 : 0),
    // With a database of its own it is no sandbox: whoever reaches the port would get the page.
    GRAPHIQL: config.GRAPHIQL ?? (!production && config.DATABASE_URL === undefined),
    INTROSPECTION: config.INTROSPECTION ?? !production,
    OPENAPI: config.OPENAPI ?? !production,
    AUTOMATIC_PERSISTED_QUERIES: config.AUTOMATIC_PERSISTED_QUERIES ?? !production,
    WEBHOOK_LOOPBACK: config.WEBHOOK_LOOPBACK ?? !production,
    MIGRATE: config.MIGRATE ?? (production ? 'verify' : 'on'),
    ALLOW_UNSAFE: config.ALLOW_UNSAFE ?? (production ? [] : unsafeThings),
  };
}

/**
 * Reads the files that `<name>_FILE` names, without the line ends at their end.
 * @throws ConfigError for a file that cannot be read or is empty, and for a secret that is given twice
 */
function readSecretFiles(environment: Environment): Record<string, string> {
  const secrets: Record<string, string> = {};
  const faults: string[] = [];
  for (const name of secretSettings) {
    const file = environment[`${name}_FILE`];
    if (!file) continue;
    if (environment[name]) faults.push(`${name} and ${name}_FILE are both set: set one of them`);
    try {
      secrets[name] = readFileSync(file, 'utf8').trimEnd();
      if (secrets[name] === '') faults.push(`${name}_FILE ${file} is empty`);
    } catch (error) {
      faults.push(`${name}_FILE ${file} cannot be read (${error instanceof Error ? error.message : error})`);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return secrets;
}
