import { defaultPageSize, maxPageSize, type Page } from '../../core/paging.ts';
import { invalidInput } from './failure.ts';

export interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
  readonly sortOrder?: 'ASC' | 'DESC' | null | undefined;
}

export type CursorArgument = 'after' | 'before';

/**
 * Parses a list's arguments, which determine the rows to read and their order. Section 4 of the Relay specification
 * (https://relay.dev/graphql/connections.htm) defines them. The page contains the first or the last of the rows between
 * the cursors `after` and `before`.
 *
 * - A cursor marks a position in the list's order. It stays valid when its row no longer matches the filter or is gone.
 * - If the cursor `before` precedes the cursor `after`, the page is empty, as in graphql-relay, the reference
 * implementation. Taken literally, the specification would ignore `before`.
 * - If `first` and `last` are both omitted, the page has the default size. It contains the last rows before `before` if
 * that is the only cursor, and otherwise the first rows.
 *
 * @throws GraphQLError INVALID_INPUT for a size outside the range 0 to 100, for `first` and `last` together, and for a
 * cursor from a different list
 */
export function parsePage<Key>(
  args: PageArgs,
  keyOf: (cursor: string, argument: CursorArgument) => Key | undefined,
): Page<Key> {
  const size = (name: 'first' | 'last'): number | undefined => {
    const value = args[name] ?? undefined;
    if (value !== undefined && (value < 0 || value > maxPageSize)) {
      throw invalidInput(`${name} must be between 0 and ${maxPageSize}`, name);
    }
    return value;
  };
  const key = (name: CursorArgument): Key | undefined => {
    const cursor = args[name] ?? undefined;
    if (cursor === undefined) return undefined;
    const parsed = keyOf(cursor, name);
    if (parsed === undefined) throw invalidInput(`${name} is not a cursor of this list`, name);
    return parsed;
  };
  const [first, last, after, before] = [size('first'), size('last'), key('after'), key('before')];
  if (first !== undefined && last !== undefined) throw invalidInput('use either first or last, not both', 'last');

  const ascending = args.sortOrder === 'ASC';
  const onlyBefore = before !== undefined && first === undefined && after === undefined;
  const backward = last !== undefined || onlyBefore;
  const [gt, lt] = ascending ? [after, before] : [before, after];
  const start = backward ? before : after;
  return {
    size: first ?? last ?? defaultPageSize,
    backward,
    read: ascending !== backward ? 'asc' : 'desc',
    bound:
      gt === undefined && lt === undefined
        ? undefined
        : { ...(gt !== undefined && { gt }), ...(lt !== undefined && { lt }) },
    beyond: start === undefined ? undefined : ascending === backward ? { gte: start } : { lte: start },
  };
}
