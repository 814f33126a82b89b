import type { GraphQLError } from 'graphql';
import { currencyOf, formatMoney } from '../../core/currencies.ts';
import { invalidInput } from '../failure.ts';

/**
 * What the database leaves to be finished: it writes a mark, between two characters that JSON never has as they are, and what
 * the mark stands for is put in its place.
 */

const delimiter = '\u0001';

/** A timeline lacks a change that has been committed and has no place in the feed yet: it is there in a moment. */
export class NotSequenced extends Error {}

/** The mark of a timeline that is not complete, before what there is of it. */
export const notSequencedPlaceholder = `chr(1) || 'later' || chr(1)`;

/** The mark of an amount for people, in the locale that is noted under this number. */
export function formattedPlaceholder(amount: string, currency: string, locale: number): string {
  return `concat(chr(1), 'money ', ${amount}, ' ', ${currency}, ' ${locale}', chr(1))`;
}

const placeholders = new RegExp(`${delimiter}([^${delimiter}]*)${delimiter}`, 'g');

/** The key of an object that stands for an error: no field has such a name. */
const errorKey = '!';

/** What a run has remembered for the end. */
export interface Notes {
  readonly notes: readonly unknown[];
  /** Errors of the caller's: what has one of their numbers under `errorKey` stands for it. */
  readonly errors: GraphQLError[];
}

/** JSON that stands for an error. */
export function errorJson(error: GraphQLError, { errors }: Pick<Notes, 'errors'>): string {
  return `{"${errorKey}":${errors.push(error) - 1}}`;
}

/**
 * Puts in what the marks stand for.
 * @param isLast whether what is not sequenced is not waited for any more
 * @throws NotSequenced
 */
export function fillPlaceholders(json: string, run: Notes, isLast: boolean): string {
  if (!json.includes(delimiter)) return json;
  return json.replace(placeholders, (_whole, what: string) => {
    const [kind, amount = '0', code = '', note = '0'] = what.split(' ');
    if (kind === 'later') {
      if (isLast) return '';
      throw new NotSequenced();
    }
    const currency = currencyOf(code);
    if (!currency) throw new Error(`unknown currency ${code}`);
    const text = formatMoney(BigInt(amount), currency, String(run.notes[Number(note)]));
    return typeof text === 'string' ? JSON.stringify(text) : errorJson(invalidInput(text.message, 'locale'), run);
  });
}

/** JSON as values, with errors where they stand: the executor throws those. */
export function parseAnswer(json: string, { errors }: Pick<Notes, 'errors'>): unknown {
  if (errors.length === 0) return JSON.parse(json);
  return JSON.parse(json, (_key, value) =>
    typeof value === 'object' && value !== null && errorKey in value ? errors[value[errorKey]] : value,
  );
}
