import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { parse } from 'graphql';

/** Parses an operation whose types are known. */
export function document<Result, Variables>(text: string): TypedDocumentNode<Result, Variables> {
  return parse(text, { noLocation: true }) as TypedDocumentNode<Result, Variables>;
}
