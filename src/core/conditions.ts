import { type IdType, idAtMoment, uuidOf } from './ids.ts';
import { canonicalText, isPlainText } from './texts.ts';

export type Given<T> = T | null | undefined;

/** A condition that no row meets. Used for filters on an unknown id, and for callers who may not see any rows. */
export const matchesNothing = { id: { in: [] as string[] } };

export interface CreationFilter {
  readonly createdAfter?: Given<Date>;
  readonly createdBefore?: Given<Date>;
}

export interface ChangeFilter extends CreationFilter {
  readonly updatedAfter?: Given<Date>;
  readonly updatedBefore?: Given<Date>;
}

/** Returns the condition for rows created in a period. Ids contain the creation time, so their index suffices. */
export function created({ createdAfter: after, createdBefore: before }: CreationFilter) {
  return after || before
    ? { id: { ...(after && { gte: idAtMoment(after, '0') }), ...(before && { lte: idAtMoment(before, 'f') }) } }
    : {};
}

export function updated({ updatedAfter: after, updatedBefore: before }: ChangeFilter) {
  return after || before ? { updatedAt: { ...(after && { gte: after }), ...(before && { lte: before }) } } : {};
}

/** Returns the condition that a field has one of the given values. Without `values`, it matches every row. */
export function anyOf<Field extends string, Value>(
  field: Field,
  values: Given<readonly Value[]>,
): { readonly [F in Field]?: { in: Value[] } } {
  return values ? equal(field, { in: [...values] }) : {};
}

/** Returns an object with one field. (The compiler would widen a computed name to `string`.) */
export function equal<Field extends string, Value>(field: Field, value: Value) {
  return { [field]: value } as { readonly [F in Field]?: Value };
}

/** Returns a condition on a string in its stored form. Matches no row if the string cannot be stored. */
export function byText(text: Given<string>, where: (text: string) => object): object {
  if (text === null || text === undefined) return {};
  return isPlainText(text) ? where(canonicalText(text)) : matchesNothing;
}

/** Returns a condition on an id. Matches no row if the id is malformed or of another type. */
export function byId(id: Given<string>, where: (uuid: string) => object, type: IdType): object {
  if (id === null || id === undefined) return {};
  const uuid = uuidOf(id, type);
  return uuid === undefined ? matchesNothing : where(uuid);
}
