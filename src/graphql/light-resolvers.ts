import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql';
import { onePath, type Place, topPlace } from './places.ts';
import { sharedPlans } from './shared-plans.ts';

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
 *   them, where it has those columns. It seldom lacks one: what a document asks for with two sets of arguments is planned
 *   for one of them, and what else the other asks of the same row is left to be loaded.
 * - Fields that need more (relations) do ask, by the identity of their response path, which compiled queries make anew
 *   for every field: they are given the one path object that stands for it in this operation.
 */
export class LightResolvers<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(resolver: Resolver<Types>, field: PothosOutputFieldConfig<Types>): Resolver<Types> {
    const selection = field.extensions?.pothosPrismaSelect;
    if (field.kind === 'PrismaObject' && isColumns(selection)) {
      const columns = Object.keys(selection);
      const pick = field.resolve ?? resolver;
      return (row, args, context, info) =>
        columns.every((column) => column in Object(row))
          ? pick(row, args, context, info)
          : resolver(row, args, context, withOnePath(context, info));
    }
    // Two of its fields may be promises (paging.ts), which only a resolver may answer: Pothos leaves plain properties without.
    if (field.parentType === 'PageInfo') return (parent, ...rest) => resolver(parent, ...rest);
    if (field.kind !== 'Query' && !selection) return resolver;
    return (parent, args, context, info) => resolver(parent, args, context, withOnePath(context, info));
  }
}

function isColumns(selection: unknown): selection is object {
  return typeof selection === 'object' && selection !== null && Object.values(selection).every((one) => one === true);
}

/** The places of an operation whose plans are its own. */
const ownPlaces = new WeakMap<object, Place>();

function withOnePath(context: object, info: GraphQLResolveInfo): GraphQLResolveInfo {
  // graphql-js's own paths name the type and are shared already.
  if (info.path.typename !== undefined) return info;
  const plans = sharedPlans(context);
  if (plans) return { ...info, path: onePath(plans.top, info.path, true) };
  let top = ownPlaces.get(context);
  if (!top) {
    top = topPlace();
    ownPlaces.set(context, top);
  }
  return { ...info, path: onePath(top, info.path, false) };
}

SchemaBuilder.registerPlugin(name, LightResolvers);
