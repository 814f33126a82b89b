import SchemaBuilder, {
  BasePlugin,
  type PothosInputFieldConfig,
  type PothosInterfaceTypeConfig,
  type PothosOutputFieldConfig,
  type PothosUnionTypeConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { GraphQLFieldResolver, GraphQLSchema, GraphQLTypeResolver } from 'graphql';
import { maxListLength } from '../../../core/checks.ts';
import type { Context } from '../context.ts';
import { wrongArgument } from '../wrong-value.ts';
import { derive } from './derive.ts';
import { rowAt } from './kinds.ts';
import { isPlanned, readField } from './planned.ts';
import { failingAlone } from './semantic-non-null.ts';

const name = 'reading' as const;
export default name;

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      reading: ReadingPlugin<Types>;
    }
  }
}

type Resolver<Types extends SchemaTypes> = GraphQLFieldResolver<unknown, Types['Context'], object>;

/**
 * Derives the fields' reads when the schema is built. Lets the executor use planned objects, which store their fields
 * under the response keys, together with their type's name. It is the first plug-in, so its resolvers wrap those of all
 * others.
 */
export class ReadingPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  /**
   * Adds the maximum length, which `wrongArgument` enforces, to the description of each list in an input, unless the
   * description already states a lower maximum.
   */
  override onInputFieldConfig(field: PothosInputFieldConfig<Types>): PothosInputFieldConfig<Types> {
    if (field.type.kind !== 'List' || /At most \d+/.test(field.description ?? '')) return field;
    const description = `${field.description ?? ''} At most ${maxListLength} entries.`.trim();
    return { ...field, description };
  }

  /** Reads a field, such as a relation, with a separate statement if neither its row nor a plan contains its value. */
  override onOutputFieldConfig(given: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const field = failingAlone(given);
    // A mutation's permission is checked before its input (schema/mutation.ts).
    if (field.kind === 'Mutation' || field.kind === 'Subscription') return field;
    // The Prisma plug-in stores the relation of a `t.relation` field in this undocumented extension.
    const { pothosPrismaRelationField: relation } = (field.extensions ?? {}) as {
      readonly pothosPrismaRelationField?: { readonly name: string };
    };
    const extensions = { ...field.extensions, ...(relation && { made: rowAt([relation.name]), isOnlyPlanned: true }) };
    const stock = field.resolve as Resolver<Types> | undefined;
    const isRead = extensions.isOnlyPlanned && extensions.made;
    const own: Resolver<Types> | undefined = isRead
      ? (parent, args, context, info) =>
          stock && isStock(context)
            ? stock(parent, args, context, info)
            : readField(parent, args, context as Context, info)
      : stock;
    return { ...field, extensions, resolve: own && withSoundArguments(own, field) };
  }

  /**
   * Takes a field from a planned object. For an available row (a command's result, a snapshot from the feed), the
   * field's own resolver runs, because the Prisma plug-in would read the row again and thus show its current state.
   * In a stock execution, only values that the row lacks are left to the plug-in.
   */
  override wrapResolve(resolver: Resolver<Types>, field: PothosOutputFieldConfig<Types>): Resolver<Types> {
    const isRoot = ['Query', 'Mutation', 'Subscription'].includes(field.kind);
    if (isRoot) return resolver;
    const { authScopes } = field.pothosOptions as { readonly authScopes?: unknown };
    const own = (!authScopes && (field.resolve as Resolver<Types> | undefined)) || resolver;
    const isElsewhere = needsOtherRows(field);
    return (parent, args, context, info) => {
      if (isPlanned(parent)) return parent[info.path.key];
      if (!isStock(context)) return own(parent, args, context, info);
      try {
        return (isElsewhere ? resolver : own)(parent, args, context, info);
      } catch (error) {
        // If an item of a list throws, graphql-js 16 does not handle the rejections of the items before it.
        return Promise.reject(error);
      }
    };
  }

  override wrapSubscribe(
    subscribe: Resolver<Types> | undefined,
    field: PothosOutputFieldConfig<Types>,
  ): Resolver<Types> | undefined {
    return subscribe && withSoundArguments(subscribe, field);
  }

  override wrapResolveType(
    resolveType: GraphQLTypeResolver<unknown, Types['Context']>,
    _type: PothosInterfaceTypeConfig | PothosUnionTypeConfig,
  ): GraphQLTypeResolver<unknown, Types['Context']> {
    return (value, context, info, type) => (isPlanned(value) ? value[''] : resolveType(value, context, info, type));
  }

  override afterBuild(schema: GraphQLSchema): GraphQLSchema {
    derive(schema);
    return schema;
  }
}

/** Every operation has this service's context, whose type Pothos does not know. */
const isStock = (context: object) => (context as Context).isStock === true;

/** Returns whether a field returns one of its row's relations, or is computed from one. */
function needsOtherRows<Types extends SchemaTypes>({
  extensions,
  pothosOptions,
}: PothosOutputFieldConfig<Types>): boolean {
  const { select } = pothosOptions as { readonly select?: unknown };
  const isNested = Object.values(select ?? {}).some((one) => typeof one === 'object');
  return isNested || extensions?.pothosPrismaRelationField !== undefined;
}

/** Makes a field report an argument that its scalar does not accept, before the resolver receives it. */
function withSoundArguments<Types extends SchemaTypes>(
  resolver: Resolver<Types>,
  { args: declared }: PothosOutputFieldConfig<Types>,
): Resolver<Types> {
  if (Object.keys(declared).length === 0) return resolver;
  return (parent, args, context, info) => {
    const wrong = wrongArgument(args);
    if (wrong) throw wrong;
    return resolver(parent, args, context, info);
  };
}

SchemaBuilder.registerPlugin(name, ReadingPlugin);
