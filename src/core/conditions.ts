import { firstIdAt, type IdType, lastIdAt, uuidOf } from './ids.ts';
import { canonicalText, isPlainText } from './texts.ts';

export type Given<T> = T | null | undefined;

/** A condition that no row meets. Used for filters by an unknown id, and for callers who may see no rows. */
export const matchesNothing = { id: { in: [] as string[] } };

export interface CreationFilter {
  readonly createdAfter?: Given<Date>;
  readonly createdBefore?: Given<Date>;
}

export interface ChangeFilter extends CreationFilter {
  readonly updatedAfter?: Given<Date>;
  readonly updatedBefore?: Given<Date>;
}

/** Returns the condition for rows created in a period. Ids contain the time, so the index on ids is enough. */
export function created({ createdAfter: after, createdBefore: before }: CreationFilter) {
  return after || before
    ? { id: { ...(after && { gte: firstIdAt(after) }), ...(before && { lte: lastIdAt(before) }) } }
    : {};
}

export function updated({ updatedAfter: after, updatedBefore: before }: ChangeFilter) {
  return after || before ? { updatedAt: { ...(after && { gte: after }), ...(before && { lte: before }) } } : {};
}

export function anyOf<Field extends string, Value>(
  field: Field,
  values: Given<readonly Value[]>,
): { readonly [F in Field]?: { in: Value[] } } {
  // The compiler would widen a computed name to `string`.
  return (values ? { [field]: { in: [...values] } } : {}) as { readonly [F in Field]?: { in: Value[] } };
}

export function byText<Where>(
  text: Given<string>,
  where: (text: string) => Where,
): Where | typeof matchesNothing | object {
  if (text === null || text === undefined) return {};
  return isPlainText(text) ? where(canonicalText(text)) : matchesNothing;
}

export function byId<Where>(
  id: Given<string>,
  where: (uuid: string) => Where,
  type: IdType,
): Where | typeof matchesNothing | object {
  if (id === null || id === undefined) return {};
  const uuid = uuidOf(id, type);
  return uuid === undefined ? matchesNothing : where(uuid);
}
