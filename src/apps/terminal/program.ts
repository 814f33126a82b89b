import { inspect } from 'node:util';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { type Answer, Failure, jsonOf } from './answer.ts';

export interface Screen {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  /** Writes part of a long output, no faster than it is consumed. */
  readonly write: (text: string) => Promise<void>;
  /** Writes lines about progress or errors. */
  readonly err: (text: string) => void;
  /** Returns a signal that aborts when the user stops the command. Until the first call, Ctrl-C ends the process. */
  readonly untilStopped: () => AbortSignal;
}

export interface Job {
  readonly screen: Screen;
  /** Whether to print JSON: a single value or, for continuous output, one value per line. */
  readonly json: boolean;
}

/** A command with a reference to its terminal, which its subcommands share. */
export class Program extends Command {
  readonly screen: Screen;
  constructor(screen: Screen, name?: string) {
    super(name);
    this.screen = screen;
  }
  override createCommand(name?: string): Program {
    return new Program(this.screen, name);
  }
}

const usageCode = 2;
/** The error code of an action that has printed its output and exits with a code other than 0. */
const answered = 'payments.answered';

/**
 * Creates a commander action that calls `work` with the arguments and then the options, and prints the answer or the
 * error. After an error, the exit code is 1, or 2 for an invalid argument.
 */
export function actionOf<Args extends unknown[]>(work: (job: Job, ...args: Args) => Promise<Answer>) {
  return async function (this: Program, ...all: [...Args, Command]): Promise<void> {
    const options = this.optsWithGlobals<{ readonly json?: true }>();
    const job = { screen: this.screen, json: options.json === true };
    // Commander passes the declared arguments, the options of this command and the command itself, which its types
    // cannot express. The last two are replaced by the combined options of this command and the whole program.
    const args = [...all.slice(0, -2), options] as unknown as Args;
    const exitCode = await work(job, ...args).then(
      (answer) => print(job, answer),
      (error: unknown) => {
        if (error instanceof InvalidArgumentError) this.error(error.message);
        return printFailure(job, error);
      },
    );
    if (exitCode !== 0) throw new CommanderError(exitCode, answered, '');
  };
}

function print({ screen, json }: Job, { data, lines = [], exitCode = 0 }: Answer): number {
  if (!json && lines.length > 0) screen.out(lines.join('\n'));
  if (json && data !== undefined) screen.out(jsonOf(data));
  return exitCode;
}

function printFailure({ screen, json }: Job, error: unknown): number {
  const words = error instanceof Failure ? error.message : inspect(error);
  if (json) screen.out(JSON.stringify({ error: words, ...(error instanceof Failure && { code: error.code }) }));
  else screen.err(words);
  return 1;
}

/** Runs a command line. Returns 0 on success, 1 if something is wrong or was refused, 2 for invalid arguments. */
export async function run(program: Program, args: readonly string[]): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.code === answered || error.exitCode === 0 ? error.exitCode : usageCode;
  }
}

/** Creates a parser for whole numbers from `least` to `most`. */
export const counted = (least: number, most: number) => (text: string) => {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < least || count > most)
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  return count;
};
