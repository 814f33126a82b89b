import type { Operation } from '../../src/access/operations.ts';

/**
 * The document of a mutation: one variable, `input`, and of its result the success with `selection`, or the refusal. Every
 * test that is not about documents themselves sends mutations in this form.
 */
export function mutationDocument(name: Operation, selection = ''): string {
  const typeName = name.charAt(0).toUpperCase() + name.slice(1);
  return `mutation ($input: ${typeName}Input!) { ${name}(input: $input) { __typename
    ... on ${typeName}Success { replayed ${selection} } ... on UserError { code message path } } }`;
}
