import type { Env, Read } from './reads.ts';
import { Part, Shared, type Sql } from './sql.ts';

/** Returns the SQL of a read that does not depend on a run. */
export function plainReadText(read: Read, row = 'r'): string {
  const env: Env = { row };
  switch (read.kind) {
    case 'leaf':
      return plainText(read.sql(env, () => ({})));
    case 'value':
      return [...Object.values(read.env(env)), plainText(read.unless?.(env) ?? [])].join(' ');
    case 'values': {
      const { from, orderBy } = read.from(env, 'x', () => ({}));
      return `${plainText(from)} ${orderBy} ${plainText(read.unless?.(env) ?? [])}`;
    }
    case 'row':
      return plainText(read.from(env, 'x', () => ({})));
    case 'rowOf':
      return Object.values(read.types)
        .map((from) => plainText(from(env, 'x')))
        .join(' ');
    // Lists and other nodes are not made of the row.
    case 'page':
    case 'node':
      return '';
  }
}

/** Returns the text of SQL that does not depend on a run. */
function plainText(sql: Sql): string {
  return sql
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      if (piece instanceof Part) return plainText(piece.sql);
      return piece instanceof Shared ? plainText(piece.query) : '';
    })
    .join(' ');
}
