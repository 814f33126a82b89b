/** Pages of lists, the same in every API. */

/** The size of a page where the caller gives none (specification 8). */
export const defaultPageSize = 20;
/** The largest size of a page (specification 8). */
export const maxPageSize = 100;

/**
 * A page of a list, in the order of its keys. Keys are time-ordered ids (or feed sequences), and a page is found by
 * comparing keys: as fast at any depth as at the start, and unaffected by rows that are added or removed.
 */
export interface Page<Key> {
  readonly size: number;
  /** True when the page is read from the end of the list: in the opposite order, then reversed. */
  readonly backward: boolean;
  /** The order in which rows are read. */
  readonly read: 'asc' | 'desc';
  /** The keys of the page: those on this side of the cursor, or between two cursors. */
  readonly bound: { readonly gt?: Key; readonly lt?: Key } | undefined;
  /**
   * The cursor where the reading begins, and the keys on its other side: if there are any, the other `has…Page` is true.
   */
  readonly beyond: { readonly gte: Key } | { readonly lte: Key } | undefined;
}

/** What lists can be ordered by: the creation of their rows, or their last change. */
export type ListOrder = 'CREATED' | 'UPDATED';

/** A row's place in the order of last changes. Rows that changed in the same millisecond are in the order of their ids. */
export interface ChangeKey {
  readonly updatedAt: Date;
  readonly id: string;
}

/** The keys on one side of a key, or between two. */
export interface KeyBound<Key> {
  readonly gt?: Key;
  readonly gte?: Key;
  readonly lt?: Key;
  readonly lte?: Key;
}

/** The key that orders a row. Only lists with an order of changes need its time. */
export interface OrderedRow {
  readonly id: string;
  readonly updatedAt?: Date;
}

/** How a list is ordered: by which columns, with which cursors. */
export interface RowOrder<Key> {
  /** The fields that order the rows, the first one first. */
  readonly fields: readonly string[];
  /** Returns the key that a position names; undefined where it is of another order. */
  readonly keyOf: (position: string) => Key | undefined;
  /** Returns the position of a row, which its cursor encrypts. */
  readonly textOf: (row: OrderedRow) => string;
  /** Returns Prisma's condition for the rows whose keys lie within a bound. */
  within(bound: KeyBound<Key>): object;
}

/** The order of creation: an id contains the time. */
const byCreation: RowOrder<string> = {
  fields: ['id'],
  keyOf: (position) => (position.length === 36 ? position : undefined),
  textOf: ({ id }) => id,
  within: (bound) => ({ id: bound }),
};

/**
 * The order of last changes. A row that changes moves to the end of the list where the oldest change comes first: a reader of
 * the following pages meets it again, in its new state, and misses none.
 */
const byChange: RowOrder<ChangeKey> = {
  fields: ['updatedAt', 'id'],
  keyOf: (position) => {
    const [ms, id] = position.split(':');
    return id?.length === 36 ? { updatedAt: new Date(Number(ms)), id } : undefined;
  },
  textOf: ({ updatedAt, id }) => {
    if (!updatedAt) throw new Error('this list cannot be sorted by the time of the last change');
    return `${updatedAt.getTime()}:${id}`;
  },
  within: (bound) => ({
    AND: Object.entries(bound).map(([operator, { updatedAt, id }]: [string, ChangeKey]) => {
      const strict = operator.startsWith('g') ? 'gt' : 'lt';
      // The first condition alone can use an index.
      return {
        updatedAt: { [`${strict}e`]: updatedAt },
        OR: [{ updatedAt: { [strict]: updatedAt } }, { id: { [operator]: id } }],
      };
    }),
  }),
};

/** The orders of lists. */
export const rowOrders = { CREATED: byCreation, UPDATED: byChange } as const;

/** Returns the Prisma arguments that read a page, with one row more than its size. */
export function pageQuery<Where, Key>(where: Where, page: Page<Key>, order: RowOrder<Key>) {
  return {
    where: page.bound ? { AND: [where, order.within(page.bound)] } : where,
    orderBy: order.fields.map((field) => ({ [field]: page.read })),
    take: page.size + 1,
  };
}
