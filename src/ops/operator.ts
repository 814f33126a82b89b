import { userInfo } from 'node:os';
import { InvalidArgumentError } from 'commander';
import type { Program } from '../apps/terminal/program.ts';
import { canonicalText, textFault } from '../core/texts.ts';
import type { Operator } from '../domain/access/operator-acts.ts';

/** The options that name an act's operator and reason. */
export interface Said {
  readonly by?: string;
  readonly reason?: string;
}

export type Decided = Required<Said>;

/** Adds the options of a command that changes something: who does it, and why. Acts name them (`acts`). */
export function actOf(command: Program): Program {
  return command
    .option('--by <name>', 'who does it (default: your login on this machine)', textIn(200))
    .option('--reason <text>', 'why', textIn(1_000));
}

/** Adds the options of a command that needs a responsible person: who decides it, and why. */
export function decisionOf(command: Program, why = 'why'): Program {
  return command
    .requiredOption('--by <name>', 'who decides it', textIn(200))
    .requiredOption('--reason <text>', why, textIn(1_000));
}

/** Returns the operator of an act: `act` is the command as typed. */
export function operatorOf(act: string, said: Decided): Operator & Decided;
export function operatorOf(act: string, said: Said): Operator;
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

const textIn = (longest: number) => (text: string) => {
  const canonical = canonicalText(text);
  const fault = textFault(canonical, longest);
  if (fault !== undefined) throw new InvalidArgumentError(`It ${fault}.`);
  return canonical;
};
