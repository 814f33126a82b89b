import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const moduleName = z.string({ error: 'must name a module' }).min(1, { error: 'must name a module' });

const unknownKeys = (known: string) => ({
  error: ({ code, keys }: { readonly code?: string; readonly keys?: unknown }) =>
    code === 'unrecognized_keys'
      ? `has the unknown field ${Array.isArray(keys) ? keys.join(', ') : ''}; it takes ${known}`
      : `must be an object with ${known}`,
});

/** A rail in the setting RAILS: a module and its own settings. */
const entry = z.strictObject(
  {
    /** `sandbox`, a package, or a file. A relative path begins with a dot. Its base is `RailSettings.directory`. */
    module: moduleName,
    settings: z.unknown().optional(),
  },
  unknownKeys('module and settings'),
);
export type RailEntry = z.infer<typeof entry>;

const platformId = z
  .string()
  .regex(/^Platform:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, { error: 'must be the id of a platform: Platform:…' });

/** One environment's rails: one shared by its platforms, and separate ones for individual platforms, by platform id. */
const environmentRails = z
  .strictObject(
    {
      module: moduleName.optional(),
      settings: z.unknown().optional(),
      platforms: z
        .record(platformId, entry, { error: 'must be an object of platform ids, such as Platform:…' })
        .optional(),
    },
    unknownKeys('module, settings and platforms'),
  )
  .refine(({ module, settings }) => module !== undefined || settings === undefined, {
    error: 'has settings but no module',
  })
  .refine(({ module, platforms }) => module !== undefined || platforms !== undefined, {
    error: 'must name a module, or platforms with their own modules',
  });
export type EnvironmentRails = z.infer<typeof environmentRails>;

const railSettings = z.strictObject(
  { SANDBOX: environmentRails.optional(), PRODUCTION: environmentRails.optional() },
  unknownKeys('SANDBOX and PRODUCTION'),
);

export interface RailSettings extends z.infer<typeof railSettings> {
  /** The base directory of relative file paths: the settings file's directory, or the working directory. */
  readonly directory: string;
}

/** Reads the setting RAILS: a JSON object, or the path of a file with one. @throws RangeError with a line per fault */
export function parseRailSettings(text: string): RailSettings {
  const isFile = !text.trimStart().startsWith('{');
  const json = isFile ? readSettingsFile(text) : text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    // The rest of the message quotes the text, which may contain secrets.
    const [fault] = error instanceof Error ? error.message.split(/, \.*"/, 1) : [error];
    throw new RangeError(`${isFile ? `${text} ` : ''}must be JSON: ${fault}`);
  }
  const parsed = railSettings.safeParse(value);
  if (!parsed.success) {
    // zod reports an invalid record key as an outer issue that contains the actual one.
    throw new RangeError(
      parsed.error.issues
        .flatMap((issue) =>
          issue.code === 'invalid_key'
            ? issue.issues.map(({ message }) => ({ path: issue.path, message }))
            : [{ path: issue.path, message: issue.message }],
        )
        .map(({ path: at, message }) => [at.join('.'), message].filter((part) => part !== '').join(' '))
        .join('\n'),
    );
  }
  return { ...parsed.data, directory: isFile ? path.dirname(path.resolve(text)) : process.cwd() };
}

/** Validates a module's settings from RAILS. @throws RangeError with the reason for each fault */
export function checkedSettings<Settings>(schema: z.ZodType<Settings>, given: unknown): Settings {
  const settings = schema.safeParse(given);
  if (settings.success) return settings.data;
  throw new RangeError(settings.error.issues.map(({ path: at, message }) => [...at, message].join(' ')).join('; '));
}

function readSettingsFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    throw new RangeError(`must be a JSON object or the path of a file with one; ${file} cannot be read (${reason})`);
  }
}
