import type { ApolloLink } from '@apollo/client';
import { print } from '@apollo/client/utilities';
import { concatMap, EMPTY, type Observable, of } from 'rxjs';

/**
 * Creates the handler for an Apollo Client 4 link that keeps older data from replacing newer data. Put it first:
 * `new ApolloLink(newestVersions())`. A stream message is dropped if newer versions of all its objects are known. A
 * query is resent, at most three times, if either of these has arrived in the meantime: a newer version of an object in
 * its response, or the response to a later request with the same query and variables.
 */
export function newestVersions(): ApolloLink.RequestHandler {
  /** The highest version seen so far for each object. */
  const highest = new Map<string, number>();
  /** The latest answered request for each combination of query and variables. */
  const answered = new Map<string, number>();
  let requests = 0;
  return (operation, forward) => {
    const { operationType } = operation;
    const query = JSON.stringify([print(operation.query), operation.variables]);
    const send = (repeats: number): Observable<ApolloLink.Result> => {
      const request = ++requests;
      return forward(operation).pipe(
        concatMap((result) => {
          const objects = [...versionsIn(result.data)];
          const older = objects.filter(([id, version]) => version < (highest.get(id) ?? version));
          for (const [id, version] of objects) highest.set(id, Math.max(version, highest.get(id) ?? version));
          const isOlder = objects.length > 0 && objects.length === older.length;
          if (operationType === 'subscription' && isOlder) return EMPTY;
          if (operationType !== 'query') return of(result);
          const isOvertaken = request < (answered.get(query) ?? 0);
          if (!isOvertaken) answered.set(query, request);
          return (isOvertaken || older.length > 0) && repeats > 0 ? send(repeats - 1) : of(result);
        }),
      );
    };
    return send(3);
  };
}

/** Finds the id and the version of each object that has both. */
function* versionsIn(data: unknown): Generator<readonly [id: string, version: number]> {
  if (typeof data !== 'object' || data === null) return;
  const { id, version } = data as { readonly id?: unknown; readonly version?: unknown };
  if (typeof id === 'string' && typeof version === 'number') yield [id, version];
  for (const part of Object.values(data)) yield* versionsIn(part);
}
