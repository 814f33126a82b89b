interface Operation {
  readonly operationType: string | undefined;
}

interface Observer {
  next?(result: unknown): void;
  error?(error: unknown): void;
  complete?(): void;
}

/** An RxJS Observable, as links return it. It is built with its own constructor, so this file needs no package. */
interface Observable {
  subscribe(observer: Observer): { unsubscribe(): void };
}

/**
 * Creates the handler of a link for Apollo Client 4 that keeps older data from replacing newer data. Put it first: `new
 * ApolloLink(newestVersions())`. A stream message whose objects are all older is dropped. A query is repeated, at most
 * three times, if its response contains an object of which a stream has delivered a newer version in the meantime.
 */
export function newestVersions() {
  const versions = new Versions();
  return <Result extends Observable>(operation: Operation, forward: (operation: never) => Result) => {
    // The type `never` accepts the link's function in any version; the function is called with the operation that it
    // came with.
    const send = () => (forward as (operation: Operation) => Result)(operation);
    const { operationType } = operation;
    const first = send();
    // Apollo's own Observable class, without importing it: its constructor takes the subscriber function.
    const Observable = first.constructor as new (subscribe: (observer: Observer) => () => void) => Result;
    return new Observable((observer) => {
      let current: { unsubscribe(): void } | undefined;
      let isStopped = false;
      const run = (source: Result, repeats: number) => {
        let isRepeating = false;
        current = source.subscribe({
          next(result) {
            const { objects, older } = versions.note((result as { readonly data?: unknown }).data);
            if (operationType === 'subscription' && objects > 0 && objects === older) return;
            isRepeating = operationType === 'query' && older > 0 && repeats > 0;
            if (!isRepeating) observer.next?.(result);
          },
          error: (error) => observer.error?.(error),
          complete() {
            if (isStopped) return;
            if (isRepeating) run(send(), repeats - 1);
            else observer.complete?.();
          },
        });
      };
      run(first, 3);
      return () => {
        isStopped = true;
        current?.unsubscribe();
      };
    });
  };
}

/** Tracks the highest version seen of each object, to recognize older data: a late response or a repeated message. */
class Versions {
  readonly #highest = new Map<string, number>();

  /** Records all objects with `id` and `version`. Returns how many there are, and how many are older than known. */
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
