import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { parse } from 'graphql';
import type { Operation } from './operation.ts';
import type { Parsed } from './scalars.ts';

/** A parsed operation. Its scalars have the types that the app declares for its cache. */
export type Document<Result, Variables> = TypedDocumentNode<Parsed<Result>, Parsed<Variables>>;

/** Parses an operation for a client that takes documents, such as Apollo Client. */
export function documentOf<Result, Variables>(text: Operation<Result, Variables>): Document<Result, Variables> {
  return parse(text, { noLocation: true }) as Document<Result, Variables>;
}
