import { AsyncLocalStorage } from 'node:async_hooks';

// The platform on whose behalf statements run. The serving role sees no other platform's rows (docs/database-roles.md).

const scope = new AsyncLocalStorage<string>();

/** An id that no platform has, so that a statement outside `asPlatform` sees no rows. */
export const noPlatform = '00000000-0000-0000-0000-000000000000';

/** Runs `work`, and everything that it starts, on behalf of a platform. */
export function asPlatform<T>(platformId: string, work: () => T): T {
  return scope.run(platformId, () => {
    const result = work();
    // A Prisma query starts only when it is awaited, so start it here. The caller still gets any error.
    if (isQueryOfPrisma(result)) result.then(undefined, () => undefined);
    return result;
  });
}

function isQueryOfPrisma(value: unknown): value is PromiseLike<unknown> {
  return Object.prototype.toString.call(value) === '[object PrismaPromise]';
}

/** Returns the id of the platform on whose behalf the current work runs, or `noPlatform`. */
export function currentPlatform(): string {
  return scope.getStore() ?? noPlatform;
}
