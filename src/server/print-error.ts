import { EmbeddedPostgresError } from '../infra/database/embedded/data-directory.ts';
import { MigrationError } from '../infra/database/migrations/migrate.ts';
import { OwnerError } from '../infra/database/owners.ts';
import { PoolerError } from '../infra/database/pooler.ts';
import { ConfigError } from './config.ts';

/** Prints why a program ends: only the message of an error that is meant for its user, otherwise the whole error. */
export function printError(error: unknown): void {
  console.error(messageForUser(error) ?? error);
}

/** Returns the message of an error that is meant for the user of the program; undefined for any other error. */
export function messageForUser(error: unknown): string | undefined {
  const isForUser =
    error instanceof ConfigError ||
    error instanceof EmbeddedPostgresError ||
    error instanceof MigrationError ||
    error instanceof OwnerError ||
    error instanceof PoolerError;
  return isForUser ? error.message : wrongLogin(error);
}

/** Returns the message for a login that is no member of the role of its connection, such as that of the owner of the tables. */
function wrongLogin(error: unknown): string | undefined {
  const role = error instanceof Error ? /denied to set role \W+(gateway_\w+)/.exec(error.message)?.[1] : undefined;
  return (
    role &&
    `The login of DATABASE_URL may not become ${role}. Serve, and run commands, with a login that is only a member of gateway_serving and gateway_work (prisma/roles.sql makes one), and set DATABASE_OWNER_URL for migrations.`
  );
}
