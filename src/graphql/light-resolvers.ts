import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql';

/** Registered before the prisma plugin, around whose resolvers it goes. */
const name = 'lightResolvers' as const;
export default name;

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      lightResolvers: LightResolvers<Types>;
    }
  }
}

type Resolver<Types extends SchemaTypes> = GraphQLFieldResolver<unknown, Types['Context'], object>;

/**
 * Takes off what the prisma plugin does row by row where nothing is gained by it.
 *
 * - Fields that need columns of their row and nothing else are resolved without asking whether the row was loaded for
 *   them. It always was: a row in the hands of a resolver is a whole one (an answer of a command, a snapshot of the
 *   feed), or was read by a statement planned from the very document that is executed.
 * - Fields that need more (relations) do ask, by the identity of their response path, which compiled queries make anew
 *   for every field: they are given the one path object that stands for it in this operation.
 */
export class LightResolvers<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(resolver: Resolver<Types>, field: PothosOutputFieldConfig<Types>): Resolver<Types> {
    const selection = field.extensions?.pothosPrismaSelect;
    if (field.kind === 'PrismaObject' && isColumns(selection)) return field.resolve ?? resolver;
    // Two of its fields may be promises (paging.ts), which only a resolver may answer: Pothos leaves plain properties without.
    if (field.parentType === 'PageInfo') return (parent, ...rest) => resolver(parent, ...rest);
    if (field.kind !== 'Query' && !selection) return resolver;
    return (parent, args, context, info) => resolver(parent, args, context, withOnePath(context, info));
  }
}

function isColumns(selection: unknown): boolean {
  return typeof selection === 'object' && selection !== null && Object.values(selection).every((one) => one === true);
}

type Path = GraphQLResolveInfo['path'];

/** A place in the response, and the places below it. */
interface Place {
  readonly path: Path | undefined;
  readonly below: Map<string | number, Place>;
}

const roots = new WeakMap<object, Place>();

function withOnePath(context: object, info: GraphQLResolveInfo): GraphQLResolveInfo {
  // graphql-js's own paths name the type and are shared already.
  if (info.path.typename !== undefined) return info;
  let root = roots.get(context);
  if (!root) {
    root = { path: undefined, below: new Map() };
    roots.set(context, root);
  }
  return { ...info, path: placeOf(root, info.path).path ?? info.path };
}

function placeOf(root: Place, path: Path): Place {
  const above = path.prev ? placeOf(root, path.prev) : root;
  let place = above.below.get(path.key);
  if (!place) {
    place = { path: { key: path.key, prev: above.path, typename: undefined }, below: new Map() };
    above.below.set(path.key, place);
  }
  return place;
}

SchemaBuilder.registerPlugin(name, LightResolvers);
