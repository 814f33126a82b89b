/** What costs more than a column, where the kind of read does not say so (prices.ts). */
export type Costs = 'rows' | 'past' | 'read' | 'all' | 'sums';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** What the field costs, where it has no `read` that says so. */
    costs?: Costs;
  }
  interface GraphQLInputFieldExtensions {
    /** What it costs to find rows by this field: 'all' where no index has them in the order of lists. */
    costs?: Costs;
  }
}
