import { once } from 'node:events';
import path from 'node:path';
import { inspect } from 'node:util';
import { type Command, CommanderError } from 'commander';
import { pino } from 'pino';
import { type Config, readConfig } from '../config.ts';
import { Refusal } from '../core/refusal.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { startEmbeddedPostgres } from '../database/embedded/embedded.ts';
import { openPayments } from '../gateway.ts';
import type { Payments } from '../payments/command.ts';
import { messageForUser } from '../print-error.ts';
import { closeRails } from '../rails/load-rails.ts';
import { verifiedDatabase } from '../start/prepare-database.ts';
import { findSecretKey } from '../start/secret-key.ts';
import { findSigningKey } from '../start/signing-key.ts';
import { openWebhooks, type Webhooks } from '../webhooks/webhooks.ts';
import { type Answer, jsonOf } from './answer.ts';

/** What a command works with. It works for all platforms, and never migrates. */
export interface Tools {
  readonly config: Config;
  readonly database: Database;
  readonly payments: Payments;
  readonly webhooks: Webhooks;
  /** Writes a part of a long answer, as fast as it is taken. */
  readonly print: (text: string) => Promise<void>;
  /** Prints a line about what takes long, where a person watches. */
  readonly progress: (line: string) => void;
}

/** A command: takes its arguments and then its options, as they were declared. */
type Work<Given, Args extends readonly unknown[]> = (given: Given, ...args: Args) => Promise<Answer>;

/** Makes the action of a command that needs the settings only, of the environment or of what `from` makes of it. */
export function withSettings<Args extends unknown[]>(
  work: Work<Config, Args>,
  from: (environment: NodeJS.ProcessEnv) => NodeJS.ProcessEnv = (environment) => environment,
) {
  return actionOf<Args>(async (...args) => work(readConfig(from(process.env)), ...args));
}

/**
 * Makes the action of a command on the database of the settings: DATABASE_URL, or the embedded one in DATA_DIR, which a running
 * gateway may use at the same time.
 */
export function withDatabase<Args extends unknown[]>(work: Work<Tools, Args>) {
  return actionOf<Args>(async (...args) => {
    const config = readConfig(process.env);
    const embedded =
      config.DATABASE_URL === undefined
        ? await startEmbeddedPostgres({ dataDir: path.resolve(config.DATA_DIR), warn: (line) => console.error(line) })
        : undefined;
    try {
      const database = openDatabase({
        url: await verifiedDatabase(config, embedded),
        role: 'gateway_work',
        poolSize: 2,
      });
      try {
        const tools = await toolsOf(database, config);
        try {
          return await work(tools, ...args);
        } finally {
          await closeRails(tools.payments.rails);
        }
      } finally {
        await database.close();
      }
    } finally {
      await embedded?.stop();
    }
  });
}

async function toolsOf(database: Database, settings: Config): Promise<Tools> {
  const keys = { SECRET_KEY: await findSecretKey(settings), CLIENT_TOKEN_KEY: await findSigningKey(settings) };
  const config = { ...settings, ...keys };
  const payments = await openPayments(database, config, pino({ level: 'silent' }));
  const progress = (line: string) => process.stderr.isTTY && console.error(line);
  return { config, database, payments, webhooks: openWebhooks(payments, config), print, progress };
}

/** The code of the error with which an action ends that has printed its answer, and has another exit code than 0. */
export const answered = 'ops.answered';

/** Makes what commander calls: it prints the answer, for people or as JSON. Errors exit with 1. */
export function actionOf<Args extends unknown[]>(work: (...args: Args) => Promise<Answer>) {
  return async (...all: [...Args, Command]): Promise<void> => {
    // Commander passes the command last.
    const command = all.at(-1) as Command;
    const asJson = command.optsWithGlobals<{ json?: true }>().json;
    // The last of what a command gets are its options; this adds those of the whole program.
    const args = [...all.slice(0, -2), command.optsWithGlobals()] as unknown as Args;
    const { data, lines, exitCode = 0 } = await work(...args).catch(answerOf);
    if (asJson) console.log(jsonOf(data));
    else if (lines.length === 0) return;
    else if (exitCode === 0) console.log(lines.join('\n'));
    else console.error(lines.join('\n'));
    if (exitCode !== 0) throw new CommanderError(exitCode, answered, '');
  };
}

/** Writes to the standard output, and waits until there is room for more. */
async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** Makes the answer of a command that failed: in words where the error is meant for its user. */
function answerOf(error: unknown): Answer {
  const reason = error instanceof Refusal ? `${error.message} (${error.code})` : messageForUser(error);
  const words = reason ?? inspect(error);
  return { data: { error: words }, lines: [words], exitCode: 1 };
}
