import {
  type GraphQLOutputType,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { schema } from '../../src/api/graphql/server/schema.ts';

/** Writes a selection of all fields without required arguments, `depth` objects deep. */
export function selection(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  // Only a node's id is selected, because its fields could nest endlessly.
  if (isInterfaceType(named) && named.getFields().id) return '{ __typename id }';
  if (isAbstractType(named)) {
    if (depth === 0) return '{ __typename }';
    const members = schema
      .getPossibleTypes(named)
      .map((member) => `... on ${member.name} ${selection(member, depth - 1)}`);
    return named.name.endsWith('Result')
      ? `{ __typename ${members.filter((member) => /Success/.test(member.slice(0, 60))).join(' ')} ... on UserError { code message } }`
      : `{ __typename ${members.slice(0, 6).join(' ')} }`;
  }
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields())
    // Omits `nodes`, because the edges contain the same rows, and `totalCount`, because requesting it for all of a
    // customer's lists would exceed the cost limit.
    .filter((field) => !['nodes', 'totalCount'].includes(field.name) || !named.name.endsWith('Connection'))
    .filter((field) => !field.args.some(isRequiredArgument))
    .filter((field) => depth > 0 || !isObjectType(getNamedType(field.type)))
    .filter((field) => depth > 0 || !isAbstractType(getNamedType(field.type)))
    .map((field) => `${field.name} ${selection(field.type, depth - 1)}`);
  return `{ __typename ${[...new Set(fields)].join(' ')} }`;
}
