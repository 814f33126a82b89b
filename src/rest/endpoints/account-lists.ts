import type { Viewer } from '../../access/viewer.ts';
import type { Database } from '../../database/database.ts';
import { readRows } from '../../database/read-rows.ts';
import type { Account } from '../../database/rows.ts';
import { type AccountFilter, whereAccounts } from '../../payments/filters.ts';
import { nounList } from '../lists.ts';

/** The two lists of each kind of account: those of customers in pages, and the platform's own, whole. */
export function accountLists<Item>(database: Database, kind: Account['kind'], record: (row: Account) => Item) {
  return {
    ofCustomers: nounList(database, 'Account', {
      where: (viewer: Viewer, filter: AccountFilter) =>
        whereAccounts(viewer, { ...filter, kind, platformOwned: false }),
      record,
    }),
    async ofPlatform(viewer: Viewer, filter: AccountFilter): Promise<{ data: Item[] }> {
      const where = whereAccounts(viewer, { ...filter, kind, platformOwned: true });
      return { data: (await readRows(database, 'Account', { where, orderBy: { id: 'desc' } })).map(record) };
    },
  };
}
