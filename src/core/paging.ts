/** Pages and cursors of lists, the same in every API. */

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
   * The cursor where the reading begins, and the keys on its other side: whether any is there is the other `has…Page`.
   */
  readonly beyond: { readonly gte: Key } | { readonly lte: Key } | undefined;
}

/** Returns the Prisma arguments that read a page in the order of ids, with one row more than its size. */
export function pageQuery<Where>(where: Where, page: Page<string>) {
  return {
    where: page.bound ? { AND: [where, { id: page.bound }] } : where,
    orderBy: { id: page.read },
    take: page.size + 1,
  };
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Returns a row's cursor in a list of its type. The cursor names its list and platform, so that another list does not
 * accept it.
 */
export function rowCursor(list: string, platformId: string, id: string): string {
  return Buffer.from(`${list}:${platformId.slice(-12)}:${id}`).toString('base64url');
}

/**
 * Returns the id in a row's cursor, or undefined when the cursor is unreadable, of another list or of another platform.
 */
export function idOfCursor(list: string, platformId: string, cursor: string): string | undefined {
  const [name, platform, id = '', ...rest] = Buffer.from(cursor, 'base64url').toString('latin1').split(':');
  const isValid = name === list && platform === platformId.slice(-12) && rest.length === 0 && uuidForm.test(id);
  return isValid && rowCursor(list, platformId, id) === cursor ? id : undefined;
}
