import type { Plan } from './plan.ts';

/**
 * Merges plans into one that does everything they do, in order. Nothing is lost: lists are concatenated.
 * @throws Error if two of them have a claim, a result or an alternative, of which a plan can have only one
 */
export function mergePlans(...plans: readonly Plan[]): Plan {
  return plans.reduce(merge, {});
}

/** The fields that are objects of lists; other fields are lists themselves, or occur in only one of the plans. */
const groups: ReadonlySet<string> = new Set<keyof Plan>(['insert', 'requireActive']);

function merge(one: object, other: object): object {
  const merged: Record<string, unknown> = { ...one };
  for (const [field, value] of Object.entries(other)) {
    const before = merged[field];
    if (value === undefined || value === null) continue;
    if (before === undefined || before === null) merged[field] = value;
    else if (Array.isArray(before)) merged[field] = [...before, ...value];
    else if (groups.has(field)) merged[field] = merge(before, value);
    else throw new Error(`cannot merge two plans that both have a ${field}`);
  }
  return merged;
}
