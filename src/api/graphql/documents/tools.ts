import type { JSONValue, JSONObject as JsonSchema } from '@modelcontextprotocol/server';
import {
  type ASTVisitor,
  astFromValue,
  type DocumentNode,
  type FieldNode,
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
  type NamedTypeNode,
  type OperationDefinitionNode,
  TokenKind,
  TypeInfo,
  typeFromAST,
  type ValueNode,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { maxListLength } from '../../../core/checks.ts';
import { isJsonObject } from '../../../core/json.ts';
import { Refusal } from '../../../core/refusal.ts';

/** The location of a value in an operation's variables: a variable, or a field within a variable. */
type Place = readonly [variable: string, field?: string];

export interface PaymentPlaces {
  readonly validateOnly: Place;
  readonly idempotencyKey: Place;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly text: string;
  readonly places: PaymentPlaces | undefined;
}

/** The argument with which the caller of a tool confirms a validated payment. */
export const confirmationArgument = 'confirmation';

interface Source {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly text: string;
}

/**
 * Returns the operations of a document as tools.
 * @throws Refusal FORBIDDEN if one of them cannot be a tool
 */
export function toolsOf(source: Source): readonly Tool[] {
  return source.document.definitions.flatMap((node) =>
    node.kind === Kind.OPERATION_DEFINITION ? [toolOf(source, node)] : [],
  );
}

function toolOf(source: Source, operation: OperationDefinitionNode): Tool {
  const { schema, document, text } = source;
  const name = operation.name?.value;
  if (name === undefined) throw cannotBeTool('an operation without a name', 'a tool is called by its name');
  if (operation.operation === 'subscription')
    throw cannotBeTool(name, 'a tool returns one result, but a subscription returns many');
  const inputSchema = variablesSchema(schema, document, operation);
  const description = descriptionOf(operation) ?? name;
  if (operation.operation === 'query') return { name, description, inputSchema, text, places: undefined };
  const places = placesIn(source, operation, name);
  return { name, description, inputSchema: paymentSchema(inputSchema, places, name), text, places };
}

const cannotBeTool = (name: string, reason: string) => new Refusal('FORBIDDEN', `${name} cannot be a tool: ${reason}`);

/** Returns an operation's own description or, if it has none, the comment directly above it. */
function descriptionOf({ description, loc }: OperationDefinitionNode): string | undefined {
  if (description) return description.value;
  const lines: string[] = [];
  let token = loc?.startToken.prev;
  while (token?.kind === TokenKind.COMMENT) {
    lines.unshift(token.value.trim());
    token = token.prev;
  }
  return lines.join('\n').trim() || undefined;
}

/** Locates `validateOnly` and the idempotency key in a mutation's variables. Throws if the mutation has no dry run. */
function placesIn({ schema, document }: Source, { selectionSet }: OperationDefinitionNode, name: string) {
  const [field, ...others] = selectionSet.selections;
  if (field?.kind !== Kind.FIELD || others.length > 0)
    throw cannotBeTool(name, 'a mutation must have exactly one field');
  const definition = schema.getMutationType()?.getFields()[field.name.value];
  const input = definition?.args.find((argument) => argument.name === 'input');
  const type = input && 'ofType' in input.type ? input.type.ofType : input?.type;
  if (!isInputObjectType(type) || !('validateOnly' in type.getFields()))
    throw cannotBeTool(name, `${field.name.value} cannot be validated first (validateOnly)`);
  if (!showsDryRun(document))
    throw cannotBeTool(name, 'it must select fields of ValidatedPayment, which the caller sees before paying');
  return { validateOnly: placeOf(field, 'validateOnly', name), idempotencyKey: placeOf(field, 'idempotencyKey', name) };
}

function placeOf({ arguments: given }: FieldNode, setting: keyof PaymentPlaces, name: string): Place {
  const input = given?.find((argument) => argument.name.value === 'input')?.value;
  if (input?.kind === Kind.VARIABLE) return [input.name.value, setting];
  const value = input?.kind === Kind.OBJECT && input.fields.find((field) => field.name.value === setting)?.value;
  if (value && value.kind === Kind.VARIABLE) return [value.name.value];
  throw cannotBeTool(name, `its input must be a variable, or set ${setting} from a variable`);
}

function showsDryRun(document: DocumentNode): boolean {
  let shows = false;
  // Visits the type condition of each fragment.
  const NamedType = ({ name }: NamedTypeNode) => {
    shows ||= name.value === 'ValidatedPayment';
  };
  visit(document, { NamedType });
  return shows;
}

const confirmation: JsonSchema = {
  type: 'string',
  description:
    'Omit it from the first call, which only validates the payment and returns its price and a confirmation. To pay, call again with the same arguments and that confirmation.',
};

const idempotencyKey: JsonSchema = {
  type: 'string',
  pattern: '^[!-~]{1,255}$',
  description:
    'Identifies this payment: calls with the same key pay only once. Choose a new key for each payment, and use it in all calls for that payment.',
};

/** Returns the schema of a mutation's variables, with a required key and a confirmation instead of `validateOnly`. */
function paymentSchema(variables: VariablesSchema, places: PaymentPlaces, name: string): ObjectSchema {
  const { $defs, properties, required } = variables;
  if (confirmationArgument in properties) throw cannotBeTool(name, `no variable may be named ${confirmationArgument}`);
  const holder = ([variable, field]: Place): ObjectSchema =>
    (field === undefined
      ? variables
      : $defs[String(properties[variable]?.$ref).slice('#/$defs/'.length)]) as ObjectSchema;
  const nameOf = ([variable, field]: Place) => field ?? variable;
  const hidden = holder(places.validateOnly);
  delete hidden.properties[nameOf(places.validateOnly)];
  hidden.required.splice(0, hidden.required.length, ...hidden.required.filter((one) => one in hidden.properties));
  const keyed = holder(places.idempotencyKey);
  keyed.properties[nameOf(places.idempotencyKey)] = idempotencyKey;
  if (!keyed.required.includes(nameOf(places.idempotencyKey))) keyed.required.push(nameOf(places.idempotencyKey));
  return { ...variables, properties: { ...properties, [confirmationArgument]: confirmation }, required };
}

export function valueAt(variables: Readonly<Record<string, unknown>>, [variable, field]: Place): unknown {
  const value = variables[variable];
  return field === undefined ? value : isJsonObject(value) ? value[field] : undefined;
}

export function withValueAt(variables: Readonly<Record<string, unknown>>, [variable, field]: Place, value: unknown) {
  const holder = variables[variable];
  if (field === undefined) return { ...variables, [variable]: value };
  // The mutation refuses any input that is not an object.
  return isJsonObject(holder) ? { ...variables, [variable]: { ...holder, [field]: value } } : { ...variables };
}

/** The JSON Schema of an object. Its properties can be changed before the schema is sent. */
interface ObjectSchema extends JsonSchema {
  readonly type: 'object';
  readonly properties: Record<string, JsonSchema>;
  readonly required: string[];
}

interface VariablesSchema extends ObjectSchema {
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
 * Returns the JSON Schema of an operation's variables. A variable without a description gets the description of the
 * argument or input field that it is used for. Null is not allowed, because an optional value can be omitted.
 */
function variablesSchema(
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
    properties[name] = withFacts(schemaOf(type, $defs), description?.value ?? described.get(name), defaultValue);
    if (typeNode.kind === Kind.NON_NULL_TYPE && !defaultValue) required.push(name);
  }
  return { type: 'object', properties, required, additionalProperties: false, $defs };
}

/** Returns, for each variable, the description of the argument or input field that it is first used for. */
function descriptionsByUse(schema: GraphQLSchema, document: DocumentNode): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const types = new TypeInfo(schema);
  const note = (value: ValueNode, description: string | null | undefined) => {
    if (value.kind !== Kind.VARIABLE || !description || found.has(value.name.value)) return;
    found.set(value.name.value, description);
  };
  const visitor: ASTVisitor = {
    Argument: ({ value }) => note(value, types.getArgument()?.description),
    ObjectField: ({ name, value }) => {
      const parent = getNamedType(types.getParentInputType());
      note(value, isInputObjectType(parent) ? parent.getFields()[name.value]?.description : undefined);
    },
  };
  visit(document, visitWithTypeInfo(types, visitor));
  return found;
}

/** Returns the JSON Schema of an input type, and adds to `$defs` the schemas of the named types it uses. */
function schemaOf(type: GraphQLInputType, $defs: Record<string, JsonSchema>): JsonSchema {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    return { type: 'array', items: schemaOf(nullable.ofType, $defs), maxItems: maxListLength };
  }
  const named: GraphQLNamedInputType = getNamedType(nullable);
  if (isSpecifiedScalarType(named)) return scalars[named.name] ?? {};
  if (!(named.name in $defs)) {
    // Set before the type's fields are converted, because an input type may refer to itself.
    $defs[named.name] = {};
    $defs[named.name] = withFacts(namedSchema(named, $defs), named.description);
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
  const propertyOf = ({ name, type: of, description, defaultValue }: GraphQLInputField) => {
    const fallback = defaultValue === undefined ? undefined : astFromValue(defaultValue, of);
    return [name, withFacts(schemaOf(of, $defs), description, fallback)];
  };
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(propertyOf)),
    required: fields.filter(isRequiredInputField).map(({ name }) => name),
    ...(type.isOneOf && { oneOf: fields.map(({ name }) => ({ required: [name] })) }),
    additionalProperties: false,
  };
}

/** Adds a description and a default (given as a literal) to a schema. */
function withFacts(schema: JsonSchema, description?: string | null, fallback?: ValueNode | null): JsonSchema {
  return {
    ...schema,
    ...(description && { description }),
    ...(fallback && { default: valueFromASTUntyped(fallback) as JSONValue }),
  };
}
