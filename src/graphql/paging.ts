import { defaultPageSize, maxPageSize, type Page } from '../core/paging.ts';
import { invalidInput } from './failure.ts';

/** The arguments of every list. */
export interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
  readonly sortOrder?: 'ASC' | 'DESC' | null | undefined;
}

/**
 * Reads the arguments of a list: which rows of it to read, and in which order. They mean what section 4 of the Relay
 * specification says (https://relay.dev/graphql/connections.htm): the rows after `after` and before `before`, and of
 * those the first or the last so many.
 *
 * - A cursor names a place in the order of the list. It holds where its row no longer matches the filter, or is gone.
 * - Cursors that cross leave nothing between them. By the letter `before` would be ignored where `after` has removed its
 *   row; graphql-relay, the specification's own implementation, answers nothing, too.
 * - Without `first` and `last` it is the default size: the rows right before `before` where that is the only cursor,
 *   else the first ones.
 *
 * @throws GraphQLError INVALID_INPUT for a size outside 0 to 100, for `first` with `last`, and for a cursor that is not of
 *   this list
 */
export function parsePage<Key>(args: PageArgs, keyOf: (cursor: string) => Key | undefined): Page<Key> {
  const size = (name: 'first' | 'last'): number | undefined => {
    const value = args[name] ?? undefined;
    if (value !== undefined && (value < 0 || value > maxPageSize)) {
      throw invalidInput(`${name} must lie between 0 and ${maxPageSize}`, name);
    }
    return value;
  };
  const key = (name: 'after' | 'before'): Key | undefined => {
    const cursor = args[name] ?? undefined;
    if (cursor === undefined) return undefined;
    const parsed = keyOf(cursor);
    if (parsed === undefined) throw invalidInput(`${name} is not a cursor of this list`, name);
    return parsed;
  };
  const [first, last, after, before] = [size('first'), size('last'), key('after'), key('before')];
  if (first !== undefined && last !== undefined) throw invalidInput('first and last exclude each other', 'last');

  const ascending = args.sortOrder === 'ASC';
  const onlyBefore = before !== undefined && first === undefined && after === undefined;
  const backward = last !== undefined || onlyBefore;
  return {
    size: first ?? last ?? defaultPageSize,
    backward,
    read: ascending !== backward ? 'asc' : 'desc',
    bound: between(after, before, ascending),
    beyond: backward ? outside(before, ascending ? 'gte' : 'lte') : outside(after, ascending ? 'lte' : 'gte'),
  };
}

function between<Key>(after: Key | undefined, before: Key | undefined, ascending: boolean): Page<Key>['bound'] {
  if (after === undefined && before === undefined) return undefined;
  const [gt, lt] = ascending ? [after, before] : [before, after];
  return { ...(gt !== undefined && { gt }), ...(lt !== undefined && { lt }) };
}

function outside<Key>(key: Key | undefined, side: 'gte' | 'lte'): Page<Key>['beyond'] {
  if (key === undefined) return undefined;
  return side === 'gte' ? { gte: key } : { lte: key };
}
