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

export interface Connection<Row> {
  readonly edges: { readonly cursor: string; readonly node: Row }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  readonly totalCount: Promise<number>;
}

/** What costs a statement of its own, and is asked only where it is selected. */
interface Ask {
  readonly totalCount: () => Promise<number>;
  /** Whether a row lies within `page.beyond`. */
  readonly anyBeyond: () => Promise<boolean>;
}

/**
 * Makes the connection of a page. `rows` were read in `page.read` order, one more than the size (of an empty page one):
 * the surplus tells whether there is more between the cursors, which is hasNextPage with `first` and hasPreviousPage with
 * `last`. The other of the two asks whether the cursor at which the reading began left out anything. All but the rows
 * is worked out when it is read, as it is seldom selected.
 */
export function connectionOf<Key, Row>(
  page: Page<Key>,
  rows: readonly Row[],
  cursorOf: (row: NoInfer<Row>) => string,
  ask: Ask,
): Connection<Row> {
  const shown = rows.slice(0, page.size);
  if (page.backward) shown.reverse();
  const edges = shown.map((node) => new Edge(node, cursorOf));
  return {
    edges,
    // A resolver may answer a promise where its type has the value, which the declared page info cannot say.
    pageInfo: new PageInfo(page, edges, rows.length > page.size, ask) as unknown as Connection<Row>['pageInfo'],
    get totalCount() {
      return ask.totalCount();
    },
  };
}

class Edge<Row> {
  readonly node: Row;
  readonly #cursorOf: (row: Row) => string;

  constructor(node: Row, cursorOf: (row: Row) => string) {
    this.node = node;
    this.#cursorOf = cursorOf;
  }

  get cursor(): string {
    return this.#cursorOf(this.node);
  }
}

class PageInfo {
  readonly #page: Page<unknown>;
  readonly #edges: readonly { readonly cursor: string }[];
  readonly #more: boolean;
  readonly #ask: Ask;

  constructor(page: Page<unknown>, edges: readonly { readonly cursor: string }[], more: boolean, ask: Ask) {
    this.#page = page;
    this.#edges = edges;
    this.#more = more;
    this.#ask = ask;
  }

  get hasNextPage(): boolean | Promise<boolean> {
    return this.#page.backward ? this.#beyond() : this.#more;
  }

  get hasPreviousPage(): boolean | Promise<boolean> {
    return this.#page.backward ? this.#more : this.#beyond();
  }

  get startCursor(): string | null {
    return this.#edges[0]?.cursor ?? null;
  }

  get endCursor(): string | null {
    return this.#edges.at(-1)?.cursor ?? null;
  }

  #beyond(): boolean | Promise<boolean> {
    return this.#page.beyond === undefined ? false : this.#ask.anyBeyond();
  }
}
