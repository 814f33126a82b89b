import { randomUUID } from 'node:crypto';
import type { Operation } from '../../src/domain/access/operations.ts';

/** Returns a mutation's name in the MutationName enum: createQuote becomes CREATE_QUOTE. */
export const mutationName = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

const withScenario: ReadonlySet<Operation> = new Set(['createQuote', 'executeQuote', 'transferOut', 'transferIn']);

/** Returns a mutation's document. It selects `selection` on success, the fields of a refusal, and `others`. */
export function mutationDocument(name: Operation, selection = '', others = ''): string {
  const typeName = name.charAt(0).toUpperCase() + name.slice(1);
  const [declared, given] = withScenario.has(name)
    ? [', $sandboxScenario: SandboxScenarioInput', ', sandboxScenario: $sandboxScenario']
    : ['', ''];
  return `mutation ($input: ${typeName}Input!${declared}) { ${name}(input: $input${given}) { __typename
    ... on ${typeName}Success { replayed ${selection} } ... on UserError { code message path } ... on UnavailableError { retryAfter } ${others} } }`;
}

const needsKey: ReadonlySet<Operation> = new Set(['transferOut', 'transferIn', 'transferInternal']);

const amounts: ReadonlySet<string> = new Set(['amount', 'lockedCurrencyAmount']);

/** Returns a mutation's variables. Plain amounts are in the smallest unit. Adds an idempotency key where required. */
export function mutationVariables(name: Operation, input: object): object {
  const { sandboxScenario, ...rest }: { sandboxScenario?: object | null } = input;
  const key = needsKey.has(name) && { idempotencyKey: randomUUID() };
  const given = Object.fromEntries(
    Object.entries({ ...key, ...rest }).map(([field, value]) => [
      field,
      amounts.has(field) && /^(number|bigint|string)$/.test(typeof value) ? { units: value } : value,
    ]),
  );
  return withScenario.has(name) ? { input: given, sandboxScenario } : { input: { ...given, sandboxScenario } };
}
