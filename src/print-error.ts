import { ConfigError } from './config.ts';
import { EmbeddedPostgresError } from './database/embedded/embedded-error.ts';
import { MigrationError } from './database/migrations/migrate.ts';
import { OwnerError } from './database/owners.ts';

/** Prints why a program ends: only the message of an error that is meant for its user, otherwise the whole error. */
export function printError(error: unknown): void {
  const isForUser =
    error instanceof ConfigError ||
    error instanceof EmbeddedPostgresError ||
    error instanceof MigrationError ||
    error instanceof OwnerError;
  console.error(isForUser ? error.message : error);
}
