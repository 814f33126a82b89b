import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';

/** An operation's source or, if it is registered, its hash (`sha256:…`), with the types of its result and variables. */
export type Operation<Result, Variables> = string & DocumentTypeDecoration<Result, Variables>;

/** Creates an operation from its source and the sources of its fragments. Its types are not checked. */
export function operation<Result, Variables>(...texts: readonly string[]): Operation<Result, Variables> {
  return texts.join('\n') as Operation<Result, Variables>;
}

/** Returns the fields of a request that identify its operation. */
export function sentAs(operation: string): { readonly query: string; readonly documentId?: string } {
  return operation.startsWith('sha256:') ? { query: '', documentId: operation } : { query: operation };
}

/** Returns the `fetch` options for a GraphQL request. */
export function asPost(request: object) {
  const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };
  return { method: 'POST', headers, body: JSON.stringify(request) };
}
