import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';

/** Registered before the prisma plugin, whose wrapping it takes off. */
const name = 'plainColumns' as const;
export default name;

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      plainColumns: PlainColumns<Types>;
    }
  }
}

/**
 * Fields that need columns of their row and nothing else are resolved without asking, row by row, whether the row was
 * loaded for them. It always was: a row in the hands of a resolver is a whole one (an answer of a command, a snapshot of
 * the feed), or was read by a statement planned from the very document that is executed. With 20 rows of a dozen fields
 * the question took a third of the execution.
 */
export class PlainColumns<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    const selection = field.extensions?.pothosPrismaSelect;
    return field.kind === 'PrismaObject' && isColumns(selection) && field.resolve ? field.resolve : resolver;
  }
}

function isColumns(selection: unknown): boolean {
  return typeof selection === 'object' && selection !== null && Object.values(selection).every((one) => one === true);
}

SchemaBuilder.registerPlugin(name, PlainColumns);
