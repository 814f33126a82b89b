import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { parse } from 'graphql';

/** Parses an operation. The caller declares its types, unchecked: the generator writes them beside the text. */
export function document<Result, Variables>(text: string): TypedDocumentNode<Result, Variables> {
  return parse(text, { noLocation: true }) as TypedDocumentNode<Result, Variables>;
}
