import type { Operation } from '../../src/domain/access/operations.ts';

/** The mutations that take a scenario of the sandbox besides their input. */
const withScenario: ReadonlySet<Operation> = new Set(['createQuote', 'executeQuote', 'transferOut', 'transferIn']);

/**
 * The document of a mutation: it selects the success with `selection`, or the refusal. Its variables are those of
 * `mutationVariables`. Every test that is not about documents sends mutations in this form.
 */
export function mutationDocument(name: Operation, selection = ''): string {
  const typeName = name.charAt(0).toUpperCase() + name.slice(1);
  const [declared, given] = withScenario.has(name)
    ? [', $sandboxScenario: SandboxScenarioInput', ', sandboxScenario: $sandboxScenario']
    : ['', ''];
  return `mutation ($input: ${typeName}Input!${declared}) { ${name}(input: $input${given}) { __typename
    ... on ${typeName}Success { replayed ${selection} } ... on UserError { code message path } ... on UnavailableError { retryAfter } } }`;
}

/** The variables of a mutation's document. A scenario is separate from the input of the mutations of production. */
export function mutationVariables(name: Operation, input: object): object {
  if (!withScenario.has(name)) return { input };
  const { sandboxScenario, ...rest }: { sandboxScenario?: object | null } = input;
  return { input: rest, sandboxScenario };
}
