import { joinSql, literal, type Sql, sql } from './sql.ts';

/** A part of JSON under construction: text that is known, or an expression whose value is JSON as text and never null. */
export type JsonPart = { readonly text: string } | { readonly of: Sql };

/** The most arguments that a function of Postgres takes. */
const maxArguments = 90;

/** Writes an expression that concatenates parts of JSON. `concat` writes them one after another; `||` would copy at each step. */
export function concatenate(parts: readonly JsonPart[]): Sql {
  const pieces: Sql[] = [];
  let text = '';
  const flush = () => {
    if (text !== '') pieces.push([literal(text)]);
    text = '';
  };
  for (const part of parts) {
    if ('text' in part) text += part.text;
    else {
      flush();
      pieces.push(part.of);
    }
  }
  flush();
  if (pieces.length === 1) return pieces[0] ?? [];
  const groups: Sql[] = [];
  for (let from = 0; from < pieces.length; from += maxArguments) {
    groups.push(sql`concat(${joinSql(pieces.slice(from, from + maxArguments), ', ')})`);
  }
  return groups.length === 1 ? (groups[0] ?? []) : concatenate(groups.map((of) => ({ of })));
}
