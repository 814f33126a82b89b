import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const moduleName = z.string({ error: 'must name a module' }).min(1, { error: 'must name a module' });

/** A rail in the RAILS setting: a module and its own settings. */
const entry = z.strictObject({
  /** `sandbox`, a package, or a file. A path that begins with a dot is relative to `RailSettings.directory`. */
  module: moduleName,
  settings: z.unknown().optional(),
});
export type RailEntry = z.infer<typeof entry>;

const platformId = z
  .string()
  .regex(/^Platform:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, { error: 'must be the id of a platform: Platform:…' });

/** An environment's rails: a shared one, and separate ones for individual platforms, keyed by platform id. */
const environmentRails = z
  .strictObject({
    module: moduleName.optional(),
    settings: z.unknown().optional(),
    platforms: z.record(platformId, entry).optional(),
  })
  .refine(({ module, settings }) => module !== undefined || settings === undefined, {
    error: 'has settings but no module',
  })
  .refine(({ module, platforms }) => module !== undefined || platforms !== undefined, {
    error: 'must name a module, or platforms with their own modules',
  });
export type EnvironmentRails = z.infer<typeof environmentRails>;

const railSettings = z.strictObject({ SANDBOX: environmentRails.optional(), PRODUCTION: environmentRails.optional() });

export interface RailSettings extends z.infer<typeof railSettings> {
  /** The base directory for relative paths: that of the settings file, or the working directory. */
  readonly directory: string;
}

/** Reads the RAILS setting: a JSON object, or the path of a file with one. @throws RangeError listing all faults */
export function parseRailSettings(text: string): RailSettings {
  const isFile = !text.trimStart().startsWith('{');
  const json = isFile ? readSettingsFile(text) : text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    // Only the start of the message is kept: the rest quotes the text, which may contain secrets.
    const [fault] = error instanceof Error ? error.message.split(/, \.*"/, 1) : [error];
    throw new RangeError(`${isFile ? `${text} ` : ''}must be JSON: ${fault}`);
  }
  const directory = isFile ? path.dirname(path.resolve(text)) : process.cwd();
  return { ...checkedSettings(railSettings, value), directory };
}

/** Validates a module's settings from RAILS. @throws RangeError listing all faults */
export function checkedSettings<Settings>(schema: z.ZodType<Settings>, given: unknown): Settings {
  const settings = schema.safeParse(given);
  if (settings.success) return settings.data;
  const faults = settings.error.issues.map((issue) => {
    // zod reports an invalid record key as an outer issue that contains the actual one.
    const { message } = (issue.code === 'invalid_key' && issue.issues[0]) || issue;
    return [...issue.path, message].join(' ');
  });
  throw new RangeError(faults.join('; '));
}

function readSettingsFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    throw new RangeError(`must be a JSON object or the path of a file with one; ${file} cannot be read (${reason})`);
  }
}
