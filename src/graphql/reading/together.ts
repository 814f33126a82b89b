import DataLoader from 'dataloader';
import type { GraphQLResolveInfo } from 'graphql';
import type { Context } from '../context.ts';

const loaders = new WeakMap<Context, WeakMap<object, DataLoader<string, unknown>>>();

/**
 * What a field asks of several rows at the same time, read at once.
 * @param read answers what is asked for, in the order of the ids
 */
export function together<Value>(
  context: Context,
  info: GraphQLResolveInfo,
  read: (ids: readonly string[]) => Promise<readonly Value[]>,
): DataLoader<string, Value> {
  const [node] = info.fieldNodes;
  if (!node) throw new Error('a field is resolved for a node of its document');
  const byNode = loaders.get(context) ?? new WeakMap<object, DataLoader<string, unknown>>();
  loaders.set(context, byNode);
  // The context of a subscription lasts, and rows change: nothing that was read is kept.
  const loader = byNode.get(node) ?? new DataLoader<string, unknown>(read, { cache: false });
  byNode.set(node, loader);
  // A field has one kind of value.
  return loader as DataLoader<string, Value>;
}
