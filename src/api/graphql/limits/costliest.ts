/** The most expensive field of a selection set, with the most expensive one below it. */
export interface CostlyField {
  readonly responseKey: string;
  /** Its cost including everything below it, where the selection set around it is read once. */
  readonly cost: number;
  /** Whether it is a list whose arguments say how many rows it can have. */
  readonly isSized: boolean;
  /** Whether it occurs once in a list, not for each of its rows. */
  readonly isOnce: boolean;
  /** How often its own selection set is counted, except for what occurs once. */
  readonly times: number;
  readonly below: CostlyField | undefined;
}

/** A field of a document with its cost, including everything below it. */
export interface CostlyPath {
  /** The response keys from the root to the field. */
  readonly path: readonly string[];
  readonly cost: number;
}

/**
 * Finds what makes a document expensive: it follows the costliest fields down for as long as one makes up more than half of the
 * cost above it, and returns the last list, or field with a price of its own, on the way. Fewer of those rows, or fewer fields of each, help most. Without a list on
 * the way it returns the costliest root field.
 */
export function costliestPath(root: CostlyField): CostlyPath {
  const path = [root.responseKey];
  let found: CostlyPath = { path: [...path], cost: root.cost };
  let times = 1;
  for (let field = root; ; ) {
    const { below } = field;
    const timesBelow = below?.isOnce ? 1 : field.times;
    if (!below || below.cost * timesBelow <= field.cost / 2) return found;
    times *= timesBelow;
    field = below;
    path.push(field.responseKey);
    if (field.isSized) found = { path: [...path], cost: times * field.cost };
  }
}

export function costlier(one: CostlyField | undefined, other: CostlyField | undefined): CostlyField | undefined {
  return !one || (other && other.cost > one.cost) ? other : one;
}
