import { type Money, money } from '../../../../core/currencies.ts';
import type { Cursors } from '../../../../core/cursors.ts';
import { eventsOfNoun } from '../../../../domain/events/row-events.ts';
import type { Event, ExternalAccountStatus as Status } from '../../../../infra/database/generated/client/client.ts';
import { type Account as AccountRow, rowFromSnapshot } from '../../../../infra/database/rows.ts';
import type { Context } from '../../context.ts';
import { readAround } from '../../reading/planned.ts';
import { builder } from '../builder.ts';
import { ExternalAccountStatus } from '../enums.ts';
import { Account } from '../nouns.ts';
import { afterDescription, checkSubject, filterOf, type Message, placeOf, watchMany } from './stream.ts';
import { visibleId, visibleRows } from './visible-ids.ts';
import { type RowStream, watchRows } from './watch-rows.ts';

interface AccountUpdate extends Message {
  readonly account: AccountRow;
  readonly oldBalance: Money | null;
  readonly newBalance: Money | null;
  readonly previousStatus: Status | null;
  readonly status: Status | null;
  readonly occurredAt: Date;
}

const AccountUpdateType = builder.objectRef<AccountUpdate>('AccountUpdate').implement({
  description:
    'A change of an account: of its balance, its status or anything else. In a stream of one account the first message is its current state.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The position of the change in the feed: pass it as `after` to resume the stream.',
    }),
    account: t.field({
      type: Account,
      description: 'The account as of this change.',
      resolve: (update, _args, context, info) => readAround('Account', update.account, context, info),
    }),
    oldBalance: t.expose('oldBalance', {
      type: 'Money',
      nullable: true,
      description: 'The balance before this change; null if the change did not affect it, and in the current state.',
    }),
    newBalance: t.expose('newBalance', {
      type: 'Money',
      nullable: true,
      description: 'The balance after this change; null for an external account.',
    }),
    previousStatus: t.expose('previousStatus', {
      type: ExternalAccountStatus,
      nullable: true,
      description:
        'The status of the external account before this change; null if the account is new, and in the current state.',
    }),
    status: t.expose('status', {
      type: ExternalAccountStatus,
      nullable: true,
      description: 'The status of the external account after this change; null for an internal account.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When the account changed.' }),
  }),
});

function updateOf(event: Event, cursors: Cursors): AccountUpdate {
  const { oldBalance, newBalance, previousStatus, occurredAt } = event;
  // The database makes the snapshot in this form.
  const account = rowFromSnapshot('Account', event.snapshot);
  const { currency } = account;
  return {
    ...currentState(account, placeOf(cursors, event.platformId, event)),
    oldBalance: oldBalance === null ? null : money(oldBalance, currency),
    ...(newBalance !== null && { newBalance: money(newBalance, currency) }),
    // So does it write a status: events of accounts have those of accounts.
    previousStatus: previousStatus as Status | null,
    occurredAt,
  };
}

function currentState(account: AccountRow, place: Message): AccountUpdate {
  return {
    ...place,
    account,
    oldBalance: null,
    newBalance: account.kind === 'INTERNAL' ? money(account.posted, account.currency) : null,
    previousStatus: null,
    status: account.status,
    occurredAt: account.updatedAt,
  };
}

/** Returns how a stream of one account reads and shows it. */
function accountStream(context: Context, id: string): RowStream<AccountRow, AccountUpdate> {
  return {
    noun: 'Account',
    findRows: () => visibleRows(context, 'Account', [id], 'of.accountId'),
    subjectId: (row) => row.id,
    toUpdate: updateOf,
    asCurrentState: (update) => ({ ...update, oldBalance: null, previousStatus: null }),
    currentState,
    isLast: () => false,
    hasEnded: () => false,
  };
}

const FollowedAccountsInput = builder.inputType('FollowedAccountsInput', {
  description: 'The accounts that a stream follows: exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    accountId: t.id({ description: 'A single account: InternalAccount:… or ExternalAccount:…' }),
    customerId: t.id({ description: 'All accounts of this customer: Customer:…' }),
  }),
});

builder.subscriptionField('accountUpdates', (t) =>
  t.field({
    type: AccountUpdateType,
    description:
      'Changes of accounts: of one account (its current state first), of all accounts of a customer, or of all accounts that the caller may see (the next change first). With `after`, every change after that cursor.',
    args: {
      of: t.arg({
        type: FollowedAccountsInput,
        description: 'The accounts to follow; by default all that the caller may see.',
      }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: async (_root, { of, after }, context) => {
      checkSubject(of, 'of');
      if (of?.accountId != null) return watchRows(context, after, accountStream(context, of.accountId));
      const customer =
        of?.customerId == null ? undefined : await visibleId(context, 'Customer', of.customerId, 'of.customerId');
      return watchMany(context, after, filterOf(eventsOfNoun.Account.types, customer), updateOf);
    },
    resolve: (update) => update,
  }),
);
