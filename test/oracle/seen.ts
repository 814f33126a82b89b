import {
  type DocumentNode,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
} from 'graphql';
import type { Data } from '../setup/gateway.ts';

interface Selected {
  readonly on: GraphQLNamedType;
  readonly field: FieldNode;
}

/** Finds the fields that have a value in the answers to a document. */
export class SeenFields {
  /**
   * As `Type.field`; for a list, one with at least one element; for a variant, only if no other variant has the same
   * key.
   */
  readonly fields = new Set<string>();
  /** How many rows of lists and nodes were found. */
  rows = 0;
  readonly #schema: GraphQLSchema;
  readonly #document: DocumentNode;

  constructor(schema: GraphQLSchema, query: string, operationName: string | undefined, data: Data) {
    this.#schema = schema;
    this.#document = parse(query);
    const operation = this.#document.definitions.find(
      (one) => one.kind === Kind.OPERATION_DEFINITION && (!operationName || one.name?.value === operationName),
    );
    const type = schema.getQueryType();
    if (type && operation && 'selectionSet' in operation && operation.selectionSet && data)
      this.#see(type, [operation.selectionSet], data);
  }

  #see(type: GraphQLNamedType, selections: readonly SelectionSetNode[], value: Data): void {
    const byKey = Map.groupBy(
      selections.flatMap((one) => this.#selected(type, one)),
      ({ field }) => (field.alias ?? field.name).value,
    );
    for (const [key, selected] of byKey) {
      const found: readonly Data[] = [value[key]].flat(3).filter((one) => one !== null && one !== undefined);
      const [one] = selected;
      if (found.length === 0 || !one) continue;
      if (new Set(selected.map(({ on }) => on)).size === 1) this.fields.add(`${one.on.name}.${one.field.name.value}`);
      const below = this.#typeBelow(one);
      if (this.#isRow(type, below, one)) this.rows += found.length;
      const inner = selected.flatMap(({ field }) => field.selectionSet ?? []);
      if (below && inner.length > 0) for (const one of found) this.#see(below, inner, one);
    }
  }

  /** Returns the fields of a selection, including those of its fragments. */
  #selected(type: GraphQLNamedType, { selections }: SelectionSetNode): Selected[] {
    return selections.flatMap((one): Selected[] => {
      if (one.kind === Kind.FIELD) return [{ on: type, field: one }];
      const fragment =
        one.kind === Kind.INLINE_FRAGMENT
          ? one
          : this.#document.definitions.find(
              (other) => other.kind === Kind.FRAGMENT_DEFINITION && other.name.value === one.name.value,
            );
      if (!fragment || !('selectionSet' in fragment) || !fragment.selectionSet) return [];
      const on = 'typeCondition' in fragment && fragment.typeCondition?.name.value;
      return this.#selected((on && this.#schema.getType(on)) || type, fragment.selectionSet);
    });
  }

  #typeBelow({ on, field }: Selected): GraphQLNamedType | undefined {
    if (!isObjectType(on) && !isInterfaceType(on)) return undefined;
    const known = on.getFields()[field.name.value];
    return known && getNamedType(known.type);
  }

  #isRow(type: GraphQLNamedType, below: GraphQLNamedType | undefined, { field }: Selected): boolean {
    if (type.name.endsWith('Connection')) return ['edges', 'nodes'].includes(field.name.value);
    if (type !== this.#schema.getQueryType() || !(isObjectType(below) || isInterfaceType(below))) return false;
    return below.name === 'Node' || below.getInterfaces().some(({ name }) => name === 'Node');
  }
}
