export type { FoundBy } from '../limits/search-cost.ts';

/** What costs more than a column, where the kind of read does not say so (prices.ts). */
export type Costs = 'rows' | 'legs' | 'past' | 'read' | 'all' | 'sums';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** What the field costs, where it has no `read` that says so. */
    costs?: Costs;
  }
}
