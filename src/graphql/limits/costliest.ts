import type { CostlyField } from './document-size.ts';

/** A field in a document, and what it and all below it cost. */
export interface CostlyPath {
  /** The response keys that lead to it. */
  readonly path: readonly string[];
  readonly cost: number;
}

/**
 * Finds what makes a document expensive. It follows the costliest fields down for as long as one makes up more than half of what is above it, and
 * answers the last list on the way: to ask for fewer of those rows, or for less of each, helps most. Where there is no list it is the costliest
 * root field.
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
