import DataLoader from 'dataloader';
import type { GraphQLResolveInfo } from 'graphql';
import type { Context } from './context.ts';

/** The loaders of an operation, by field and purpose. */
const loaders = new WeakMap<Context, WeakMap<object, Map<string, DataLoader<string, number>>>>();

/**
 * A count for one row, asked together with the counts that the same field needs for its sibling rows: one statement for
 * all, however many there are. Rows that are not among the `counts` have 0.
 */
export function countTogether(
  context: Context,
  info: GraphQLResolveInfo,
  purpose: string,
  id: string,
  counts: (ids: readonly string[]) => Promise<ReadonlyMap<string | null, number>>,
): Promise<number> {
  const field = info.fieldNodes[0];
  if (!field) throw new Error('a field is resolved for a node of its document');
  const byField = loaders.get(context) ?? new WeakMap();
  loaders.set(context, byField);
  const byPurpose = byField.get(field) ?? new Map();
  byField.set(field, byPurpose);
  const loader =
    byPurpose.get(purpose) ??
    new DataLoader<string, number>(async (ids) => {
      const found = await counts(ids);
      return ids.map((wanted) => found.get(wanted) ?? 0);
    });
  byPurpose.set(purpose, loader);
  return loader.load(id);
}
