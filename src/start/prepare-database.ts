import { type Config, ConfigError } from '../config.ts';
import type { EmbeddedPostgres } from '../database/embedded/embedded.ts';
import { makeServingLogin } from '../database/embedded/serving-login.ts';
import { migrate, verifyMigrations } from '../database/migrations/migrate.ts';

/**
 * Brings the database of the settings to the present schema for a start, or checks that it is, as MIGRATE says. An embedded
 * database is always migrated.
 * @returns the address for the program, whose login need not own the tables
 * @throws MigrationError
 */
export async function prepareDatabase(
  config: Config,
  embedded: EmbeddedPostgres | undefined,
  log: (line: string) => void,
): Promise<string> {
  if (embedded) {
    await migrate(embedded.url, { dataDirectory: embedded.dataDirectory, log });
    return makeServingLogin(embedded.url);
  }
  const url = config.DATABASE_URL ?? '';
  if (config.MIGRATE === 'on') await migrate(ownerUrl(config), { log });
  if (config.MIGRATE === 'verify') await verifyMigrations(url);
  return url;
}

/**
 * Checks that the database of the settings has the present schema, for a command, which never migrates.
 * @returns the address for the program, whose login need not own the tables
 * @throws MigrationError
 */
export async function verifiedDatabase(config: Config, embedded: EmbeddedPostgres | undefined): Promise<string> {
  if (embedded) {
    await verifyMigrations(embedded.url, { dataDirectory: embedded.dataDirectory });
    return makeServingLogin(embedded.url);
  }
  const url = config.DATABASE_URL ?? '';
  await verifyMigrations(url);
  return url;
}

/**
 * Returns the address with which migrations are applied.
 * @throws ConfigError without an address of a database
 */
export function ownerUrl({ DATABASE_OWNER_URL, DATABASE_URL }: Config): string {
  const url = DATABASE_OWNER_URL ?? DATABASE_URL;
  if (url === undefined) {
    throw new ConfigError(['DATABASE_OWNER_URL or DATABASE_URL must name the database to migrate']);
  }
  return url;
}
