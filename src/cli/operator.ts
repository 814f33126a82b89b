import { InvalidArgumentError } from 'commander';
import { isPlainText } from '../core/checks.ts';

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
