import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { settings, type Unsafe, unsafeThings } from './settings.ts';

/** Reports invalid settings. The message names each of them and says what its value should be. */
export class ConfigError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`Invalid settings:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

const schema = z.object(settings);

/** The settings that contain secrets. Each can also be read from the file that `<name>_FILE` names. */
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

export type Config = Readonly<ReturnType<typeof readConfig>>;

/** An instance's settings once its database has been prepared. */
export type GatewaySettings = Omit<
  Config,
  'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'DATABASE_OWNER_URL' | 'MIGRATE' | 'DATA_DIR' | 'LOG_LEVEL'
>;

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings and the secret files. Empty values count as unset. @throws ConfigError that lists all errors */
export function readConfig(environment: Environment) {
  const variables = {
    ...Object.fromEntries(Object.keys(settings).map((name) => [name, environment[name] || undefined])),
    ...readSecretFiles(environment),
  };
  const result = schema.safeParse(variables);
  if (!result.success)
    throw new ConfigError(result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`));
  const config = result.data;
  const production = config.NODE_ENV === 'production';
  const isEmbedded = config.DATABASE_URL === undefined;
  const faults = [
    production &&
      isEmbedded &&
      'DATABASE_URL is required in production: the embedded Postgres and its sandbox with fixed credentials are for development',
    production && config.STOCK_READS && 'STOCK_READS is for development only',
    config.ROLE !== 'work' &&
      config.PORT !== 0 &&
      config.METRICS_PORT === config.PORT &&
      `METRICS_PORT and PORT are both ${config.PORT}: use another port for the metrics, because they need no credentials`,
    config.DATABASE_DIRECT_URL !== undefined &&
      isEmbedded &&
      'DATABASE_DIRECT_URL needs DATABASE_URL: it is the address of the server behind the connection pooler that DATABASE_URL names',
    config.DATABASE_READ_URL.length > 0 &&
      isEmbedded &&
      'DATABASE_READ_URL needs DATABASE_URL: its servers must be standbys of that database',
  ].filter((fault) => typeof fault === 'string');
  if (faults.length > 0) throw new ConfigError(faults);
  const allowed: readonly Unsafe[] = config.ALLOW_UNSAFE ?? (production ? [] : unsafeThings);
  return {
    ...config,
    SHUTDOWN_DELAY_MS: config.SHUTDOWN_DELAY_MS ?? (production ? 2_000 : 0),
    // Off by default with DATABASE_URL, because anyone who can reach the port could open the lab.
    GRAPHIQL: config.GRAPHIQL ?? (!production && isEmbedded),
    PUBLIC_CONTRACT: config.PUBLIC_CONTRACT ?? !production,
    MIGRATE: config.MIGRATE ?? (production ? ('verify' as const) : ('on' as const)),
    ALLOW_UNSAFE: allowed,
  };
}

/** Reads the `<name>_FILE` files. @throws ConfigError if a file is missing or empty, or if `<name>` is also set */
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
