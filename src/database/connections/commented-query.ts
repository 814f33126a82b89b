import { statementComment } from '../../instruments/statement-comments.ts';
import { platformStatementNames } from './platform-statement.ts';

/** What `pg.Client.query` takes first: a text, a text with its values, or a query with a protocol of its own. */
type Query = string | { name?: string; text: string; readonly submit?: unknown };

/** Statements that stay as they are prepared. */
const shared: ReadonlySet<string | undefined> = new Set(platformStatementNames);

/**
 * Puts the comment of the current request, where there is one, behind the text of a query. A query with a comment has no name: its
 * text is of this request alone, so it is planned anew. Takes and returns what `pg.Client.query` takes.
 */
export function withComment(given: readonly unknown[]): readonly unknown[] {
  const comment = statementComment();
  if (comment === '') return given;
  const [query, ...rest] = given as readonly [Query, ...unknown[]];
  if (typeof query === 'string') return [query + comment, ...rest];
  if (shared.has(query.name)) return given;
  const commented = { name: '', text: query.text + comment };
  // A query with a protocol of its own holds its state, and is sent once.
  return [query.submit ? Object.assign(query, commented) : { ...query, ...commented }, ...rest];
}
