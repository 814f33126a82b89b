import type { Operation } from '../../access/operations.ts';
import { type FieldPath, translatePath } from '../../core/path.ts';

/** Stands for the one field that a @oneOf input has. */
const chosen = Symbol('chosen');

type Place = readonly [domain: FieldPath, input: readonly (string | typeof chosen)[]];

/**
 * Where the input of a mutation has what its command has elsewhere. A command knows a choice by what was chosen; the input has
 * a @oneOf object there, whose one field lies between. What is not named here is at the same path.
 */
export const places: { readonly [Name in Operation]?: readonly Place[] } = {
  createQuote: [
    [['source'], ['source', chosen]],
    [['destination'], ['destination', chosen]],
  ],
  createCustomer: [[['details'], ['details', chosen]]],
  updateCustomer: [[['details'], ['details', chosen]]],
  createExternalAccount: [
    [['details'], ['accountInfo', chosen]],
    [['beneficiary'], ['beneficiary', chosen]],
  ],
};

/** Where a mutation's argument has this path of its command's input: `["input", "source", "account", "accountId"]`. */
export function argumentPath(name: Operation, path: FieldPath, input: unknown): string[] {
  const table = (places[name] ?? []).map(([from, to]) => [from, inInput(to, input)] as const);
  return ['input', ...translatePath(path, table).map(String)];
}

/** A place in the input as it was given: with the field that was chosen, if there is one. */
function inInput(place: Place[1], input: unknown): string[] {
  const path: string[] = [];
  let value = input;
  for (const step of place) {
    const name = step === chosen ? Object.keys(value ?? {})[0] : step;
    if (name === undefined) break;
    path.push(name);
    value = new Map(Object.entries(value ?? {})).get(name);
  }
  return path;
}
