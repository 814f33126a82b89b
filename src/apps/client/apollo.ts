import type { ApolloCache, ApolloLink } from '@apollo/client';
import { print } from '@apollo/client/utilities';
import { concat, concatMap, defer, EMPTY, type Observable, of } from 'rxjs';
import { Newest, versionedIn } from './newest.ts';

/**
 * Creates the handler for an Apollo Client 4 link that keeps older data from replacing newer data. Put it first:
 * `new ApolloLink(newestVersions())`. A stream message is dropped if newer versions of all its objects are known. A
 * query is resent, at most three times, if either of these has arrived in the meantime: a newer version of an object in
 * its response, or the response to a later request with the same query and variables. A mutation's result does not
 * replace newer versions in the cache.
 */
export function newestVersions(): ApolloLink.RequestHandler {
  const newest = new Newest();
  return (operation, forward) => {
    const { operationType } = operation;
    const query = JSON.stringify([print(operation.query), operation.variables]);
    const send = (repeats: number): Observable<ApolloLink.Result> => {
      const isOutdated = newest.sent(query);
      return forward(operation).pipe(
        concatMap((result) => {
          if (operationType === 'subscription') return newest.isOlder(result.data) ? EMPTY : of(result);
          if (!isOutdated(result.data)) return of(result);
          if (operationType === 'mutation') return keepingNewer(operation.client.cache, result);
          return repeats > 0 ? send(repeats - 1) : of(result);
        }),
      );
    };
    return send(3);
  };
}

/** Emits a mutation's result, and then restores the objects of which the cache has newer versions. */
function keepingNewer(cache: ApolloCache, result: ApolloLink.Result): Observable<ApolloLink.Result> {
  const stored = cache.extract() as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const newer = [...versionedIn(result.data)].flatMap((object) => {
    const id = cache.identify({ ...object }) ?? '';
    const known = stored[id];
    return known && Number(known.version) > object.version ? [{ id, known }] : [];
  });
  const restore = defer(() => {
    for (const { id, known } of newer)
      cache.modify({ id, fields: (value, { storeFieldName }) => known[storeFieldName] ?? value });
    return EMPTY;
  });
  return concat(of(result), restore);
}
