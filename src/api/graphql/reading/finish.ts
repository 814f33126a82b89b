import type { GraphQLError } from 'graphql';
import { currencyOf, formatMoney } from '../../../core/currencies.ts';
import { invalidInput } from '../failure.ts';
import { errorKey, type Run, type Sql, sql } from './sql.ts';

/**
 * Fills placeholders in the database's JSON with values that only this process knows. Placeholders are delimited by
 * control characters, which JSON text contains only in escaped form.
 */

const delimiter = '\u0001';

/** The separator between the values of a query's root fields, as SQL and as text. */
export const valueSeparator = { sql: [`chr(2)`], text: '\u0002' } as const;

/** Thrown if a timeline lacks a change that is committed but not sequenced yet. Sequencing takes a moment. */
export class NotSequenced extends Error {}

/** The SQL for the placeholder that marks a timeline as incomplete. It precedes the timeline. */
export const notSequencedPlaceholder = `chr(1) || 'later' || chr(1)`;

/** Writes the SQL placeholder for a formatted amount. `locale` is the number under which `note` stored the locale. */
export function formattedPlaceholder(amount: string, currency: string, locale: number): string {
  return `concat(chr(1), 'money ', ${amount}, ' ', ${currency}, ' ${locale}', chr(1))`;
}

/** Writes the SQL placeholder for a computed value. `note` stores the function in the run and returns its number. */
export function computedPlaceholder(json: Sql, note: (run: Run) => number): Sql {
  return sql`concat(chr(1), 'computed ', ${json}, ' ${(run) => String(note(run))}', chr(1))`;
}

/** Writes the SQL placeholder for the cursor of a position in a list. It is replaced with the cursor in quotes. */
export function cursorPlaceholder(list: string, position: Sql): Sql {
  return sql`chr(1) || 'cursor ${list} ' || ${position} || chr(1)`;
}

/**
 * Replaces a response's placeholders with their values.
 * @throws NotSequenced for an incomplete timeline, unless `isLast`
 */
export function fillPlaceholders(json: string, run: Run, isLast: boolean): string {
  let [filled, end] = ['', 0];
  // Uses `indexOf`, because a regular expression takes several times as long on a long response with few placeholders.
  for (let start = json.indexOf(delimiter); start >= 0; start = json.indexOf(delimiter, end)) {
    const close = json.indexOf(delimiter, start + 1);
    filled += json.slice(end, start) + filling(json.slice(start + 1, close), run, isLast);
    end = close + 1;
  }
  return end === 0 ? json : filled + json.slice(end);
}

function filling(placeholder: string, run: Run, isLast: boolean): string {
  if (placeholder.startsWith('computed ')) return computed(placeholder, run);
  const [kind, amount = '0', code = '', note = '0'] = placeholder.split(' ');
  if (kind === 'cursor') return `"${run.cursors.write(amount, run.viewer.platformId, code)}"`;
  if (kind === 'later') {
    if (isLast) return '';
    throw new NotSequenced();
  }
  const currency = currencyOf(code);
  if (!currency) throw new Error(`unknown currency ${code}`);
  const text = formatMoney(BigInt(amount), currency, String(run.notes[Number(note)]));
  return typeof text === 'string' ? JSON.stringify(text) : run.errorJson(invalidInput(text.message, 'locale'));
}

function computed(placeholder: string, { notes }: Run): string {
  const end = placeholder.lastIndexOf(' ');
  const compute = notes[Number(placeholder.slice(end))] as (value: unknown) => unknown;
  return JSON.stringify(compute(JSON.parse(placeholder.slice('computed '.length, end))));
}

/** Parses a response, turning the objects that stand for errors into GraphQLErrors, which the executor throws. */
export function parseAnswer(json: string, errors: readonly GraphQLError[]): unknown {
  if (errors.length === 0) return JSON.parse(json);
  return JSON.parse(json, (_key, value) =>
    typeof value === 'object' && value !== null && errorKey in value ? errors[value[errorKey]] : value,
  );
}
