import { type DocumentNode, GraphQLError, Kind, type SelectionNode, type SelectionSetNode } from 'graphql';

/**
 * Finds @skip and @include on the root field of a subscription. The specification forbids them from September 2025 on (5.2.4.1,
 * Single Root Field), and graphql-js 16 evaluates them without the variables and fails.
 */
export function findConditionalRoots({ definitions }: DocumentNode): GraphQLError[] {
  const fragments = new Map(
    definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one.selectionSet]] : [])),
  );
  const visited = new Set<SelectionSetNode>();

  /** Returns the selections of a subscription's root, those in fragments included. */
  function rootSelections(set: SelectionSetNode | undefined): SelectionNode[] {
    if (!set || visited.has(set)) return [];
    visited.add(set);
    return set.selections.flatMap((one) => [
      one,
      ...(one.kind === Kind.INLINE_FRAGMENT ? rootSelections(one.selectionSet) : []),
      ...(one.kind === Kind.FRAGMENT_SPREAD ? rootSelections(fragments.get(one.name.value)) : []),
    ]);
  }

  return definitions
    .flatMap((one) =>
      one.kind === Kind.OPERATION_DEFINITION && one.operation === 'subscription'
        ? rootSelections(one.selectionSet)
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
