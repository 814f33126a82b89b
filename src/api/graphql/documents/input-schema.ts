import type { JSONObject, JSONValue } from '@modelcontextprotocol/server';
import {
  astFromValue,
  type DocumentNode,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isRequiredInputField,
  isSpecifiedScalarType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  typeFromAST,
  type ValueNode,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { maxListLength } from '../../../core/checks.ts';

export type JsonSchema = JSONObject;

/** The JSON Schema of an object, whose properties may be changed before it is sent. */
export interface ObjectSchema extends JsonSchema {
  readonly type: 'object';
  readonly properties: Record<string, JsonSchema>;
  readonly required: string[];
}

/** The JSON Schema of an operation's variables, and those of the named types that it refers to. */
export interface VariablesSchema extends ObjectSchema {
  readonly $defs: Record<string, JsonSchema>;
}

const scalars: Readonly<Record<string, JsonSchema>> = {
  ID: { type: 'string' },
  String: { type: 'string' },
  Boolean: { type: 'boolean' },
  Int: { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  Float: { type: 'number' },
  BigInt: { type: ['string', 'integer'], pattern: '^-?(0|[1-9][0-9]*)$' },
  Decimal: { type: 'string', pattern: '^-?[0-9]{1,30}(\\.[0-9]{1,30})?$' },
  CurrencyCode: { type: 'string', pattern: '^[A-Z0-9]+$' },
  Date: { type: 'string', format: 'date' },
  DateTime: { type: 'string', format: 'date-time' },
};

/**
 * Describes the variables of an operation by a JSON Schema. A variable without a description gets that of the
 * argument or input field that it is used for. Null is not offered, since an optional value can be left out.
 */
export function variablesSchema(
  schema: GraphQLSchema,
  document: DocumentNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
): VariablesSchema {
  const described = descriptionsByUse(schema, document);
  const $defs: Record<string, JsonSchema> = {};
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const { variable, type: typeNode, defaultValue, description } of variableDefinitions) {
    const name = variable.name.value;
    const type = typeFromAST(schema, typeNode);
    if (!isInputType(type)) throw new Error(`$${name} has no input type`);
    properties[name] = withFacts(schemaOf(type, $defs), {
      description: description?.value ?? described.get(name),
      fallback: defaultValue,
    });
    if (typeNode.kind === Kind.NON_NULL_TYPE && !defaultValue) required.push(name);
  }
  return { type: 'object', properties, required, additionalProperties: false, $defs };
}

/** Returns, for each variable, the description of the argument or input field that it is first used for. */
function descriptionsByUse(schema: GraphQLSchema, document: DocumentNode): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const types = new TypeInfo(schema);
  const note = (variable: string, description: string | null | undefined) => {
    if (description && !found.has(variable)) found.set(variable, description);
  };
  visit(
    document,
    visitWithTypeInfo(types, {
      Argument: ({ value }) => {
        if (value.kind === Kind.VARIABLE) note(value.name.value, types.getArgument()?.description);
      },
      ObjectField: ({ name, value }) => {
        const parent = getNamedType(types.getParentInputType());
        if (value.kind === Kind.VARIABLE && isInputObjectType(parent))
          note(value.name.value, parent.getFields()[name.value]?.description);
      },
    }),
  );
  return found;
}

/** Returns the schema of a type, and adds those of the named types in it to `$defs`. */
function schemaOf(type: GraphQLInputType, $defs: Record<string, JsonSchema>): JsonSchema {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    return { type: 'array', items: schemaOf(nullable.ofType, $defs), maxItems: maxListLength };
  }
  const named: GraphQLNamedInputType = getNamedType(nullable);
  if (isSpecifiedScalarType(named)) return scalars[named.name] ?? {};
  if (!(named.name in $defs)) {
    // Set before its fields are converted, since an input type may refer to itself.
    $defs[named.name] = {};
    $defs[named.name] = withFacts(namedSchema(named, $defs), { description: named.description });
  }
  return { $ref: `#/$defs/${named.name}` };
}

function namedSchema(type: GraphQLNamedInputType, $defs: Record<string, JsonSchema>): JsonSchema {
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  if (!isInputObjectType(type)) {
    const scalar = scalars[type.name];
    if (!scalar) throw new Error(`the scalar ${type.name} has no JSON Schema`);
    return scalar;
  }
  const fields = Object.values(type.getFields());
  const properties = Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field, $defs)]));
  return {
    type: 'object',
    properties,
    required: fields.filter(isRequiredInputField).map(({ name }) => name),
    ...(type.isOneOf && { oneOf: fields.map(({ name }) => ({ required: [name] })) }),
    additionalProperties: false,
  };
}

function fieldSchema({ type, description, defaultValue }: GraphQLInputField, $defs: Record<string, JsonSchema>) {
  const node = defaultValue === undefined ? undefined : astFromValue(defaultValue, type);
  return withFacts(schemaOf(type, $defs), { description, fallback: node });
}

/** Returns a schema with a description and a default, which is converted from its literal. */
function withFacts(
  schema: JsonSchema,
  facts: { readonly description?: string | null | undefined; readonly fallback?: ValueNode | null | undefined },
): JsonSchema {
  const { description, fallback } = facts;
  return {
    ...schema,
    ...(description && { description }),
    ...(fallback && { default: valueFromASTUntyped(fallback) as JSONValue }),
  };
}
