import {
  assertObjectType,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  getNamedType,
  isAbstractType,
  isObjectType,
} from 'graphql';
import { tableOf } from '../../../infra/database/conditions.ts';
import { columnName } from '../../../infra/database/rows.ts';
import type { Context } from '../context.ts';
import { modelOf } from './derive.ts';
import { Planner, typeKey } from './plan.ts';
import type { Model } from './reads.ts';
import { runField } from './run.ts';
import { stockNode } from './stock.ts';

/** An object that a plan has read. It has the form of the response, so resolvers pick its fields by response key. */
interface Planned {
  /** The name of the object's type, under a key that no field can have. */
  readonly '': string;
  readonly [responseKey: string]: unknown;
}

/** Returns whether an object was read by a plan. If so, it has the form of the response, not of a row. */
export function isPlanned(value: unknown): value is Planned {
  return typeof value === 'object' && value !== null && typeKey in value;
}

/**
 * Reads a field with everything that the document selects below it, in one statement. The field belongs to the query
 * type, or to a row that was not read by a plan (a command's result, or a snapshot from the feed).
 */
export async function readField(parent: unknown, _args: unknown, context: Context, info: GraphQLResolveInfo) {
  const model = modelOf(info.parentType);
  return runField(context, info, { row: model === undefined ? undefined : rowOf(model, parent as object) });
}

/**
 * Resolves a field to the row in a stream's message. If the document selects more than the row contains, everything is
 * read in one statement. If this statement fails, the row's fields are read separately and report their own errors.
 */
export async function readAround<Row extends object>(
  model: Model,
  row: Row,
  context: Context,
  info: GraphQLResolveInfo,
  isNeeded = findFurtherRead(info, false) !== undefined,
): Promise<Row> {
  if (!isNeeded || context.isStock) return row;
  const read = runField(context, info, { row: rowOf(model, row) });
  // The planned object stands in for the row. Resolvers can take fields from either.
  return read.catch(() => row) as Promise<Row>;
}

/** Returns a row's columns as JSON, from which Postgres reconstructs the row. */
function rowOf(model: string, row: object) {
  const json = JSON.stringify(
    Object.fromEntries(Object.entries(row).map(([field, value]) => [columnName(field), value])),
    // Bytes columns contain secrets, which no field exposes.
    (_key, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value instanceof Uint8Array ? undefined : value,
  );
  return { table: tableOf(model), json };
}

/** Reads the row with the given id. Returns null unless it has one of the given types and the caller may see it. */
export async function readNode(
  id: string,
  types: readonly string[],
  context: Context,
  info: GraphQLResolveInfo,
): Promise<never> {
  if (context.isStock) return stockNode(id, types, context, info) as Promise<never>;
  const [node] = (await runField(context, info, { nodes: { types, ids: [id] } })) as readonly (Planned | null)[];
  // The planned object stands in for the row, whatever the row's type.
  return node as never;
}

/**
 * Returns, as `Type.field`, the first field below the one being resolved that no resolver can compute from the row.
 * @param showsExisting whether the available rows may predate the mutation. If so, all fields except ids need a plan.
 */
export function findFurtherRead(info: GraphQLResolveInfo, showsExisting: boolean): string | undefined {
  const { schema } = info;
  const planner = plannerOf(info);

  function* reads(type: GraphQLNamedType, nodes: readonly FieldNode[]): Generator<string> {
    for (const one of isAbstractType(type) ? schema.getPossibleTypes(type) : [type]) {
      if (!isObjectType(one)) continue;
      const isExisting = showsExisting && one.getInterfaces().some(({ name }) => name === 'Node');
      for (const { field, below } of planner.selectedFields(one, nodes)) {
        if (!field) continue;
        const isRead = field.extensions.isOnlyPlanned || (isExisting && field.name !== 'id');
        if (isRead) yield `${one.name}.${field.name}`;
        else yield* reads(getNamedType(field.type), below);
      }
    }
  }

  const [first] = reads(getNamedType(info.returnType), info.fieldNodes);
  return first;
}

/** Returns the names of the fields that a document selects from the object being resolved. */
export function selectedNames(info: GraphQLResolveInfo): ReadonlySet<string> {
  const type = assertObjectType(getNamedType(info.returnType));
  const selected = plannerOf(info).selectedFields(type, info.fieldNodes);
  return new Set(selected.map(({ node }) => node.name.value));
}

function plannerOf({ schema, fragments, variableValues: variables }: GraphQLResolveInfo): Planner {
  return new Planner({ schema, fragments, variables, isTyped: false });
}
