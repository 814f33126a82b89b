import type { FieldNode, GraphQLCompositeType, GraphQLField, GraphQLObjectType, SelectionSetNode } from 'graphql';
import type { Env } from './reads.ts';
import type { Sql } from './sql.ts';

/** A field that is resolved in JavaScript: what asks for it is not read by a plan. */
export class NotPlanned extends Error {}

/** A field of the answer, by its response key, with all that the document asks for below it. */
export interface SelectedField {
  readonly key: string;
  readonly field: GraphQLField<unknown, unknown> | undefined;
  readonly node: FieldNode;
  readonly below: readonly SelectionSetNode[];
}

/** What walks a document: for what reads a part of it (page.ts). */
export interface DocumentWalker {
  /** A name for a table that no other has in this plan. */
  alias(): string;
  /** What is asked of a value of a type. */
  value(type: GraphQLCompositeType, sets: readonly SelectionSetNode[], env: Env): Sql;
  /** An object of the answer; `each` says what a field of it comes to. */
  object(type: GraphQLObjectType, sets: readonly SelectionSetNode[], each: (selected: SelectedField) => Sql): Sql;
}
