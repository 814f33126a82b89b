import { type GraphQLField, getNullableType, isInputObjectType } from 'graphql';

/**
 * How the rows of a list are found by one field of its filter:
 *
 * - `one`: an index has the one row, or the few, with a value of it;
 * - `index`: an index has the rows with one value of it in the order of their creation, other than false;
 * - `created`: a range of the order of creation;
 * - `updated`: a range of the order of the last change;
 * - `any`: it leaves no rows out;
 * - `kind`: of a customer's rows there are few INTERNAL ones, which an index has, and all others are EXTERNAL.
 *
 * By any other field they are searched for.
 */
export type FoundBy = 'one' | 'index' | 'created' | 'updated' | 'any' | 'kind';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The extra cost of searching for its rows, and whether the list belongs to a parent, by which it is found. */
    search?: { readonly price: number; readonly isBelow: boolean };
  }
  interface GraphQLInputFieldExtensions {
    foundBy?: FoundBy;
  }
}

/**
 * Returns the extra cost of finding the rows of a list by its arguments `filter` and `orderBy`: nothing where one index has
 * just these rows in their order. Two conditions need a search, however selective each of them is: all rows that meet one may
 * be read before one is found that meets the other. A parent counts as a condition, and so does any order but that of creation.
 */
export function searchCost(
  definition: GraphQLField<unknown, unknown>,
  { filter, orderBy }: { readonly filter?: unknown; readonly orderBy?: unknown },
): number {
  const { search } = definition.extensions;
  const given = Object.entries(Object(filter)).filter(([, value]) => value !== null && value !== undefined);
  const isByChange = orderBy === 'UPDATED';
  if (!search || (given.length === 0 && !isByChange)) return 0;
  const fields = fieldsOfFilter(definition);
  const isOfCustomer = search.isBelow || given.some(([name]) => name === 'customerId');
  let conditions = Number(search.isBelow) + Number(isByChange);
  for (const [name, value] of given) {
    const foundBy = fields[name]?.extensions.foundBy;
    if (foundBy === 'one' && !search.isBelow) return 0;
    if (foundBy === 'kind' && isOfCustomer && value === 'INTERNAL') return 0;
    if (foundBy === 'any' || foundBy === (isByChange ? 'updated' : 'created') || (foundBy === 'kind' && isOfCustomer))
      continue;
    const isOneValue = foundBy === 'index' && value !== false && new Set([value].flat()).size <= 1;
    conditions += isOneValue ? 1 : 2;
  }
  return conditions > 1 ? search.price : 0;
}

/** Returns whether an argument selects or orders rows. */
export function isSearchArgument(name: string): boolean {
  return name === 'filter' || name === 'orderBy';
}

function fieldsOfFilter({ args }: GraphQLField<unknown, unknown>) {
  const filter = args.find(({ name }) => name === 'filter');
  const type = filter && getNullableType(filter.type);
  return isInputObjectType(type) ? type.getFields() : {};
}
