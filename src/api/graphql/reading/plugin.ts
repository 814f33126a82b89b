import SchemaBuilder, {
  BasePlugin,
  type PothosInputFieldConfig,
  type PothosInterfaceTypeConfig,
  type PothosOutputFieldConfig,
  type PothosUnionTypeConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { GraphQLFieldResolver, GraphQLTypeResolver } from 'graphql';
import { maxListLength } from '../../../core/checks.ts';
import { wrongArgument } from '../wrong-value.ts';
import { isPlanned } from './planned.ts';
import { priceOf, searchPrice } from './prices.ts';

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
  /** Says in the description of each list that a client sends how long it may be: `wrongArgument` checks it. */
  override onInputFieldConfig(field: PothosInputFieldConfig<Types>): PothosInputFieldConfig<Types> {
    if (field.type.kind !== 'List') return field;
    const description = `${field.description ?? ''} At most ${maxListLength}.`.trim();
    return { ...field, description };
  }

  /** Prices each field by how it is read. */
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const isRoot = field.kind === 'Query';
    const price = priceOf(field.extensions ?? {}, isRoot);
    const search = { price: searchPrice, isBelow: !isRoot };
    return {
      ...field,
      extensions: {
        ...field.extensions,
        price,
        ...(field.extensions?.read && field.kind !== 'Subscription' && { search }),
      },
    };
  }

  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    // The input of a mutation is checked after its permission (schema/mutation.ts).
    if (field.kind === 'Mutation' || field.kind === 'Subscription') return resolver;
    const checked = withSoundArguments(resolver, field);
    if (field.kind === 'Query') return checked;
    return (parent, args, context, info) =>
      isPlanned(parent) ? parent[info.path.key] : checked(parent, args, context, info);
  }

  override wrapSubscribe(
    subscribe: GraphQLFieldResolver<unknown, Types['Context'], object> | undefined,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> | undefined {
    return subscribe && withSoundArguments(subscribe, field);
  }

  override wrapResolveType(
    resolveType: GraphQLTypeResolver<unknown, Types['Context']>,
    _type: PothosInterfaceTypeConfig | PothosUnionTypeConfig,
  ): GraphQLTypeResolver<unknown, Types['Context']> {
    return (value, context, info, type) => (isPlanned(value) ? value[''] : resolveType(value, context, info, type));
  }
}

/** Makes a field report an argument that is none of its scalar, before its resolver gets it. */
function withSoundArguments<Types extends SchemaTypes>(
  resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
  { args: declared }: PothosOutputFieldConfig<Types>,
): GraphQLFieldResolver<unknown, Types['Context'], object> {
  if (Object.keys(declared).length === 0) return resolver;
  return (parent, args, context, info) => {
    const wrong = wrongArgument(args);
    if (wrong) throw wrong;
    return resolver(parent, args, context, info);
  };
}

SchemaBuilder.registerPlugin(name, ReadingPlugin);
