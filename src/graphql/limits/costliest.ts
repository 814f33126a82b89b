import type { CostlyField } from './document-size.ts';

/** A field of a document with its cost, that of all below it included. */
export interface CostlyPath {
  /** The response keys from the root to the field. */
  readonly path: readonly string[];
  readonly cost: number;
}

/**
 * Finds what makes a document expensive: it follows the costliest fields down for as long as one makes up more than half of the
 * cost above it, and returns the last list on the way. Fewer of those rows, or fewer fields of each, help most. Without a list on
 * the way it returns the costliest root field.
 */
export function costliestPath(root: CostlyField): CostlyPath {
  const path = [root.responseKey];
  let found: CostlyPath = { path: [...path], cost: root.cost };
  let times = 1;
  for (let field = root; ; ) {
    const { below } = field;
    if (!below || below.cost * field.times <= field.cost / 2) return found;
    times *= field.times;
    field = below;
    path.push(field.responseKey);
    if (field.isSized) found = { path: [...path], cost: times * field.cost };
  }
}
