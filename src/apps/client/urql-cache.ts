import { relayPagination } from '@urql/exchange-graphcache/extras';
import { connections, embedded, possibleTypes } from './generated/schema-facts.ts';

/** What Graphcache gives a resolver, and what that returns: the library's own types are not needed to pass it on. */
type Resolver = ReturnType<typeof relayPagination>;

/**
 * Settings for Graphcache of urql: `cacheExchange({ ...urqlCache(), schema })`, with `schema` from the file
 * `introspection.json` of this package. Objects have their identities, and pages of a list become one list.
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
    // Graphcache resolves object types alone.
    if (type in possibleTypes) continue;
    resolvers[type] = Object.fromEntries(Object.keys(fields).map((field) => [field, relayPagination()]));
  }
  return { keys, resolvers };
}
