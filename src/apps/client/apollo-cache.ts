import type { FieldNode } from 'graphql';
import { connections, embedded, possibleTypes } from './generated/schema-facts.ts';

interface Connection {
  readonly edges?: readonly Edge[];
  readonly pageInfo?: PageInfo;
}
interface Edge {
  readonly cursor?: string;
  readonly node?: unknown;
}
interface PageInfo {
  readonly startCursor?: string | null;
  readonly endCursor?: string | null;
  readonly hasNextPage?: boolean;
  readonly hasPreviousPage?: boolean;
}

interface MergeContext {
  readonly args: Readonly<Record<string, unknown>> | null;
  readonly readField: (name: string, of: never) => unknown;
}

/** Defines how the cache tells one list from another, and how it merges a page into a list. */
interface ConnectionPolicy {
  readonly keyArgs: (
    args: Readonly<Record<string, unknown>> | null,
    context: { readonly fieldName: string; readonly field: FieldNode | null },
  ) => string;
  readonly merge: (existing: Connection | undefined, incoming: Connection, context: MergeContext) => Connection;
}

/** Names a list by its distinguishing arguments and by its end (`first` or `last`), or by its `@connection`. */
const keyOf =
  (names: readonly string[]): ConnectionPolicy['keyArgs'] =>
  (args, { fieldName, field }) => {
    const connection = field?.directives?.find(({ name }) => name.value === 'connection');
    const key = connection?.arguments?.find(({ name }) => name.value === 'key')?.value;
    if (key?.kind === 'StringValue') return `${fieldName}:${key.value}`;
    const given = names.filter((name) => args?.[name] !== undefined).map((name) => [name, args?.[name]]);
    return `${fieldName}:${JSON.stringify(given)}${typeof args?.last === 'number' ? ':last' : ''}`;
  };

interface TypePolicy {
  keyFields?: string[] | false;
  merge?: boolean;
  fields?: Record<string, ConnectionPolicy>;
}

/**
 * Inserts a page into a list: after the edge named by its `after`, before the edge named by its `before`, or otherwise
 * as the whole list. A row that is already in the list appears once, where the page has it.
 */
function mergePage(
  existing: Connection | undefined,
  incoming: Connection,
  { args, readField }: MergeContext,
): Connection {
  const [after, before] = [args?.after, args?.before];
  if (!existing?.edges || (typeof after !== 'string' && typeof before !== 'string')) return incoming;
  // Edges and nodes are objects or references, as written by the cache, whose types are generic over the two.
  const cursorOf = (edge: Edge) => readField('cursor', edge as never);
  const idOf = (edge: Edge) => readField('id', readField('node', edge as never) as never);
  const page = incoming.edges ?? [];
  const inPage = new Set(page.map(idOf));
  const known = existing.edges;
  const at = (cursor: unknown) => known.findIndex((edge) => cursorOf(edge) === cursor);
  const others = (edges: readonly Edge[]) => edges.filter((edge) => !inPage.has(idOf(edge)));
  if (typeof after === 'string') {
    // If no edge has the cursor, it is the cursor at the end of the last page.
    const found = at(after);
    const front = found < 0 ? known : known.slice(0, found + 1);
    const { startCursor, hasPreviousPage, ...end } = incoming.pageInfo ?? {};
    return { ...existing, ...incoming, edges: [...others(front), ...page], pageInfo: { ...existing.pageInfo, ...end } };
  }
  const found = at(before);
  const back = found < 0 ? known : known.slice(found);
  const { endCursor, hasNextPage, ...start } = incoming.pageInfo ?? {};
  return { ...existing, ...incoming, edges: [...page, ...others(back)], pageInfo: { ...existing.pageInfo, ...start } };
}

function policies(): Record<string, TypePolicy> {
  const made: Record<string, TypePolicy> = {
    Currency: { keyFields: ['code'] },
    // A token has one viewer: queries for different fields of it are merged.
    Viewer: { keyFields: [] },
  };
  // Objects without an identity are replaced as a whole: merging two responses could combine the digits of one with the
  // text of the other.
  for (const name of embedded) if (name !== 'Viewer') made[name] = { keyFields: false, merge: false };
  for (const [type, fields] of Object.entries(connections)) {
    const policy = Object.entries(fields).map(
      ([field, names]) => [field, { keyArgs: keyOf(names), merge: mergePage }] as const,
    );
    made[type] = { ...made[type], fields: Object.fromEntries(policy) };
  }
  return made;
}

/**
 * Returns the settings for InMemoryCache of Apollo Client: `new InMemoryCache(apolloCache())`. They cover the schema's
 * interfaces and unions, the identities of its objects, and its lists: `fetchMore` adds a page, with `first` and
 * `after` to a list that is read from its start, with `last` and `before` to one that is read from its end.
 */
export function apolloCache(): { possibleTypes: Record<string, string[]>; typePolicies: Record<string, TypePolicy> } {
  return { possibleTypes, typePolicies: policies() };
}
