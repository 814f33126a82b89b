import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';

/** An operation with the types of its result and variables: its text or, if it is registered, its hash `sha256:…` */
export type Operation<Result, Variables> = string & DocumentTypeDecoration<Result, Variables>;

/** Creates an operation from its text and those of its fragments, with types that are not checked. */
export function operation<Result, Variables>(...texts: readonly string[]): Operation<Result, Variables> {
  return texts.join('\n') as Operation<Result, Variables>;
}

/** Returns the members of a request that name its operation. */
export function sentAs(operation: string): { readonly query: string; readonly documentId?: string } {
  return operation.startsWith('sha256:') ? { query: '', documentId: operation } : { query: operation };
}

/** Returns a request of GraphQL over HTTP. */
export function asPost(request: object) {
  const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };
  return { method: 'POST', headers, body: JSON.stringify(request) };
}
