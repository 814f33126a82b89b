import type { FieldNode, GraphQLCompositeType, GraphQLField, GraphQLObjectType, SelectionSetNode } from 'graphql';
import type { Env } from './reads.ts';
import type { Sql } from './sql.ts';

/** Thrown if a plan cannot read a document, since one of its fields is resolved in JavaScript. */
export class LeftToExecutor extends Error {}

/** A field of the response, by response key, with the selection sets below it. */
export interface SelectedField {
  readonly key: string;
  readonly field: GraphQLField<unknown, unknown> | undefined;
  readonly node: FieldNode;
  readonly below: readonly SelectionSetNode[];
}

/** The part of the planner that the code for one kind of read needs (page.ts). */
export interface DocumentWalker {
  alias(): string;
  value(type: GraphQLCompositeType, sets: readonly SelectionSetNode[], env: Env): Sql;
  /** Writes an object of the response; `each` writes the value of one field. */
  object(type: GraphQLObjectType, sets: readonly SelectionSetNode[], each: (selected: SelectedField) => Sql): Sql;
}
