import type { Pooler } from '../../infra/database/connections/pooled-client.ts';
import type { EmbeddedPostgres } from '../../infra/database/embedded/embedded.ts';
import { makeServingLogin } from '../../infra/database/embedded/serving-login.ts';
import { migrate, verifyMigrations } from '../../infra/database/migrations/migrate.ts';
import { findPooler, prepareLogin } from '../../infra/database/pooler.ts';
import { type Config, ConfigError } from '../config.ts';
import { reachDatabase } from './reach-database.ts';

/** Migrates or checks the configured database, depending on MIGRATE. Returns its address and pooler, if any. */
export async function prepareDatabase(
  config: Config,
  embedded: EmbeddedPostgres | undefined,
  log: (line: string) => void,
): Promise<{ readonly databaseUrl: string; readonly pooler?: Pooler | undefined }> {
  if (embedded) {
    await migrate(embedded.url, { dataDirectory: embedded.dataDirectory, log });
    return { databaseUrl: await makeServingLogin(embedded.url) };
  }
  const databaseUrl = directUrl(config);
  await reachDatabase(config, config.MIGRATE === 'on' ? ['owner', 'direct', 'pooled'] : ['direct', 'pooled'], log);
  if (config.MIGRATE === 'on') {
    await migrate(ownerUrl(config), { log });
    await preparePooledLogin(config);
  }
  if (config.MIGRATE === 'verify') await verifyMigrations(databaseUrl);
  return { databaseUrl, pooler: await poolerOf(config) };
}

/** Returns the address for connections that need a session of their own. */
export function directUrl({ DATABASE_DIRECT_URL, DATABASE_URL }: Config): string {
  return DATABASE_DIRECT_URL ?? DATABASE_URL ?? '';
}

/** Detects the capabilities of the configured pooler, if there is one. Throws OperatorError. */
export async function poolerOf({ DATABASE_DIRECT_URL, DATABASE_URL = '' }: Config): Promise<Pooler | undefined> {
  return DATABASE_DIRECT_URL === undefined ? undefined : findPooler(DATABASE_URL, DATABASE_DIRECT_URL);
}

/** Prepares the login in DATABASE_URL for a pooler. Returns whether a pooler is configured. */
export async function preparePooledLogin({ DATABASE_DIRECT_URL, DATABASE_URL = '' }: Config): Promise<boolean> {
  if (DATABASE_DIRECT_URL === undefined) return false;
  await prepareLogin(DATABASE_URL, DATABASE_DIRECT_URL);
  return true;
}

/** Checks the schema and returns the address to use. Used by commands, which never migrate. @throws OperatorError */
export async function verifiedDatabase(config: Config, embedded: EmbeddedPostgres | undefined): Promise<string> {
  if (embedded) {
    await verifyMigrations(embedded.url, { dataDirectory: embedded.dataDirectory });
    return makeServingLogin(embedded.url);
  }
  const url = directUrl(config);
  await reachDatabase(config, ['direct']);
  await verifyMigrations(url);
  return url;
}

/** Returns the address used to apply migrations. Throws ConfigError if there is none. */
export function ownerUrl({ DATABASE_OWNER_URL, DATABASE_DIRECT_URL, DATABASE_URL }: Config): string {
  const url = DATABASE_OWNER_URL ?? DATABASE_DIRECT_URL ?? DATABASE_URL;
  if (url === undefined)
    throw new ConfigError(['DATABASE_OWNER_URL or DATABASE_URL must name the database to migrate']);
  return url;
}
