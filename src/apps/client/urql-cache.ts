import { relayPagination } from '@urql/exchange-graphcache/extras';
import { connections, embedded, possibleTypes } from './generated/schema-facts.ts';

/** The type of a Graphcache resolver, inferred from `relayPagination` so that it need not be imported. */
type Resolver = ReturnType<typeof relayPagination>;

/** Joins a list's pages. Pages read from the list's end form a separate list, as with `apolloCache`. */
const listOf = (): Resolver => {
  const pagination = relayPagination();
  return (parent, args, cache, info) => {
    const isHere = ({ arguments: of }: { arguments: typeof args | null }) =>
      (typeof of?.last === 'number') === (typeof args.last === 'number');
    const inspectFields: typeof cache.inspectFields = (entity) => cache.inspectFields(entity).filter(isHere);
    return pagination(parent, args, Object.assign(Object.create(cache), { inspectFields }), info);
  };
};

/**
 * Returns the settings for urql's Graphcache: `cacheExchange({ ...urqlCache(), schema })`, with `schema` from this
 * package's `introspection.json`. They identify objects and join the pages of lists.
 */
export function urqlCache(): {
  keys: Record<string, (object: { readonly [field: string]: unknown }) => string | null>;
  resolvers: Record<string, Record<string, Resolver>>;
} {
  const keys: ReturnType<typeof urqlCache>['keys'] = Object.fromEntries(embedded.map((name) => [name, () => null]));
  keys.Currency = ({ code }) => (typeof code === 'string' ? code : null);
  keys.Viewer = () => 'self';
  const resolvers: ReturnType<typeof urqlCache>['resolvers'] = {};
  for (const [type, fields] of Object.entries(connections)) {
    // Graphcache accepts resolvers only for object types.
    if (type in possibleTypes) continue;
    resolvers[type] = Object.fromEntries(Object.keys(fields).map((field) => [field, listOf()]));
  }
  return { keys, resolvers };
}
