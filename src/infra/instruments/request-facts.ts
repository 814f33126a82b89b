import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

/** The known facts about the request to which the current work belongs. Every log line includes them. */
export interface RequestFacts {
  /** The id assigned by the client, a proxy or this instance. The response also contains it. */
  readonly requestId: string;
  platform?: string;
  tokenId?: string;
  /** A GraphQL operation's kind and root field, or an endpoint's method and path. */
  operation?: string;
  /** The public ids of the first few objects that the request's commands have created or changed. */
  made?: string[];
  client?: ClientFacts;
}

export interface ClientFacts {
  readonly name: string;
  /** Empty if the client did not send one. */
  readonly version: string;
}

const scope = new AsyncLocalStorage<RequestFacts>();

/** The format of an id sent by a client. Such ids are written to the log and to headers. */
const idForm = /^[\w.:/+=-]{1,128}$/;

/** The format of a client's name and version. Both are written to the log and the database. */
const clientForm = /^[\x20-\x7e]{1,64}$/;
/** The prefixes of the `-name` and `-version` headers, by Apollo's convention and by GraphQL Hive's. */
const clientHeaders = ['apollographql-client', 'graphql-client', 'x-graphql-client'];

/** Returns the name and version that a client sends in its headers or, on a socket, in its connection parameters. */
export function clientIn(given: Readonly<Record<string, unknown>>): ClientFacts | undefined {
  for (const header of clientHeaders) {
    const name = given[`${header}-name`];
    if (typeof name !== 'string' || !clientForm.test(name)) continue;
    const version = given[`${header}-version`];
    return { name, version: typeof version === 'string' && clientForm.test(version) ? version : '' };
  }
  return undefined;
}

/** Creates the facts about a request. An id sent with the request is used unless it is malformed. */
export function factsOf(given?: string | readonly string[], client?: ClientFacts): RequestFacts {
  const requestId = typeof given === 'string' && idForm.test(given) ? given : randomUUID();
  return client ? { requestId, client } : { requestId };
}

/** Returns a request's path for the log and spans. Omits UMA addresses and the query, which may be personal data. */
export function pathOf({ url = '' }: { readonly url?: string | undefined }): string {
  const [path = ''] = url.split('?', 1);
  return path.replaceAll(/[^/]*(@|%40)[^/]*/g, '…');
}

/** Runs work as part of a request. The work records facts about the request for the access log. */
export function asRequest<T>(facts: RequestFacts, work: () => T): T {
  return scope.run(facts, work);
}

/** Returns the facts of the request that the current work belongs to; undefined for background work. */
export function currentRequest(): RequestFacts | undefined {
  return scope.getStore();
}

/** The deadline of each request, as a value of `performance.now()`. */
const deadlines = new WeakMap<RequestFacts, number>();

/** Sets the current request's deadline, in milliseconds from now. It limits everything that the request waits for. */
export function beginDeadline(ms: number): void {
  const facts = currentRequest();
  if (facts) deadlines.set(facts, performance.now() + ms);
}

/** Returns how many ms, at most `atMost`, the current request may wait and still have `reserved` ms left. */
export function msLeft(atMost: number, reserved = 0): number {
  const facts = currentRequest();
  const deadline = facts && deadlines.get(facts);
  return deadline === undefined ? atMost : Math.max(0, Math.min(atMost, deadline - reserved - performance.now()));
}

export function noteCaller({ platformId, tokenId }: { platformId: string; tokenId: string | null }): void {
  const facts = currentRequest();
  if (!facts) return;
  facts.platform = platformId;
  if (tokenId !== null) facts.tokenId = tokenId;
}

export function noteOperation(operation: string): void {
  const facts = currentRequest();
  if (facts) facts.operation = operation;
}

const mostMade = 20;

export function noteMade(id: string): void {
  const facts = currentRequest();
  if (!facts) return;
  facts.made ??= [];
  if (facts.made.length < mostMade && !facts.made.includes(id)) facts.made.push(id);
}
