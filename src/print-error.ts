import { type Config, ConfigError } from './config.ts';
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

/** Returns a ConfigError about HOST or PORT for an error of the operating system; any other error unchanged. */
export function listenError(error: unknown, { HOST, PORT }: Pick<Config, 'HOST' | 'PORT'>): unknown {
  switch (error instanceof Error && 'code' in error && error.code) {
    case 'EADDRINUSE':
      return new ConfigError([`PORT ${PORT} of ${HOST} is in use by another process: stop it, or set another PORT`]);
    case 'EACCES':
      return new ConfigError([`PORT ${PORT} may not be opened by this user: set a PORT of 1024 or above`]);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ConfigError([`HOST ${HOST} is no address of this machine`]);
    default:
      return error;
  }
}
