import type { PothosOutputFieldConfig, SchemaTypes } from '@pothos/core';
import {
  DirectiveLocation,
  GraphQLDirective,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLSchema,
  printSchema,
} from 'graphql';

/** The directive by which Relay, Apollo and code generators recognize a field that is null only on error. */
export const semanticNonNull = new GraphQLDirective({
  name: 'semanticNonNull',
  description: 'The field is null only if there was an error, which is reported in `errors`.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    levels: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLInt))),
      defaultValue: [0],
      description: 'The levels to which the directive applies: 0 for the field itself, 1 for the items in its list.',
    },
  },
});

/** Makes a field of Query or Mutation nullable. If it fails, it is null, and its siblings are still returned. */
export function failingAlone<Types extends SchemaTypes>(
  field: PothosOutputFieldConfig<Types>,
): PothosOutputFieldConfig<Types> {
  if ((field.kind !== 'Query' && field.kind !== 'Mutation') || field.type.nullable) return field;
  const directives = { [semanticNonNull.name]: {} };
  return { ...field, type: { ...field.type, nullable: true }, extensions: { ...field.extensions, directives } };
}

/** Prints a schema with `@semanticNonNull`, which graphql-js's printer omits. */
export function printWithDirective(schema: GraphQLSchema): string {
  let text = printSchema(schema);
  for (const type of [schema.getQueryType(), schema.getMutationType()]) {
    const marked = Object.values(type?.getFields() ?? {}).filter(({ extensions }) => extensions.directives);
    text = text.replace(new RegExp(`^type ${type} \\{\\n[^]*?^\\}`, 'm'), (printed) =>
      marked.reduce((fields, { name }) => {
        // The field's name and arguments, each on its own line, followed by its type.
        const field = new RegExp(`^ {2}${name}(\\(\\n[^]*?^ {2}\\))?: .*$`, 'm');
        return fields.replace(field, `$& @${semanticNonNull.name}`);
      }, printed),
    );
  }
  return text;
}
