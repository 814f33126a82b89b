import { isDatabaseFault, OperatorError } from '../infra/database/faults.ts';
import { ConfigError } from './config.ts';

/** Prints why a program exits: just the message if the error is meant for the user, otherwise the whole error. */
export function printError(error: unknown): void {
  console.error(messageForUser(error) ?? error);
}

/** Returns the message of an error that is meant for the program's user; undefined for any other error. */
export function messageForUser(error: unknown): string | undefined {
  if (error instanceof ConfigError || error instanceof OperatorError) return error.message;
  return wrongLogin(error) ?? (isDatabaseFault(error) ? `The database cannot be used: ${wordsOf(error)}.` : undefined);
}

/** Returns the message for a login, such as the table owner, that is not a member of the role it should assume. */
function wrongLogin(error: unknown): string | undefined {
  const role = error instanceof Error ? /denied to set role \W+(gateway_\w+)/.exec(error.message)?.[1] : undefined;
  return (
    role &&
    `The login in DATABASE_URL is not a member of ${role}. Run the service and its commands with a login that is a member only of gateway_serving and gateway_work (prisma/roles.sql creates one), and set DATABASE_OWNER_URL for migrations.`
  );
}

/** Returns an error's message. If Node has tried several addresses, the message gives a reason for each. */
export function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(wordsOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
