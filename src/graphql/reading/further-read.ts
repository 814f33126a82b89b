import {
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  getNamedType,
  isAbstractType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql';
import { Planner } from './plan.ts';

/**
 * Looks whether a document reads anything below a field that is being resolved, beside what the field itself answers: what a
 * plan reads, rather than a resolver takes from a row in hand.
 * @returns the first field that does, as `Type.field`; undefined where none does
 */
export function findFurtherRead(info: GraphQLResolveInfo): string | undefined {
  const { schema, variableValues: variables } = info;
  const planner = new Planner({
    schema,
    fragments: new Map(Object.entries(info.fragments)),
    variables,
    isTyped: false,
  });

  function find(type: GraphQLNamedType, sets: readonly SelectionSetNode[]): string | undefined {
    if (isAbstractType(type)) return findFirst(schema.getPossibleTypes(type), (one) => find(one, sets));
    if (!isObjectType(type)) return undefined;
    return findFirst(planner.selectedFields(type, sets), ({ field, below }) => {
      if (!field) return undefined;
      return field.extensions.isPlanned ? `${type.name}.${field.name}` : find(getNamedType(field.type), below);
    });
  }

  return find(
    getNamedType(info.returnType),
    info.fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []),
  );
}

function findFirst<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
