import { positionOf } from '../../../../domain/events/cursor.ts';
import { hasPosition } from '../../../../domain/events/reads.ts';
import { cursorUndone } from '../../failure.ts';
import type { CursorArgument } from '../../paging.ts';
import { base64Url, byNumber, type PageKey, type Read } from '../../reading/reads.ts';
import { type Run, sql } from '../../reading/sql.ts';

/** Writes the position of an event as its cursor has it. */
const positionText = (row: string) => `${row}.sequence || coalesce(':' || ${row}.epoch, '')`;

/** Reads the feed's cursor of an event, in the form of feedCursor (events/cursor.ts). */
export const feedCursorRead: Read = {
  kind: 'leaf',
  costs: 'rows',
  sql: ({ row = '' }) =>
    sql`'"' || ${base64Url([`'feed:' || right(${row}.platform_id::text, 12) || ':' || ${positionText(row)}`])} || '"'`,
};

/** The order of the feed, which is that of its numbers. */
export const feedOrder: PageKey = {
  ...byNumber('sequence', { of: sequenceIn, sortOrder: 'ASC' }),
  text: positionText,
};

/**
 * Returns the sequence in a cursor, which must be in the feed: where a restore of the database has undone its event, the page
 * would skip others.
 */
function sequenceIn(run: Run, cursor: string, argument: CursorArgument): bigint | undefined {
  const { platformId } = run.viewer;
  const position = positionOf(platformId, cursor);
  if (!position) return undefined;
  run.require({
    key: cursor,
    holds: (on) => hasPosition(on, platformId, position),
    refusal: () => cursorUndone(argument),
  });
  return position.sequence;
}
