import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

/** What is known of the request that the current work is done for. Each line of the log has it. */
export interface RequestFacts {
  /** The id that the client, a proxy or this instance has given it. The response has it, too. */
  readonly requestId: string;
  /** The uuid of the platform whose credentials it has. */
  platform?: string;
  /** The uuid of its token. */
  token?: string;
  /** The kind and the root field of a GraphQL operation, or the method and the path of an endpoint. */
  operation?: string;
}

const scope = new AsyncLocalStorage<RequestFacts>();

/** What an id of a client may look like: it is written to the log and to headers. */
const idForm = /^[\w.:/+=-]{1,128}$/;

/** Makes the facts of a request. The id that it brings is used, unless it is malformed. */
export function factsOf(given?: string | readonly string[]): RequestFacts {
  return { requestId: typeof given === 'string' && idForm.test(given) ? given : randomUUID() };
}

/** Runs `work`, and all that it starts, for a request. */
export function asRequest<T>(facts: RequestFacts, work: () => T): T {
  return scope.run(facts, work);
}

/** Returns the facts of the request that the current work is done for; undefined for background work. */
export function currentRequest(): RequestFacts | undefined {
  return scope.getStore();
}

/** Notes who sends the current request. */
export function noteCaller({
  platformId,
  tokenId,
}: {
  readonly platformId: string;
  readonly tokenId: string | null;
}): void {
  const facts = scope.getStore();
  if (!facts) return;
  facts.platform = platformId;
  if (tokenId !== null) facts.token = tokenId;
}

/** Notes which operation the current request is. */
export function noteOperation(operation: string): void {
  const facts = scope.getStore();
  if (facts) facts.operation = operation;
}

/** Runs each step of an iterator for a request. */
export function iterateAsRequest<T>(facts: RequestFacts, iterator: AsyncIterableIterator<T>): AsyncIterableIterator<T> {
  return {
    next: () => asRequest(facts, () => iterator.next()),
    return: (value) =>
      asRequest(facts, () => iterator.return?.(value) ?? Promise.resolve({ done: true as const, value: undefined })),
    throw: (error) => asRequest(facts, () => iterator.throw?.(error) ?? Promise.reject(error)),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
