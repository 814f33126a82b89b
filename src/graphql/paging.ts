import { defaultPageSize, maxPageSize, type Page } from '../payments/paging.ts';
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
 * Reads the arguments of a list.
 * @throws GraphQLError INVALID_INPUT for a size outside 1 to 100, for first with last or after with before, for a cursor
 *   that is not of this list, and for `before` with `first` or `after` with `last` (which would mean two things)
 */
export function parsePage<Key>(args: PageArgs, keyOf: (cursor: string) => Key | undefined): Page<Key> {
  const size = (name: 'first' | 'last'): number | undefined => {
    const value = args[name] ?? undefined;
    if (value !== undefined && (value < 1 || value > maxPageSize)) {
      throw invalidInput(`${name} must lie between 1 and ${maxPageSize}`, name);
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
  if (after !== undefined && before !== undefined) throw invalidInput('after and before exclude each other', 'before');
  if (first !== undefined && before !== undefined) throw invalidInput('before goes with last', 'before');
  if (last !== undefined && after !== undefined) throw invalidInput('after goes with first', 'after');

  const backward = last !== undefined || before !== undefined;
  const ascending = (args.sortOrder === 'ASC') !== backward;
  const cursor = after ?? before;
  return {
    size: first ?? last ?? defaultPageSize,
    backward,
    read: ascending ? 'asc' : 'desc',
    bound: cursor === undefined ? undefined : ascending ? { gt: cursor } : { lt: cursor },
    beyond: cursor === undefined ? undefined : ascending ? { lte: cursor } : { gte: cursor },
  };
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
  readonly anyBeyond: () => Promise<boolean>;
}

/**
 * A page's connection. `rows` were read in `page.read` order, one more than the size: the surplus tells whether there is
 * more. All but the rows is worked out when it is read, as it is seldom selected.
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
