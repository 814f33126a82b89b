import { reencryptSecrets } from '../api/webhooks/endpoints/reencrypt.ts';
import { type Answer, Failure, listed } from '../apps/terminal/answer.ts';
import type { Program, Screen } from '../apps/terminal/program.ts';
import { recordAct } from '../domain/access/operator-acts.ts';
import { formatRate, type Rate } from '../domain/access/rates.ts';
import { connectionName } from '../infra/database/connections/address.ts';
import type { Database } from '../infra/database/database.ts';
import { migrate } from '../infra/database/migrations/migrate.ts';
import { statement } from '../infra/database/statement.ts';
import { inTransaction } from '../infra/database/transaction.ts';
import { type Config, secretSettings } from '../server/config.ts';
import { openConnections } from '../server/gateway.ts';
import { settings } from '../server/settings.ts';
import { idsOfKeys, keySettings, listKeysInUse } from '../server/start/keys-in-use.ts';
import { ownerUrl, preparePooledLogin } from '../server/start/prepare-database.ts';
import { reachDatabase } from '../server/start/reach-database.ts';
import { type Acting, addAct, addCommand, type Settings, type Tools, withSettings } from './tools.ts';

export function addConfig(program: Program): void {
  const config = program.command('config').description('the settings of the service');
  config
    .command('print')
    .description('show all settings of an instance on this machine, without secrets')
    .action(withSettings(printSettings));
}

async function printSettings({ config, screen }: Settings): Promise<Answer> {
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
  if (name === 'RAILS' && config.RAILS)
    return JSON.stringify(config.RAILS, (key, of) => (key === 'settings' ? hidden : of));
  if (name === 'OTEL_EXPORTER_OTLP_HEADERS') return config[name] === undefined ? null : 'set';
  if (name === 'TRUSTED_PROXIES') return config[name].map((range) => range.join('/')).join(', ');
  const kind = keySettings.find((one) => name.startsWith(one));
  if (!kind) return formatSetting(config[name]);
  const [own = null, ...fallbacks] = idsOfKeys(config, kind).map((id) => `the key with the id ${id}`);
  return name === kind ? own : fallbacks.join(', ');
}

/** Hides the passwords in an address, including those in its parameters. */
function withoutPassword(text: string): string {
  return text
    .replace(/^(\w+:\/\/[^/?#]*?:)[^/?#]*(@)/, `$1${hidden}$2`)
    .replace(/([?&](?:password|sslpassword)=)[^&#]*/gi, `$1${hidden}`);
}

/** Formats a setting as it appears in the environment, without passwords; null if not set. An object must be a rate. */
export function formatSetting(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.map(formatSetting).join(', ');
  return typeof value === 'object' ? formatRate(value as Rate) : withoutPassword(String(value));
}

export function addMigrate(program: Program): void {
  program
    .command('migrate')
    .description('apply the migrations, with the login in DATABASE_OWNER_URL or, if that is not set, in DATABASE_URL')
    .action(withSettings(applyMigrations, asOwner));
}

/** Uses DATABASE_OWNER_URL as DATABASE_URL if the latter is unset: migrations need no other login. */
function asOwner(environment: Screen['environment']): Screen['environment'] {
  const { DATABASE_URL, DATABASE_URL_FILE, DATABASE_OWNER_URL, DATABASE_OWNER_URL_FILE } = environment;
  if (DATABASE_URL || DATABASE_URL_FILE) return environment;
  return { ...environment, DATABASE_URL: DATABASE_OWNER_URL, DATABASE_URL_FILE: DATABASE_OWNER_URL_FILE };
}

async function applyMigrations({ config, screen }: Settings): Promise<Answer> {
  await reachDatabase(config, config.DATABASE_DIRECT_URL ? ['owner', 'direct', 'pooled'] : ['owner']);
  const { applied } = await migrate(ownerUrl(config), { log: screen.err });
  const pooled = await preparePooledLogin(config);
  return {
    data: { applied, pooled },
    lines: [
      applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database has all migrations.',
      ...(pooled
        ? ['The login in DATABASE_URL now has the session settings that it needs behind a connection pooler.']
        : []),
    ],
  };
}

export function addKeys(program: Program): void {
  const keys = program.command('keys').description('the keys that sign client tokens and encrypt stored secrets');
  addCommand(keys, 'list', listKeys).description(
    'show the ids of the keys that instances use, and which of them are in the settings of this machine',
  );
  addAct(keys, 'retire', retireKey)
    .description(
      'retire a key, so that it can be removed from the settings; its secrets are first re-encrypted with the current key',
    )
    .argument('<id>', 'the id of the key, as shown by `keys list`')
    .option('--lost', 'the key is lost: the secrets encrypted with it cannot be read and must be replaced');
}

function roleOf(config: Config, keyId: string): 'in use' | 'fallback' | 'not in the settings of this machine' {
  const lists = keySettings.map((setting) => idsOfKeys(config, setting));
  if (lists.some(([first]) => first === keyId)) return 'in use';
  return lists.some((ids) => ids.includes(keyId)) ? 'fallback' : 'not in the settings of this machine';
}

async function listKeys({ database, config }: Tools): Promise<Answer> {
  const keys = (await listKeysInUse(database)).map(({ setting, keyId, since }) => {
    return { setting, id: keyId, since, here: roleOf(config, keyId) };
  });
  return listed(keys, 'No instance has used a key yet.');
}

async function retireKey({ database, config, webhooks, operator }: Acting, id: string, { lost }: { lost?: true }) {
  const key = (await listKeysInUse(database)).find(({ keyId }) => keyId === id);
  if (!key) throw new Failure(`No instance has used a key with the id ${id}.`);
  const role = roleOf(config, id);
  if (role === 'in use')
    throw new Failure(`The settings of this machine still sign or encrypt with ${id}: set a new key first.`);
  const isSecret = key.setting === 'SECRET_KEY' && !lost;
  if (isSecret && (role !== 'fallback' || !config.SECRET_KEY)) {
    throw new Failure(
      `The secrets of ${id} must be encrypted again: set SECRET_KEY to the current key, and SECRET_KEY_FALLBACKS to the key with this id. If that key is lost, pass --lost.`,
    );
  }
  const endpoints = isSecret ? await reencryptSecrets(webhooks, id) : 0;
  const connections = isSecret ? await openConnections(database, config).reencrypt(id) : 0;
  await inTransaction(database, async (act) => {
    const { count } = await act.prisma.keyInUse.deleteMany({ where: { setting: key.setting, keyId: id } });
    if (count === 0) throw new Failure(`The key ${id} has been retired in the meantime.`);
    const before = { setting: key.setting, keyId: id, lost: lost === true };
    await recordAct(act, operator, { platformId: null, before });
  });
  const done = isSecret
    ? ` The secrets of ${endpoints} webhook endpoints and ${connections} rail connections are now encrypted with the current key.`
    : '';
  return {
    data: { retired: id, setting: key.setting, reencryptedEndpoints: endpoints, reencryptedConnections: connections },
    lines: [`The key ${id} is retired.${done} Remove it from ${key.setting}_FALLBACKS.`],
  };
}

export function addRestored(program: Program): void {
  addAct(program, 'restored', markRestored)
    .description(
      'record that the database was restored from a backup, so that cursors pointing to undone changes are refused; run this before instances start on it',
    )
    .option('--yes', 'carry it out; without --yes, the command only reports what it would do');
}

/** Finds the connected instances by the machine and process at the end of their connection names (connectionName). */
const instancesStatement = statement<{ names: string | null }>(
  'instances_at_work',
  `select string_agg(distinct client, ', ') as names from (select substring(application_name from '\\S+:\\d+$') as client from pg_stat_activity
   where datname = current_database() and pid <> pg_backend_pid()) as sessions where client <> $1`,
);

async function refuseUnasked(database: Database): Promise<never> {
  const [found] = await instancesStatement(database.pool, connectionName('').split(' ').at(-1) ?? '');
  const running = found?.names ? ` Stop the instances first; these are connected: ${found.names}.` : '';
  throw new Failure(
    `Nothing was done. This command ends the current epoch of all feeds: cursors that point to changes undone by the restore are refused from then on. It cannot be reversed.${running} Run it with --yes to go ahead.`,
  );
}

const markStatement = statement<{ epoch: number }>('mark_restore', 'select mark_restore() as epoch');

async function markRestored({ database, operator }: Acting, { yes }: { yes?: true }): Promise<Answer> {
  if (!yes) return refuseUnasked(database);
  const marked = await inTransaction(database, async (act) => {
    const [row] = await markStatement(act.client);
    if (!row) throw new Error('mark_restore returned no row');
    await recordAct(act, operator, { platformId: null, after: { epoch: row.epoch } });
    return row;
  });
  const feeds = await database.prisma.feedHead.count();
  return {
    data: { epoch: marked.epoch, feeds },
    lines: [
      `The restore is marked: epoch ${marked.epoch} begins in the feeds of ${feeds} platforms.`,
      "Next, compare the payments made after the backup with the providers' records: npm run ops -- rails reconcile.",
    ],
  };
}
