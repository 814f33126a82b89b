import { userInfo } from 'node:os';
import path from 'node:path';
import { InvalidArgumentError } from 'commander';
import { pino } from 'pino';
import { openWebhooks, type Webhooks } from '../api/webhooks/webhooks.ts';
import { type Answer, Failure } from '../apps/terminal/answer.ts';
import { actionOf, type Job, type Program, type Screen } from '../apps/terminal/program.ts';
import { parseTimestamp } from '../core/checks.ts';
import { Refusal } from '../core/refusal.ts';
import { canonicalText, textFault } from '../core/texts.ts';
import { type Operator, RefusedByHand } from '../domain/access/operator-acts.ts';
import type { Payments } from '../domain/commands/command.ts';
import { type Database, openDatabase } from '../infra/database/database.ts';
import { startEmbeddedPostgres } from '../infra/database/embedded/embedded.ts';
import { closeRails } from '../rails/load-rails.ts';
import { type Config, readConfig } from '../server/config.ts';
import { openPayments } from '../server/gateway.ts';
import { messageForUser } from '../server/print-error.ts';
import { findKeys } from '../server/start/key-file.ts';
import { verifiedDatabase } from '../server/start/prepare-database.ts';

/** The context for a command that needs only the settings. */
export interface Settings extends Job {
  readonly config: Config;
}

/** The context of a command. Its connection sees all platforms and never applies migrations. */
export interface Tools extends Settings {
  readonly database: Database;
  readonly payments: Payments;
  readonly webhooks: Webhooks;
}

/** The context of a command that changes something. */
export interface Acting extends Tools {
  readonly operator: Operator;
}

/** The context of a command for which a named person is responsible. That person must give a reason. */
export interface Deciding extends Tools {
  readonly operator: Operator & { readonly reason: string };
}

/** The function that carries out a command. It receives the context, the declared arguments, and the options. */
type Work<Given, Args extends readonly unknown[]> = (given: Given, ...args: Args) => Promise<Answer>;

/** Creates the action for a command that needs only the settings, read from the environment returned by `from`. */
export function withSettings<Args extends unknown[]>(
  work: Work<Settings, Args>,
  from: (environment: Screen['environment']) => Screen['environment'] = (environment) => environment,
) {
  return actionOf<Args>(async (job, ...args) => {
    try {
      return await work({ ...job, config: readConfig(from(job.screen.environment)) }, ...args);
    } catch (error) {
      if (error instanceof Refusal) throw new Failure(`${error.message} (${error.code})`, error.code);
      const words = error instanceof RefusedByHand ? error.message : messageForUser(error);
      throw words === undefined ? error : new Failure(words);
    }
  });
}

/** Creates the action for a command that uses the configured database, perhaps while the gateway is running. */
function withDatabase<Args extends unknown[]>(work: Work<Tools, Args>) {
  return withSettings<Args>(async (given, ...args) => {
    const { config, screen } = given;
    const opened = new AsyncDisposableStack();
    try {
      const embedded =
        config.DATABASE_URL === undefined
          ? await startEmbeddedPostgres({ dataDir: path.resolve(config.DATA_DIR), warn: screen.err })
          : undefined;
      opened.defer(() => embedded?.stop());
      const url = await verifiedDatabase(config, embedded);
      const database = openDatabase({ url, role: 'gateway_work', poolSize: 2 });
      opened.defer(() => database.close());
      const own = { ...config, ...(await findKeys(config)) };
      const payments = await openPayments(database, own, pino({ level: 'silent' }));
      opened.defer(() => closeRails(payments.rails));
      return await work({ ...given, config: own, database, payments, webhooks: openWebhooks(payments, own) }, ...args);
    } finally {
      await opened.disposeAsync();
    }
  });
}

/** Parses a time with a time zone. @throws InvalidArgumentError for any other string */
function momentIn(text: string): Date {
  const moment = parseTimestamp(text);
  if (!moment) throw new InvalidArgumentError(`${text} is not a time with a time zone.`);
  return moment;
}

/** The argument of commands on one platform. */
export const ofPlatform = ['<platform>', 'the name of the platform'] as const;

/** The argument of commands on one payment. */
export const ofPayment = ['<transaction>', 'the id of the payment: Transaction:…'] as const;

/** Adds the required options for a period to a command. */
export function periodOf(command: Program): Program {
  return command
    .requiredOption('--from <time>', 'the start of the period, such as 2026-01-01T00:00:00Z', momentIn)
    .requiredOption('--to <time>', 'the end of the period, exclusive', momentIn);
}

/** Adds a command that uses the configured database. */
export function addCommand<Args extends unknown[]>(group: Program, name: string, work: Work<Tools, Args>): Program {
  return group.command(name).action(withDatabase(work));
}

/** Returns a command's name as typed, including its group's name. It is recorded for `ops acts`. */
const actOf = (group: Program, name: string) => (group.name() === 'ops' ? name : `${group.name()} ${name}`);

/** Adds a command that changes something. It records the operator, and the reason if one is given, for `ops acts`. */
export function addAct<Args extends unknown[]>(group: Program, name: string, work: Work<Acting, Args>): Program {
  const added: Program = addCommand<Args>(group, name, (tools, ...args) => {
    const { by = loginName(), reason } = added.opts<{ readonly by?: string; readonly reason?: string }>();
    return work({ ...tools, operator: { by, reason, act: actOf(group, name) } }, ...args);
  });
  return added
    .option('--by <name>', 'who is running the command (default: your login on this machine)', textIn(200))
    .option('--reason <text>', 'why', textIn(1_000));
}

/** Adds a command for which a person is responsible. The person must give a name and a reason. */
export function addDecision<Args extends unknown[]>(
  group: Program,
  name: string,
  work: Work<Deciding, Args>,
  why = 'why',
): Program {
  const added: Program = addCommand<Args>(group, name, (tools, ...args) => {
    const { by, reason } = added.opts<{ readonly by: string; readonly reason: string }>();
    return work({ ...tools, operator: { by, reason, act: actOf(group, name) } }, ...args);
  });
  return added
    .requiredOption('--by <name>', 'who decides it', textIn(200))
    .requiredOption('--reason <text>', why, textIn(1_000));
}

/** Returns the login name, or the numeric user id if the machine has no name for it, as in some containers. */
function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

const textIn = (longest: number) => (text: string) => {
  const canonical = canonicalText(text);
  const fault = textFault(canonical, longest);
  if (fault !== undefined) throw new InvalidArgumentError(`It ${fault}.`);
  return canonical;
};
