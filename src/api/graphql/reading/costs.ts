export type { FoundBy } from '../limits/search-cost.ts';

/** Reads that cost more than a column although their kind does not say so (prices.ts). */
export type Costs = 'rows' | 'legs' | 'past' | 'read' | 'all' | 'sums';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The cost of the field, if it has no `read` that defines it. */
    costs?: Costs;
  }
}
