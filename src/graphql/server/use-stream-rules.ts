import { type DocumentNode, GraphQLError, Kind, type SelectionNode, type SelectionSetNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/**
 * Refuses @skip and @include where a subscription says what it subscribes to, as the specification does from September
 * 2025 on (5.2.4.1, Single Root Field): graphql-js 16 looks at them without the variables and fails.
 */
export function useStreamRules(): Plugin {
  return {
    onValidate({ validateFn, setValidationFn }) {
      // Passed on as they came: Envelop leaves them untyped.
      setValidationFn((schema, document, ...rest) => {
        const errors = conditionalRoots(document);
        return errors.length > 0 ? errors : validateFn(schema, document, ...rest);
      });
    },
  };
}

function conditionalRoots({ definitions }: DocumentNode): GraphQLError[] {
  const fragments = new Map(
    definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one.selectionSet]] : [])),
  );
  const visited = new Set<SelectionSetNode>();

  /** The selections of a subscription's root, through the fragments that they are in. */
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
