import { z } from 'zod';

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must lie between ${min} and ${max}`);

/** The settings of a front, with their defaults. The table in docs/clusters.md describes them, and a test compares both. */
export const frontSettings = {
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(4000),
  CLUSTER_DIRECTORY: z.string({ error: 'must be the path of the directory of clusters' }).min(1),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
  METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  SHUTDOWN_DELAY_MS: wholeNumber(0, 60_000).default(2_000),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
      error: 'must be fatal, error, warn, info, debug or silent',
    })
    .default('info'),
} as const;

const schema = z.object(frontSettings);

/** The settings of a front. */
export type FrontSettings = Readonly<z.infer<typeof schema>>;

/** The error for settings of a front that are wrong: the message names each. */
export class FrontSettingsError extends Error {}

/**
 * Reads the settings of a front from the environment. An empty variable counts as not set.
 * @throws FrontSettingsError
 */
export function readFrontSettings(environment: Readonly<Record<string, string | undefined>>): FrontSettings {
  const given = Object.keys(frontSettings).map((name) => [name, environment[name] || undefined]);
  const parsed = schema.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `  - ${path.join('.')} ${message}`);
  throw new FrontSettingsError(`The settings of the front are wrong:\n${faults.join('\n')}`);
}
