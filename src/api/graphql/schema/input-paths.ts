import { type GraphQLInputType, type GraphQLSchema, getNullableType, isInputObjectType, isListType } from 'graphql';
import { type FieldPath, type PathTable, translatePath } from '../../../core/refusal.ts';
import type { Operation } from '../../../domain/access/operations.ts';

/** Paths that differ between a mutation's input and its command's input, because commands use REST's names. */
const renamed: { readonly [Name in Operation]?: PathTable } = {
  sandboxSend: [
    [['currencyAmount'], ['amount']],
    [['currencyCode'], ['currency']],
  ],
  sandboxReceiveUma: [
    [['customerId'], ['receiver']],
    [['receiverUmaAddress'], ['receiver']],
    [['receivingCurrencyAmount'], ['amount']],
    [['receivingCurrencyCode'], ['currency']],
  ],
  lookUpReceiver: [
    [['customerId'], ['sender']],
    [['senderUmaAddress'], ['sender']],
  ],
  createClientToken: [
    [['customerId'], ['boundTo']],
    [['quoteId'], ['boundTo']],
    [['transactionId'], ['boundTo']],
  ],
  replayWebhookEvents: [
    [['eventId'], ['events']],
    [['after'], ['events', 'after']],
    [['before'], ['events', 'before']],
  ],
  createExternalAccount: [[['details'], ['accountInfo']]],
};

/**
 * Converts a path in a command's input to one in the mutation's arguments, such as `["input", "source", "account",
 * "accountId"]`. A scenario is a separate argument, except in sandbox mutations, where it is a field of the input.
 */
export function argumentPath(schema: GraphQLSchema, name: Operation, path: FieldPath, input: unknown): FieldPath {
  if (path[0] === 'sandboxScenario' && !name.startsWith('sandbox')) return path;
  const type = schema
    .getMutationType()
    ?.getFields()
    [name]?.args.find((argument) => argument.name === 'input')?.type;
  const inInput = translatePath(path, renamed[name] ?? []);
  return ['input', ...(type ? pathInType(inInput, type, input) : inInput)];
}

/**
 * Extends a command's path to match the schema. Where the schema has a @oneOf input, the command takes only the value
 * of the field that is set. Where the schema has a list of entries, the command takes a map.
 */
function pathInType(path: FieldPath, type: GraphQLInputType, value: unknown): FieldPath {
  const nullable = getNullableType(type);
  const [step, ...rest] = path;
  // GraphQL has already checked that the value has this type.
  const members = new Map<string | number, unknown>(Object.entries(value ?? {}));
  if (isListType(nullable)) {
    if (step === undefined) return path;
    const entries = [...members.values()] as readonly { readonly key?: string }[];
    const position = typeof step === 'number' ? step : entries.findIndex(({ key }) => key === step);
    return [position, ...pathInType(rest, nullable.ofType, entries[position])];
  }
  // Any remaining steps are dropped: they name the field of a @oneOf input, or a part of a value that is a scalar here.
  if (!isInputObjectType(nullable)) return [];
  const [chosen] = nullable.isOneOf ? members.keys() : [step];
  const field = chosen === undefined ? undefined : nullable.getFields()[chosen];
  if (chosen === undefined || !field) return path;
  return [chosen, ...pathInType(nullable.isOneOf ? path : rest, field.type, members.get(chosen))];
}
