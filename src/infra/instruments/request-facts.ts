import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

/** What is known of the request that the current work is done for. Each line of the log has it. */
export interface RequestFacts {
  /** The id that the client, a proxy or this instance has given it. The response has it, too. */
  readonly requestId: string;
  platform?: string;
  tokenId?: string;
  /** The kind and the root field of a GraphQL operation, or the method and the path of an endpoint. */
  operation?: string;
  /** The public ids of what its commands have made or changed, the first of them. */
  made?: string[];
  /** The client that sends the request, if it identifies itself. */
  client?: ClientFacts;
}

/** The name by which a client identifies itself. */
export interface ClientFacts {
  readonly name: string;
  /** Empty where it does not say. */
  readonly version: string;
}

const scope = new AsyncLocalStorage<RequestFacts>();

/** What an id of a client may look like: it is written to the log and to headers. */
const idForm = /^[\w.:/+=-]{1,128}$/;

/** What the name and the version of a client may look like: they are written to the log and the database. */
const clientForm = /^[\x20-\x7e]{1,64}$/;
/** The names of headers before `-name` and `-version`: of Apollo's clients, and of those that follow GraphQL Hive. */
const clientHeaders = ['apollographql-client', 'graphql-client', 'x-graphql-client'];

/** Returns what a client calls itself, in its headers or, on a socket, in its connection parameters. */
export function clientIn(given: Readonly<Record<string, unknown>>): ClientFacts | undefined {
  for (const header of clientHeaders) {
    const name = given[`${header}-name`];
    if (typeof name !== 'string' || !clientForm.test(name)) continue;
    const version = given[`${header}-version`];
    return { name, version: typeof version === 'string' && clientForm.test(version) ? version : '' };
  }
  return undefined;
}

/** Makes the facts of a request. The id that it brings is used, unless it is malformed. */
export function factsOf(given?: string | readonly string[], client?: ClientFacts): RequestFacts {
  const requestId = typeof given === 'string' && idForm.test(given) ? given : randomUUID();
  return client ? { requestId, client } : { requestId };
}

export function asRequest<T>(facts: RequestFacts, work: () => T): T {
  return scope.run(facts, work);
}

/** Returns the facts of the request that the current work is done for; undefined for background work. */
export function currentRequest(): RequestFacts | undefined {
  return scope.getStore();
}

/** When the time of each request is over, by `performance.now()`. */
const deadlines = new WeakMap<RequestFacts, number>();

/** Gives the current request so many milliseconds from now, for all that it waits for. */
export function beginDeadline(ms: number): void {
  const facts = currentRequest();
  if (facts) deadlines.set(facts, performance.now() + ms);
}

/**
 * Returns how many milliseconds the current request may wait for something; `atMost` for work without a deadline.
 * @param reserved how many of them it needs afterwards
 */
export function msLeft(atMost: number, reserved = 0): number {
  const facts = currentRequest();
  const deadline = facts && deadlines.get(facts);
  return deadline === undefined ? atMost : Math.max(0, Math.min(atMost, deadline - reserved - performance.now()));
}

interface Sender {
  readonly platformId: string;
  readonly tokenId: string | null;
}

export function noteCaller({ platformId, tokenId }: Sender): void {
  const facts = currentRequest();
  if (!facts) return;
  facts.platform = platformId;
  if (tokenId !== null) facts.tokenId = tokenId;
}

export function noteOperation(operation: string): void {
  const facts = currentRequest();
  if (facts) facts.operation = operation;
}

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

const mostMade = 20;

export function noteMade(id: string): void {
  const facts = currentRequest();
  if (!facts) return;
  facts.made ??= [];
  if (facts.made.length < mostMade && !facts.made.includes(id)) facts.made.push(id);
}
