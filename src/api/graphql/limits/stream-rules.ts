import { type DocumentNode, GraphQLError, Kind, type SelectionNode, type SelectionSetNode } from 'graphql';

/** Finds @skip and @include on a subscription's root field: forbidden since September 2025 (5.2.4.1), they break graphql-js 16. */
export function findConditionalRoots({ definitions }: DocumentNode): GraphQLError[] {
  const fragments = new Map(
    definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node.selectionSet]] : [],
    ),
  );
  const visited = new Set<SelectionSetNode>();

  /** Returns the selections of a subscription's root, including those in fragments. */
  function rootSelections(selectionSet: SelectionSetNode | undefined): SelectionNode[] {
    if (!selectionSet || visited.has(selectionSet)) return [];
    visited.add(selectionSet);
    return selectionSet.selections.flatMap((node) => [
      node,
      ...(node.kind === Kind.INLINE_FRAGMENT ? rootSelections(node.selectionSet) : []),
      ...(node.kind === Kind.FRAGMENT_SPREAD ? rootSelections(fragments.get(node.name.value)) : []),
    ]);
  }

  return definitions
    .flatMap((node) =>
      node.kind === Kind.OPERATION_DEFINITION && node.operation === 'subscription'
        ? rootSelections(node.selectionSet)
        : [],
    )
    .flatMap(({ directives = [] }) =>
      directives.filter(({ name }) => name.value === 'skip' || name.value === 'include'),
    )
    .map(
      (directive) =>
        new GraphQLError(`A subscription's root field must not have @${directive.name.value}.`, { nodes: directive }),
    );
}
