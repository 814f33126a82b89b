import SchemaBuilder, {
  BasePlugin,
  type PothosInterfaceTypeConfig,
  type PothosOutputFieldConfig,
  type PothosUnionTypeConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { GraphQLFieldResolver, GraphQLTypeResolver } from 'graphql';
import { isPlanned } from './planned.ts';

const name = 'reading' as const;
export default name;

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      reading: ReadingPlugin<Types>;
    }
  }
}

/** Makes the executor take what a plan has read: a field by its response key, a type by its name. */
export class ReadingPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (field.kind === 'Query' || field.kind === 'Mutation' || field.kind === 'Subscription') return resolver;
    return (parent, args, context, info) =>
      isPlanned(parent) ? parent[info.path.key] : resolver(parent, args, context, info);
  }

  override wrapResolveType(
    resolveType: GraphQLTypeResolver<unknown, Types['Context']>,
    _type: PothosInterfaceTypeConfig | PothosUnionTypeConfig,
  ): GraphQLTypeResolver<unknown, Types['Context']> {
    return (value, context, info, type) => (isPlanned(value) ? value[''] : resolveType(value, context, info, type));
  }
}

SchemaBuilder.registerPlugin(name, ReadingPlugin);
