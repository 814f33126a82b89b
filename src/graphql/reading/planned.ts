import DataLoader from 'dataloader';
import type { GraphQLResolveInfo } from 'graphql';
import { tableOf } from '../../database/conditions.ts';
import { columnName } from '../../database/rows.ts';
import type { Context } from '../context.ts';
import { typeKey, typeReadOf } from './plan.ts';
import type { Read } from './reads.ts';
import { runField } from './run.ts';

/**
 * What a plan has read for the executor: objects whose fields stand under the response keys of the document, in the form of the
 * answer. Their resolvers only pick (plugin.ts).
 */
export interface Planned {
  /** The name of its type, under the key that no field can have. */
  readonly '': string;
  readonly [responseKey: string]: unknown;
}

/** Whether a value was read by a plan. */
export function isPlanned(value: unknown): value is Planned {
  return typeof value === 'object' && value !== null && typeKey in value;
}

/** For the options of a field that only a plan makes: how it is read. */
export function planned(read: Read) {
  // What a plan has read is in the form of the answer, which no type of a resolver says.
  return { extensions: { read, isPlanned: true }, resolve: readField as unknown as () => Promise<never> };
}

/**
 * Reads a field with all that the document asks below it, in one statement: of the query, or of a row that no plan has read
 * (what a command answers, a snapshot of the feed).
 */
async function readField(
  parent: unknown,
  _args: unknown,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<unknown> {
  const model = typeReadOf(info.parentType)?.model;
  const row = model === undefined ? undefined : { table: tableOf(model), json: rowJson(parent as object) };
  return runField(context, info, { row });
}

/** A row of the domain's as JSON of its columns, from which Postgres makes the row again. */
function rowJson(row: object): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(row).map(([field, value]) => [columnName(field), value])),
    // Bytes are secrets: no field shows them.
    (_key, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value instanceof Uint8Array ? undefined : value,
  );
}

const loaders = new WeakMap<Context, WeakMap<object, DataLoader<string, Planned | null>>>();

/**
 * Reads what is behind a public id of one of these types as a field asks for it, together with what the same field asks for at
 * the same time, in one statement; null where the caller sees nothing there.
 */
export function readNode(
  id: string,
  types: readonly string[],
  context: Context,
  info: GraphQLResolveInfo,
): Promise<never> {
  const [node] = info.fieldNodes;
  if (!node) throw new Error('a field is resolved for a node of its document');
  const byNode = loaders.get(context) ?? new WeakMap<object, DataLoader<string, Planned | null>>();
  loaders.set(context, byNode);
  const read = async (ids: readonly string[]) =>
    (await runField(context, info, { nodes: { types, ids } })) as (Planned | null)[];
  // The context of a subscription lasts, and rows change: nothing that was read is kept.
  const loader = byNode.get(node) ?? new DataLoader(read, { cache: false });
  byNode.set(node, loader);
  // As in `planned`.
  return loader.load(id) as Promise<never>;
}
