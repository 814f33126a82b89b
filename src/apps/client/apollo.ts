import type { ApolloLink } from '@apollo/client';
import { concatMap, EMPTY, type Observable, of } from 'rxjs';

/**
 * Creates the handler of a link for Apollo Client 4 that keeps older data from replacing newer data. Put it first: `new
 * ApolloLink(newestVersions())`. A stream message whose objects are all older is dropped. A query is repeated, at most
 * three times, if its response contains an object of which a stream has delivered a newer version in the meantime.
 */
export function newestVersions(): ApolloLink.RequestHandler {
  const versions = new Versions();
  return (operation, forward) => {
    const { operationType } = operation;
    const send = (repeats: number): Observable<ApolloLink.Result> =>
      forward(operation).pipe(
        concatMap((result) => {
          const { objects, older } = versions.note(result.data);
          if (operationType === 'subscription' && objects > 0 && objects === older) return EMPTY;
          return operationType === 'query' && older > 0 && repeats > 0 ? send(repeats - 1) : of(result);
        }),
      );
    return send(3);
  };
}

/** Tracks the highest version seen of each object, to recognize older data: a late response or a repeated message. */
class Versions {
  readonly #highest = new Map<string, number>();

  /** Records all objects with `id` and `version`. Returns how many there are, and how many are outdated. */
  note(data: unknown): { readonly objects: number; readonly older: number } {
    let [objects, older] = [0, 0];
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      if (Array.isArray(value)) {
        for (const item of value) visit(item);
        return;
      }
      const { id, version } = value as { readonly id?: unknown; readonly version?: unknown };
      if (typeof id === 'string' && typeof version === 'number') {
        objects += 1;
        const known = this.#highest.get(id) ?? version;
        if (version < known) older += 1;
        this.#highest.set(id, Math.max(version, known));
      }
      for (const part of Object.values(value)) visit(part);
    };
    visit(data);
    return { objects, older };
  }
}
