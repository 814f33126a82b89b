import type { Viewer } from '../../../domain/access/viewer.ts';
import { type AccountFilter, whereAccounts } from '../../../domain/commands/filters.ts';
import type { Database } from '../../../infra/database/database.ts';
import { readRows } from '../../../infra/database/read-rows.ts';
import type { Account } from '../../../infra/database/rows.ts';
import { rowList } from '../lists.ts';

/** Makes the two lists of a kind of account: the customers' in pages, and the platform's own, all at once. */
export function accountLists<Item>(database: Database, kind: Account['kind'], record: (row: Account) => Item) {
  return {
    ofCustomers: rowList(database, 'Account', {
      where: (viewer: Viewer, filter: AccountFilter) =>
        whereAccounts(viewer, { ...filter, kind, platformOwned: false }),
      record,
    }),
    async ofPlatform(viewer: Viewer, filter: AccountFilter): Promise<{ data: Item[] }> {
      const where = whereAccounts(viewer, { ...filter, kind, platformOwned: true });
      return { data: (await readRows(database, 'Account', { where, orderBy: [{ id: 'desc' }] })).map(record) };
    },
  };
}
