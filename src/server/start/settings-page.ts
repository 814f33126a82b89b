import type { z } from 'zod';
import type { Rate } from '../../domain/access/rates.ts';
import { secretSettings } from '../config.ts';
import { settings } from '../settings.ts';

/** Generates docs/settings.md from the declaration of the settings. */
export function settingsPage(): string {
  const secrets = secretSettings.map((name) => `\`${name}\``).join(', ');
  const rows = Object.entries(settings).map(
    ([name, setting]: [string, z.ZodType]) =>
      `| \`${name}\` | ${shownDefault(setting)} | ${setting.meta()?.description} |`,
  );
  return `# Settings

This page is generated from \`src/server/settings.ts\` (\`npm run schema\`).

Settings are environment variables. The service reads them once, at startup. It refuses to start with an invalid setting, and the message names the setting. An empty value counts as not set. Settings that contain a secret (${secrets}) can also be read from files: \`SECRET_KEY_FILE=/run/secrets/key\` names the file with \`SECRET_KEY\`.

| Setting | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`;
}

/** Returns the human-readable default of a setting. A default that depends on other settings is described there. */
function shownDefault(setting: z.ZodType): string {
  const { shownDefault } = setting.meta() ?? {};
  if (typeof shownDefault === 'string') return shownDefault;
  const value = setting.safeParse(undefined).data;
  const text = value === undefined ? '' : typeof value === 'boolean' ? (value ? 'on' : 'off') : textOf(value);
  return text === '' ? '' : `\`${text}\``;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value !== 'object') return String(value);
  const { perSecond, burst } = value as Rate;
  return `${perSecond}/${burst}`;
}
