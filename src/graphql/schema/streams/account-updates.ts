import { visibleAccounts } from '../../../access/visible.ts';
import { uuidOf } from '../../../core/ids.ts';
import type { Event } from '../../../database/generated/client/client.ts';
import { readRow } from '../../../database/read-rows.ts';
import { type Account as AccountRow, rowFromSnapshot } from '../../../database/rows.ts';
import { feedCursor } from '../../../events/cursor.ts';
import type { Context } from '../../context.ts';
import { failure } from '../../failure.ts';
import { readAround } from '../../reading/planned.ts';
import { reads, sameRow } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { InternalAccount } from '../nouns.ts';
import { type Money, MoneyType, money } from '../values/money.ts';
import { afterDescription, type RowStream, watchOne } from './stream.ts';

interface AccountUpdate {
  readonly cursor: string;
  readonly account: AccountRow;
  readonly oldBalance: Money | null;
  readonly newBalance: Money;
  readonly occurredAt: Date;
}

const AccountUpdateType = builder.objectRef<AccountUpdate>('AccountUpdate').implement({
  description: 'A change of what an internal account can spend, or (the first message) what it can spend now.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Its position in the feed: a stream resumes after it.' }),
    account: t.field({
      type: InternalAccount,
      description: 'The account as of this change.',
      ...reads(sameRow),
      resolve: (update, _args, context, info) => readAround('Account', update.account, context, info),
    }),
    oldBalance: t.expose('oldBalance', {
      type: MoneyType,
      nullable: true,
      description: 'What could be spent before; null with the present state.',
    }),
    newBalance: t.expose('newBalance', { type: MoneyType, description: 'What can be spent now.' }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When it changed.' }),
  }),
});

function updateOf({ platformId, sequence, snapshot, oldBalance, newBalance, occurredAt }: Event): AccountUpdate {
  // The database's triggers wrote the snapshot in this form.
  const account = rowFromSnapshot('Account', snapshot);
  return {
    cursor: feedCursor(platformId, sequence),
    account,
    oldBalance: oldBalance === null ? null : money(oldBalance, account.currency),
    newBalance: money(newBalance ?? account.posted, account.currency),
    occurredAt,
  };
}

/** Returns how a stream of one internal account reads and shows it. */
function accountStream({ payments, viewer }: Context, id: string): RowStream<AccountRow, AccountUpdate> {
  const uuid = uuidOf(id, 'InternalAccount');
  return {
    findRow: async () =>
      uuid === undefined
        ? null
        : readRow(payments.database, 'Account', { AND: [visibleAccounts(viewer), { id: uuid, kind: 'INTERNAL' }] }),
    notFound: failure('NOT_FOUND', 'no such internal account', { field: 'accountId' }),
    whereEvents: (row) => ({ accountId: row.id, type: 'ACCOUNT_STATUS' }),
    isOwnEvent: (row, event) => event.accountId === row.id && event.type === 'ACCOUNT_STATUS',
    subject: (row) => ({ of: 'account', id: row.id }),
    types: ['ACCOUNT_STATUS'],
    // The first version of an account has no ACCOUNT_STATUS event: no balance has changed.
    hasEvent: (row) => row.version > 1,
    toUpdate: updateOf,
    asCurrentState: (update) => ({ ...update, oldBalance: null }),
    currentState: (account, cursor) => ({
      cursor,
      account,
      oldBalance: null,
      newBalance: money(account.posted, account.currency),
      occurredAt: account.updatedAt,
    }),
    isLast: () => false,
    hasEnded: () => false,
  };
}

builder.subscriptionField('accountUpdates', (t) =>
  t.field({
    type: AccountUpdateType,
    description: "An internal account's present balance and every change of it.",
    args: {
      accountId: t.arg.id({ required: true, description: 'InternalAccount:…' }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: (_root, { accountId, after }, context) => watchOne(context, after, accountStream(context, accountId)),
    resolve: (update) => update,
  }),
);
