import { type Answer, jsonOf, listed } from '../apps/terminal/answer.ts';
import type { Program, Screen } from '../apps/terminal/program.ts';
import { keyId } from '../core/secret-box.ts';
import { type Config, secretSettings } from '../server/config.ts';
import { settings } from '../server/settings.ts';
import { type Settings, withSettings } from './tools.ts';

export function addConfig(program: Program): void {
  const config = program.command('config').description('the settings of the service');
  config
    .command('print')
    .description('show all settings of an instance on this machine, without secrets')
    .action(withSettings(print));
}

async function print({ config, screen }: Settings): Promise<Answer> {
  const rows = Object.keys(settings).map((name) => ({
    setting: name,
    value: shown(config, name as keyof typeof settings),
    from: originOf(name, screen.environment),
  }));
  return listed(rows, '');
}

function originOf(name: string, environment: Screen['environment']): 'environment' | 'file' | 'default' {
  if (environment[name]) return 'environment';
  const isSecret = secretSettings.some((secret) => secret === name);
  return isSecret && environment[`${name}_FILE`] ? 'file' : 'default';
}

const hidden = '***';

/** Formats a value without revealing secrets: a key as its id, an address without its password. */
function shown(config: Config, name: keyof typeof settings): string | null {
  switch (name) {
    case 'DATABASE_URL':
    case 'DATABASE_DIRECT_URL':
    case 'DATABASE_OWNER_URL':
      return withoutPassword(config[name]);
    case 'DATABASE_READ_URL':
      return config[name].map(withoutPassword).join('; ');
    case 'RAILS':
      return config[name] ? JSON.stringify(config[name], (key, of) => (key === 'settings' ? hidden : of)) : null;
    case 'OTEL_EXPORTER_OTLP_ENDPOINT':
      return withoutPassword(config[name]);
    case 'OTEL_EXPORTER_OTLP_HEADERS':
      return config[name] === undefined ? null : 'set';
    case 'SECRET_KEY':
    case 'CLIENT_TOKEN_KEY':
      return config[name] === undefined ? null : idOf(name, config[name]);
    case 'SECRET_KEY_FALLBACKS':
      return config[name].map((key) => idOf('SECRET_KEY', key)).join(', ');
    case 'CLIENT_TOKEN_KEY_FALLBACKS':
      return config[name].map((key) => idOf('CLIENT_TOKEN_KEY', key)).join(', ');
    default:
      return textOf(config[name]);
  }
}

function idOf(setting: Parameters<typeof keyId>[0], key: Uint8Array | string): string {
  return `the key with the id ${keyId(setting, key)}`;
}

/** Hides the password in an address, wherever it occurs, including in the parameters. */
function withoutPassword(address: string | undefined): string | null {
  if (address === undefined) return null;
  return address
    .replace(/^(\w+:\/\/[^/?#]*?:)[^/?#]*(@)/, `$1${hidden}$2`)
    .replace(/([?&](?:password|sslpassword)=)[^&#]*/gi, `$1${hidden}`);
}

function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.map(textOf).join(',');
  return typeof value === 'object' ? jsonOf(value, 0) : String(value);
}
