import { isPlainText } from './checks.ts';
import { firstIdAt, lastIdAt } from './ids.ts';

/** What a caller may leave out or give as null. */
export type Given<T> = T | null | undefined;

/** A condition that no row meets: what a filter by an unknown id asks, and what a caller may see none of. */
export const matchesNothing = { id: { in: [] as string[] } };

/** Creation time is inside the id, so the index that pages also serves the dates. Both bounds are inclusive. */
export function created(after: Given<Date>, before: Given<Date>) {
  return after || before
    ? { id: { ...(after && { gte: firstIdAt(after) }), ...(before && { lte: lastIdAt(before) }) } }
    : {};
}

/** Text that cannot be stored is nowhere to be found. */
export function byText<Where>(
  text: Given<string>,
  where: (text: string) => Where,
): Where | typeof matchesNothing | object {
  if (text === null || text === undefined) return {};
  return isPlainText(text) ? where(text) : matchesNothing;
}
