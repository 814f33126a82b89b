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
 * Finds a field below the one being resolved that needs a plan: a resolver cannot compute it from the available row.
 * @param showsExisting whether the available rows existed before, so that all their fields count, except their ids
 * @returns the first such field, as `Type.field`, or undefined
 */
export function findFurtherRead(info: GraphQLResolveInfo, showsExisting: boolean): string | undefined {
  const { schema } = info;
  const planner = plannerOf(info);

  function find(type: GraphQLNamedType, sets: readonly SelectionSetNode[]): string | undefined {
    if (isAbstractType(type)) return findFirst(schema.getPossibleTypes(type), (one) => find(one, sets));
    if (!isObjectType(type)) return undefined;
    const isExisting = showsExisting && type.getInterfaces().some(({ name }) => name === 'Node');
    return findFirst(planner.selectedFields(type, sets), ({ field, below }) => {
      if (!field) return undefined;
      const isRead = field.extensions.isOnlyPlanned || (isExisting && field.name !== 'id');
      return isRead ? `${type.name}.${field.name}` : find(getNamedType(field.type), below);
    });
  }

  return find(getNamedType(info.returnType), selectionsOf(info));
}

/** Returns the names of the fields that a document selects from the object being resolved. */
export function selectedNames(info: GraphQLResolveInfo): ReadonlySet<string> {
  const type = getNamedType(info.returnType);
  if (!isObjectType(type)) throw new Error(`${type.name} is not an object type`);
  return new Set(
    plannerOf(info)
      .selectedFields(type, selectionsOf(info))
      .map(({ node }) => node.name.value),
  );
}

function plannerOf({ schema, fragments, variableValues: variables }: GraphQLResolveInfo): Planner {
  return new Planner({ schema, fragments: new Map(Object.entries(fragments)), variables, isTyped: false });
}

function selectionsOf({ fieldNodes }: GraphQLResolveInfo): SelectionSetNode[] {
  return fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []);
}

function findFirst<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
