import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  isInputObjectType,
  Kind,
  type OperationDefinitionNode,
  TokenKind,
  visit,
} from 'graphql';
import { isJsonObject } from '../../../core/json.ts';
import { Refusal } from '../../../core/refusal.ts';
import { type JsonSchema, type ObjectSchema, type VariablesSchema, variablesSchema } from './input-schema.ts';

/** The place of a value among the variables: a variable, or a field of a variable. */
type Place = readonly [variable: string, field?: string];

/** The places, among a mutation's variables, of the two settings by which it is first validated and safely repeated. */
export interface PaymentPlaces {
  readonly validateOnly: Place;
  readonly idempotencyKey: Place;
}

/** An operation of a registered document, as a tool of an agent. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly text: string;
  readonly places: PaymentPlaces | undefined;
}

/** The argument with which a tool's caller confirms what it has validated. */
export const confirmationArgument = 'confirmation';

interface Source {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly text: string;
}

/**
 * Returns the operations of a document as tools.
 * @throws Refusal FORBIDDEN with the reason if one of them cannot be a tool
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
    throw cannotBeTool(name, 'a tool has one answer, and a subscription many');
  const inputSchema = variablesSchema(schema, document, operation);
  const description = descriptionOf(operation) ?? name;
  if (operation.operation === 'query') return { name, description, inputSchema, text, places: undefined };
  const places = placesIn(source, operation, name);
  return { name, description, inputSchema: paymentSchema(inputSchema, places, name), text, places };
}

const cannotBeTool = (name: string, reason: string) => new Refusal('FORBIDDEN', `${name} cannot be a tool: ${reason}`);

/** Returns the description of an operation: its own, or else the comment directly above it. */
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

/**
 * Finds the places of a mutation's two settings. A mutation without a dry run or with several fields cannot be a
 * tool.
 */
function placesIn(
  { schema, document }: Source,
  { selectionSet }: OperationDefinitionNode,
  name: string,
): PaymentPlaces {
  const [field, ...others] = selectionSet.selections;
  if (field?.kind !== Kind.FIELD || others.length > 0)
    throw cannotBeTool(name, 'a mutation must have exactly one field');
  const definition = schema.getMutationType()?.getFields()[field.name.value];
  const input = definition?.args.find((argument) => argument.name === 'input');
  const type = input && 'ofType' in input.type ? input.type.ofType : input?.type;
  if (!isInputObjectType(type) || !('validateOnly' in type.getFields()))
    throw cannotBeTool(name, `${field.name.value} cannot be validated first (validateOnly)`);
  if (!showsDryRun(document))
    throw cannotBeTool(name, 'it must select fields of ValidatedPayment, which its caller sees first');
  return { validateOnly: placeOf(field, 'validateOnly', name), idempotencyKey: placeOf(field, 'idempotencyKey', name) };
}

function placeOf({ arguments: given }: FieldNode, setting: keyof PaymentPlaces, name: string): Place {
  const input = given?.find((argument) => argument.name.value === 'input')?.value;
  if (input?.kind === Kind.VARIABLE) return [input.name.value, setting];
  const value = input?.kind === Kind.OBJECT && input.fields.find((field) => field.name.value === setting)?.value;
  if (value && value.kind === Kind.VARIABLE) return [value.name.value];
  throw cannotBeTool(name, `its input must be a variable, or have a variable as ${setting}`);
}

function showsDryRun(document: DocumentNode): boolean {
  let shows = false;
  const note = ({
    typeCondition,
  }: {
    readonly typeCondition?: { readonly name: { readonly value: string } } | undefined;
  }) => {
    if (typeCondition?.name.value === 'ValidatedPayment') shows = true;
  };
  visit(document, { InlineFragment: note, FragmentDefinition: note });
  return shows;
}

const confirmation: JsonSchema = {
  type: 'string',
  description:
    'Leave it out of the first call, which only validates the payment and returns its price and a confirmation. To pay, call again with the same arguments and that confirmation.',
};

const idempotencyKey: JsonSchema = {
  type: 'string',
  pattern: '^[!-~]{1,255}$',
  description:
    'Identifies this payment: calls with the same key pay only once. Choose a new key for each payment, and use it in all calls for that payment.',
};

/**
 * Returns the schema of a mutation's arguments: its variables without `validateOnly`, a required key and a
 * confirmation.
 */
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

/** Returns the value at a place in variables, or undefined. */
export function valueAt(variables: Readonly<Record<string, unknown>>, [variable, field]: Place): unknown {
  const value = variables[variable];
  return field === undefined ? value : isJsonObject(value) ? value[field] : undefined;
}

/** Returns variables with a new value at a place. */
export function withValueAt(
  variables: Readonly<Record<string, unknown>>,
  [variable, field]: Place,
  value: unknown,
): Record<string, unknown> {
  const holder = variables[variable];
  if (field === undefined) return { ...variables, [variable]: value };
  // Anything but an object is refused as the input of a mutation.
  return isJsonObject(holder) ? { ...variables, [variable]: { ...holder, [field]: value } } : { ...variables };
}
