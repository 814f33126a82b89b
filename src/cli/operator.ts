import { userInfo } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import type { Operator } from '../access/operator-acts.ts';
import { isPlainText } from '../core/checks.ts';

/** What an operator says of an act, as options of its command. */
export interface Said {
  readonly by?: string;
  readonly reason?: string;
}

/** Adds the options of a command that changes something: who does it, and why. Acts name them (`acts`). */
export function actOf(command: Command): Command {
  return command
    .option('--by <name>', 'who does it; without it, the login on this machine', nameIn)
    .option('--reason <text>', 'why', reasonIn);
}

/** Returns the operator of an act: `act` is the command, as it is typed. */
export function operatorOf(act: string, { by, reason }: Said): Operator {
  return { by: by ?? loginName(), act, ...(reason !== undefined && { reason }) };
}

/** Returns the name of the login, or its number where the machine has no name for it, as in some containers. */
function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Checks the name of an operator: 1 to 200 characters, with something else than spaces. */
export const nameIn = (text: string): string => textIn(text, 200);

/** Checks the reason that an operator gives: 1 to 1,000 characters, with something else than spaces. */
export const reasonIn = (text: string): string => textIn(text, 1_000);

function textIn(text: string, longest: number): string {
  const trimmed = text.trim();
  if (trimmed === '') throw new InvalidArgumentError('It is empty.');
  if ([...trimmed].length > longest) throw new InvalidArgumentError(`It has more than ${longest} characters.`);
  if (!isPlainText(trimmed)) throw new InvalidArgumentError('It has characters that cannot be stored or shown.');
  return trimmed;
}

/** Reads how many rows a list has at most: 1 to 10,000. */
export function countIn(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > 10_000) throw new InvalidArgumentError('It must be 1 to 10000.');
  return count;
}
