import type { Database } from '../../database/database.ts';
import type { Account, AccountKind, Prisma } from '../../database/generated/client/client.ts';
import { type AccountFilter, whereAccounts } from '../../payments/filters.ts';

/** The two lists of each kind of account: those of customers in pages, and the platform's own, whole. */
export function accountLists<Item>({ reads }: Database, kind: AccountKind, record: (row: Account) => Item) {
  return {
    ofCustomers: {
      name: 'Account',
      where: (platformId: string, filter: AccountFilter) =>
        whereAccounts(platformId, { ...filter, kind, platformOwned: false }),
      rows: (asked: Prisma.AccountFindManyArgs) => reads.account.findMany(asked),
      count: (asked: Prisma.AccountCountArgs) => reads.account.count(asked),
      record,
    },
    async ofPlatform(platformId: string, filter: AccountFilter): Promise<{ data: Item[] }> {
      const where = whereAccounts(platformId, { ...filter, kind, platformOwned: true });
      return { data: (await reads.account.findMany({ where, orderBy: { id: 'desc' } })).map(record) };
    },
  };
}
