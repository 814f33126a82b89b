export const defaultPageSize = 20;
export const maxPageSize = 100;

/** A page bounded by time-ordered ids or feed sequence numbers. Such pages do not shift, and all load equally fast. */
export interface Page<Key> {
  readonly size: number;
  /** Whether the page is read from the end of the list. Its rows are then read in the opposite order and reversed. */
  readonly backward: boolean;
  readonly read: 'asc' | 'desc';
  /** The range of keys on the page: those after or before a cursor, or between two cursors. */
  readonly bound: { readonly gt?: Key; readonly lt?: Key } | undefined;
  /** The keys at or beyond the cursor where the read starts. If a row has such a key, there are pages on that side. */
  readonly beyond: { readonly gte: Key } | { readonly lte: Key } | undefined;
}

export type ListOrder = 'CREATED' | 'UPDATED';

/** A row's position in a list ordered by last change. Rows that changed in the same millisecond are ordered by id. */
export interface ChangeKey {
  readonly updatedAt: Date;
  readonly id: string;
}

export type KeyBound<Key> = { readonly [Operator in 'gt' | 'gte' | 'lt' | 'lte']?: Key };

/** The key by which a row is ordered. Only lists ordered by last change need `updatedAt`. */
export interface OrderedRow {
  readonly id: string;
  readonly updatedAt?: Date;
}

export interface RowOrder<Key> {
  readonly fields: readonly string[];
  /** Returns the key encoded in a position, or undefined if the position belongs to another order. */
  readonly keyOf: (position: string) => Key | undefined;
  readonly textOf: (row: OrderedRow) => string;
  within(bound: KeyBound<Key>): object;
}

const byCreation: RowOrder<string> = {
  fields: ['id'],
  keyOf: (position) => (position.length === 36 ? position : undefined),
  textOf: ({ id }) => id,
  within: (bound) => ({ id: bound }),
};

/** Orders rows by last change. A changed row moves to the end, so that a reader of later pages does not miss it. */
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
      // The first condition follows from the second, but Postgres can use an index only for the first.
      return {
        updatedAt: { [`${strict}e`]: updatedAt },
        OR: [{ updatedAt: { [strict]: updatedAt } }, { id: { [operator]: id } }],
      };
    }),
  }),
};

export const rowOrders = { CREATED: byCreation, UPDATED: byChange } as const;

/** Returns the Prisma arguments that read a page, plus one extra row. */
export function pageQuery<Where, Key>(where: Where, page: Page<Key>, order: RowOrder<Key>) {
  return {
    where: page.bound ? { AND: [where, order.within(page.bound)] } : where,
    orderBy: order.fields.map((field) => ({ [field]: page.read })),
    take: page.size + 1,
  };
}
