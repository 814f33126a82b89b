import { isPlainText } from './checks.ts';
import { firstIdAt, lastIdAt } from './ids.ts';

/** An optional value, which a caller may leave out or give as null. */
export type Given<T> = T | null | undefined;

/** A condition that no row meets: for a filter by an unknown id, and for a caller who may see no rows. */
export const matchesNothing = { id: { in: [] as string[] } };

/**
 * Returns the condition for rows created in a period. The id contains the creation time, so the index for paging serves
 * this too. Both bounds are inclusive.
 */
export function created(after: Given<Date>, before: Given<Date>) {
  return after || before
    ? { id: { ...(after && { gte: firstIdAt(after) }), ...(before && { lte: lastIdAt(before) }) } }
    : {};
}

/** Returns a condition on text. No row meets it where the text cannot be stored. */
export function byText<Where>(
  text: Given<string>,
  where: (text: string) => Where,
): Where | typeof matchesNothing | object {
  if (text === null || text === undefined) return {};
  return isPlainText(text) ? where(text) : matchesNothing;
}
