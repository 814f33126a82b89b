/** Pages and cursors of lists, the same in every API. */

/** How many a page has where none are asked for (specification 8). */
export const defaultPageSize = 20;
/** The most that a page has (specification 8). */
export const maxPageSize = 100;

/**
 * Part of a list in the order of its keys. Keys are time-ordered ids (or feed sequences), so a page is found by
 * comparing keys: as fast at any depth as at the start, and unharmed by rows that come or go.
 */
export interface Page<Key> {
  readonly size: number;
  /** Read from the end of the list: in the opposite order, then turned round. */
  readonly backward: boolean;
  /** The order in which rows are read. */
  readonly read: 'asc' | 'desc';
  /** Only keys on this side of the cursor, or with two cursors between them. */
  readonly bound: { readonly gt?: Key; readonly lt?: Key } | undefined;
  /** The cursor at which the reading begins and what lies on its other side: whether anything is there is the other `has…Page`. */
  readonly beyond: { readonly gte: Key } | { readonly lte: Key } | undefined;
}

/** The Prisma arguments that read a page in the order of ids, with one row more than its size. */
export function pageQuery<Where>(where: Where, page: Page<string>) {
  return {
    where: page.bound ? { AND: [where, { id: page.bound }] } : where,
    orderBy: { id: page.read },
    take: page.size + 1,
  };
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A row's cursor in a list of its type. It names list and platform, so that one of another list is not taken for it. */
export function rowCursor(list: string, platformId: string, id: string): string {
  return Buffer.from(`${list}:${platformId.slice(-12)}:${id}`).toString('base64url');
}

/** The id in a row's cursor, or undefined when the cursor is unreadable, of another list or of another platform. */
export function idOfCursor(list: string, platformId: string, cursor: string): string | undefined {
  const [of, platform, id = '', ...rest] = Buffer.from(cursor, 'base64url').toString('latin1').split(':');
  const known = of === list && platform === platformId.slice(-12) && rest.length === 0 && uuidForm.test(id);
  return known && rowCursor(list, platformId, id) === cursor ? id : undefined;
}
