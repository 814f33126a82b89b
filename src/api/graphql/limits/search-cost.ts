import { type GraphQLField, getNullableType, isInputObjectType } from 'graphql';

/**
 * How a field of a list's filter finds the rows:
 *
 * - `one`: an index finds the one row, or the few rows, with the value;
 * - `index`: an index has the rows with the value (other than false) in order of creation;
 * - `created`: a range in order of creation;
 * - `updated`: a range in order of last change;
 * - `any`: it excludes no rows;
 * - `kind`: few of a customer's rows are INTERNAL, which an index has; all others are EXTERNAL.
 *
 * Any other field requires a search.
 */
export type FoundBy = 'one' | 'index' | 'created' | 'updated' | 'any' | 'kind';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The price of the field without its subfields: 1 by default. */
    price?: number;
    /** The extra cost of searching for its rows, and whether the list belongs to a parent that narrows the search. */
    search?: { readonly price: number; readonly isBelow: boolean };
  }
  interface GraphQLInputFieldExtensions {
    foundBy?: FoundBy;
  }
}

/**
 * Returns the extra cost of finding a list's rows by its arguments `filter` and `orderBy`: zero if a single index has
 * exactly these rows in their order. Two conditions require a search, however selective each is: in the worst case all
 * rows that meet one are read before any of them meets the other. A parent counts as a condition, as does any order
 * other than creation.
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
