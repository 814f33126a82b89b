import { Part, Shared, type Sql } from './sql.ts';

/** Returns the text of SQL that does not depend on a run. */
export function plainText(sql: Sql): string {
  return sql
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      if (piece instanceof Part) return plainText(piece.sql);
      return piece instanceof Shared ? plainText(piece.query) : '';
    })
    .join(' ');
}
