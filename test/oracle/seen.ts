import {
  type DefinitionNode,
  type FieldNode,
  type FragmentDefinitionNode,
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

/** The fields that have a value in a response, and the number of list rows and nodes in it. */
interface Seen {
  /**
   * Each field is written as `Type.field`. A list counts only if it is not empty. A field counts only if no field of
   * another type is selected under the same key.
   */
  readonly fields: ReadonlySet<string>;
  readonly rows: number;
}

export function seenIn(schema: GraphQLSchema, query: string, operationName: string | undefined, data: Data): Seen {
  const { definitions } = parse(query);
  const fields = new Set<string>();
  let rows = 0;

  const see = (type: GraphQLNamedType, selections: readonly SelectionSetNode[], value: Data): void => {
    const byKey = Map.groupBy(
      selections.flatMap((one) => selected(type, one)),
      ({ field }) => (field.alias ?? field.name).value,
    );
    for (const [key, ofKey] of byKey) {
      const found: readonly Data[] = [value[key]].flat(3).filter((one) => one !== null && one !== undefined);
      const [one] = ofKey;
      if (found.length === 0 || !one) continue;
      if (new Set(ofKey.map(({ on }) => on)).size === 1) fields.add(`${one.on.name}.${one.field.name.value}`);
      const below = typeBelow(one);
      if (isRow(type, below, one)) rows += found.length;
      const inner = ofKey.flatMap(({ field }) => field.selectionSet ?? []);
      if (below && inner.length > 0) for (const each of found) see(below, inner, each);
    }
  };

  /** Returns the fields in a selection, including those in its fragments. */
  const selected = (type: GraphQLNamedType, { selections }: SelectionSetNode): Selected[] =>
    selections.flatMap((one): Selected[] => {
      if (one.kind === Kind.FIELD) return [{ on: type, field: one }];
      const isNamed = (other: DefinitionNode): other is FragmentDefinitionNode =>
        other.kind === Kind.FRAGMENT_DEFINITION && other.name.value === ('name' in one && one.name.value);
      const fragment = one.kind === Kind.INLINE_FRAGMENT ? one : definitions.find(isNamed);
      const on = fragment?.typeCondition && schema.getType(fragment.typeCondition.name.value);
      return fragment ? selected(on ?? type, fragment.selectionSet) : [];
    });

  const isRow = (type: GraphQLNamedType, below: GraphQLNamedType | undefined, { field }: Selected): boolean => {
    if (type.name.endsWith('Connection')) return ['edges', 'nodes'].includes(field.name.value);
    if (type !== schema.getQueryType() || !(isObjectType(below) || isInterfaceType(below))) return false;
    return below.name === 'Node' || below.getInterfaces().some(({ name }) => name === 'Node');
  };

  const type = schema.getQueryType();
  const operation = definitions.find(
    (one) => one.kind === Kind.OPERATION_DEFINITION && (!operationName || one.name?.value === operationName),
  );
  if (type && operation?.kind === Kind.OPERATION_DEFINITION && data) see(type, [operation.selectionSet], data);
  return { fields, rows };
}

function typeBelow({ on, field }: Selected): GraphQLNamedType | undefined {
  if (!isObjectType(on) && !isInterfaceType(on)) return undefined;
  const known = on.getFields()[field.name.value];
  return known && getNamedType(known.type);
}
