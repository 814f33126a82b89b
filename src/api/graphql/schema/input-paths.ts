import { type FieldPath, translatePath } from '../../../core/refusal.ts';
import type { Operation } from '../../../domain/access/operations.ts';

/** Stands for the single field of a @oneOf input object. */
const chosenField = Symbol('chosen');

type PathMapping = readonly [domain: FieldPath, input: readonly (string | typeof chosenField)[]];

/**
 * Paths that differ between the inputs of a mutation and its command: @oneOf adds a level, and commands use REST's
 * names.
 */
export const inputPaths: { readonly [Name in Operation]?: readonly PathMapping[] } = {
  createQuote: [
    [['source'], ['source', chosenField]],
    [['destination'], ['destination', chosenField]],
  ],
  sandboxSend: [
    [['currencyAmount'], ['amount']],
    [['currencyCode'], ['currency']],
  ],
  sandboxReceiveUma: [
    [['customerId'], ['receiver', chosenField]],
    [['receiverUmaAddress'], ['receiver', chosenField]],
    [['receivingCurrencyAmount'], ['amount']],
    [['receivingCurrencyCode'], ['currency']],
  ],
  lookUpReceiver: [
    [['customerId'], ['sender', chosenField]],
    [['senderUmaAddress'], ['sender', chosenField]],
  ],
  createClientToken: [
    [['customerId'], ['boundTo', chosenField]],
    [['quoteId'], ['boundTo', chosenField]],
    [['transactionId'], ['boundTo', chosenField]],
  ],
  replayWebhookEvents: [
    [['eventId'], ['events', chosenField]],
    [['after'], ['events', chosenField, 'after']],
    [['before'], ['events', chosenField, 'before']],
  ],
  createCustomer: [[['details'], ['details', chosenField]]],
  updateCustomer: [[['details'], ['details', chosenField]]],
  createExternalAccount: [
    [['details'], ['accountInfo', chosenField]],
    [['beneficiary'], ['beneficiary', chosenField]],
  ],
};

/**
 * Converts a path in a command's input to one in the mutation's arguments: `["input", "source", "account",
 * "accountId"]`. A scenario is a separate argument, except in the mutations of the sandbox, where it is a field of
 * the input.
 */
export function argumentPath(name: Operation, path: FieldPath, input: unknown): FieldPath {
  if (path[0] === 'sandboxScenario' && !name.startsWith('sandbox')) return path;
  const table = (inputPaths[name] ?? []).map(([from, to]) => [from, pathInInput(to, input)] as const);
  return ['input', ...inForm(metadataPath(translatePath(path, table), input), input)];
}

/** Replaces a key of metadata with the position of its entry: commands take a map, mutations a list. */
function metadataPath(path: FieldPath, input: unknown): FieldPath {
  const [field, key] = path;
  if (field !== 'metadata' || typeof key !== 'string') return path;
  // Every input with metadata takes it as this list, which GraphQL has validated.
  const { metadata } = input as { readonly metadata: readonly { readonly key: string }[] };
  return [field, metadata.findIndex((entry) => entry.key === key)];
}

/** Completes a path to an amount with the form in which the amount is given, `units` or `decimal`. */
function inForm(path: FieldPath, input: unknown): FieldPath {
  const value = path.reduce<unknown>((of, step) => new Map(Object.entries(of ?? {})).get(String(step)), input);
  const [form = ''] = typeof value === 'object' ? Object.keys(value ?? {}) : [];
  return form === 'units' || form === 'decimal' ? [...path, form] : path;
}

/** Replaces `chosenField` with the field that the input has at that point. The path ends early if it has none. */
function pathInInput(steps: PathMapping[1], input: unknown): string[] {
  const path: string[] = [];
  let value = input;
  for (const step of steps) {
    const name = step === chosenField ? Object.keys(value ?? {})[0] : step;
    if (name === undefined) break;
    path.push(name);
    value = new Map(Object.entries(value ?? {})).get(name);
  }
  return path;
}
