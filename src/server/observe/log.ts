import pg from 'pg';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { withoutNulls } from '../../core/json.ts';
import { currentPlatform, noPlatform } from '../../infra/database/connections/platform-scope.ts';
import { StatementFailed } from '../../infra/database/connections/prisma-driver.ts';
import { currentRequest } from '../../infra/instruments/request-facts.ts';

/** The names of fields with secrets or personal data. Their values are redacted, including those one level down. */
const hiddenNames = [
  ...['authorization', 'password', 'secret', 'clientSecret', 'token', 'cookie', 'body', 'variables'],
  ...['email', 'phone', 'fullName', 'legalName', 'birthDate', 'address1', 'taxId', 'umaAddress'],
  ...['accountNumber', 'iban', 'details', 'beneficiary', 'senderInformation'],
];

const options: LoggerOptions = {
  redact: { paths: hiddenNames.flatMap((name) => [name, `*.${name}`]), censor: '[hidden]' },
  serializers: { err: errorFacts },
  // Each line includes its request and platform. The line's own fields come last and take precedence.
  mixin() {
    const platform = currentPlatform();
    return { ...currentRequest(), ...(platform !== noPlatform && { platform }) };
  },
};

/** Opens an instance's log, which is written to standard error as JSON lines. */
export function openLog(level: string, stream: DestinationStream = pino.destination({ dest: 2, sync: false })): Logger {
  return pino({ ...options, level }, stream);
}

/** Returns the fields to log for an error, omitting a statement's rows and values, which may be personal data. */
function errorFacts(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  if (error instanceof StatementFailed) return errorFacts(error.cause);
  const { code, severity, constraint, table, column, routine } = error as Partial<pg.DatabaseError>;
  return {
    type: error.constructor.name,
    message: safeMessage(error),
    ...withoutNulls({ code, severity, constraint, table, column, routine }),
    // The first lines of a stack trace repeat the message.
    stack: error.stack
      ?.split('\n')
      .filter((line) => /^\s+at /.test(line))
      .join('\n'),
    ...(error.cause !== undefined && error.cause !== error && { cause: errorFacts(error.cause) }),
    ...(error instanceof AggregateError && { errors: error.errors.slice(0, 5).map(errorFacts) }),
  };
}

/** Removes the invalid values that Postgres quotes, and the call arguments that Prisma prints. */
function safeMessage(error: Error): string {
  if (error instanceof pg.DatabaseError && error.code?.startsWith('22'))
    return error.message.replaceAll(/"[^"]*"/g, '"…"');
  if (!error.constructor.name.startsWith('Prisma')) return error.message;
  const lines = error.message.split('\n').filter((line) => line.trim() !== '');
  return error.constructor.name === 'PrismaClientValidationError' ? (lines[0] ?? '') : (lines.at(-1) ?? '');
}
