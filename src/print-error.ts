import { ConfigError } from './config.ts';
import { EmbeddedPostgresError } from './database/embedded/embedded-error.ts';
import { MigrationError } from './database/migrations/migrate.ts';

/** Prints why a program ends: of an error that was made for the person who started it only the message, without a stack. */
export function printError(error: unknown): void {
  const forPeople =
    error instanceof ConfigError || error instanceof EmbeddedPostgresError || error instanceof MigrationError;
  console.error(forPeople ? error.message : error);
}
