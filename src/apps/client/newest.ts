import { bodyOf } from './payments.ts';

/** An object that can change. `version` increases with each change. */
export interface Versioned {
  readonly id: string;
  readonly version: number;
}

/** Finds the objects in a result that have an id and a version. */
export function* versionedIn(data: unknown): Generator<Versioned> {
  if (typeof data !== 'object' || data === null) return;
  const { id, version } = data as Partial<Versioned>;
  if (typeof id === 'string' && typeof version === 'number') yield data as Versioned;
  for (const part of Object.values(data)) yield* versionedIn(part);
}

/** Keeps track of the newest data that a cache has received, so that older data does not replace it. */
export class Newest {
  /** The highest version seen so far for each object. */
  readonly #highest = new Map<string, number>();
  /** The latest request that has been answered, for each query with its variables. */
  readonly #answered = new Map<string, number>();
  #requests = 0;

  /**
   * Notes that a query is being sent. Call the returned function with the query's result: it returns whether the query
   * must be sent again because a newer version of an object or the response to a later request has arrived meanwhile.
   */
  sent(query: string): (data: unknown) => boolean {
    const request = ++this.#requests;
    return (data) => {
      const isOvertaken = request < (this.#answered.get(query) ?? 0);
      if (!isOvertaken) this.#answered.set(query, request);
      return this.#take(data).some(Boolean) || isOvertaken;
    };
  }

  /** Takes a stream message. Returns whether newer versions of all its objects are known. */
  isOlder(data: unknown): boolean {
    const older = this.#take(data);
    return older.length > 0 && older.every(Boolean);
  }

  /** Returns, for each object, whether a newer version is known. */
  #take(data: unknown): boolean[] {
    const objects = [...versionedIn(data)];
    const older = objects.map(({ id, version }) => version < (this.#highest.get(id) ?? version));
    for (const { id, version } of objects) this.#highest.set(id, Math.max(version, this.#highest.get(id) ?? version));
    return older;
  }

  /** Returns a `fetch` for one operation. It resends an outdated query (never a mutation), at most three times. */
  fetchFor(kind: string, query: string, send: typeof fetch): typeof fetch {
    const attempt = async (repeats: number, ...request: Parameters<typeof fetch>): Promise<Response> => {
      const isOutdated = this.sent(query);
      const response = await send(...request);
      const { data } = await bodyOf(response.clone());
      return isOutdated(data) && repeats > 0 ? attempt(repeats - 1, ...request) : response;
    };
    return (...request) => attempt(kind === 'query' ? 3 : 0, ...request);
  }
}
