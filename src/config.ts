import { z } from 'zod';
import { parseRateOverrides } from './rails/sandbox/rates.ts';

/** A setting that was given wrongly, or several: the message names each and says what it should be. */
export class ConfigError extends Error {
  constructor(faults: readonly string[]) {
    super(`The settings are wrong:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must lie between ${least} and ${most}`);

const onOff = z.enum(['on', 'off'], { error: 'must be on or off' }).transform((value) => value === 'on');

/**
 * Every setting, with its default. The README's table is this list in words, and a test holds the two together.
 */
export const settings = {
  NODE_ENV: z
    .enum(['development', 'production', 'test'], { error: 'must be development, production or test' })
    .default('development'),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(4000),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/\S+$/, 'must be a Postgres address such as postgres://user:password@host:5432/database')
    .optional(),
  DATA_DIR: z.string().min(1).default('.data'),
  DATABASE_POOL: wholeNumber(1, 200).default(10),
  MAX_IN_FLIGHT: wholeNumber(1, 100_000).default(256),
  ROLE: z.enum(['all', 'serve', 'work'], { error: 'must be all, serve or work' }).default('all'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
      error: 'must be fatal, error, warn, info, debug or silent',
    })
    .default('info'),
  GRAPHIQL: onOff.optional(),
  INTROSPECTION: onOff.optional(),
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
} as const;

const schema = z.object(settings);

export type Config = Readonly<z.infer<typeof schema>> & { readonly GRAPHIQL: boolean; readonly INTROSPECTION: boolean };

/**
 * Reads the settings from the environment; an empty variable is one that is not set.
 * @throws ConfigError naming every wrong one
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(Object.keys(settings).map((name) => [name, environment[name] || undefined]));
  const result = schema.safeParse(given);
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
  return { ...config, GRAPHIQL: config.GRAPHIQL ?? !production, INTROSPECTION: config.INTROSPECTION ?? !production };
}
