import type { TypePolicies, TypePolicy } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';
import { connections, embedded, possibleTypes } from './generated/schema-facts.ts';

/** Joins a list's pages. A list is identified by `@connection`, or else by its arguments and paging direction. */
const listOf = (names: readonly string[]) =>
  relayStylePagination((args, { fieldName, field }) => {
    const connection = field?.directives?.find(({ name }) => name.value === 'connection');
    const argument = (of: string) => connection?.arguments?.find(({ name }) => name.value === of)?.value;
    const [key, filter] = [argument('key'), argument('filter')];
    const given = (of: readonly string[]) =>
      JSON.stringify(of.filter((name) => args?.[name] !== undefined).map((name) => [name, args?.[name]]));
    if (key?.kind !== 'StringValue')
      return `${fieldName}:${given(names)}${typeof args?.last === 'number' ? ':last' : ''}`;
    const filters = filter?.kind === 'ListValue' ? filter.values : [];
    const filtering = filters.flatMap((name) => (name.kind === 'StringValue' ? [name.value] : []));
    return `${fieldName}:${key.value}${filter ? given(filtering) : ''}`;
  });

function policies(): TypePolicies {
  const made: Record<string, TypePolicy> = {
    Currency: { keyFields: ['code'] },
    // There is one viewer per token, so the fields that different queries read from it are merged.
    Viewer: { keyFields: [] },
  };
  // Objects without an identity are replaced as a whole, because a merge could combine the digits of one amount with
  // the formatted text of another.
  for (const name of embedded) if (name !== 'Viewer') made[name] = { keyFields: false, merge: false };
  for (const [type, fields] of Object.entries(connections)) {
    const policy = Object.entries(fields).map(([field, names]) => [field, listOf(names)] as const);
    made[type] = { ...made[type], fields: Object.fromEntries(policy) };
  }
  return made;
}

/**
 * Returns the settings for Apollo Client's InMemoryCache: `new InMemoryCache(apolloCache())`. They cover the schema's
 * interfaces and unions, the identities of its objects, and its lists. `fetchMore` adds a page to a list. Use `first`
 * and `after` for a list read from its start, `last` and `before` for one read from its end.
 */
export function apolloCache() {
  return { possibleTypes, typePolicies: policies() };
}
