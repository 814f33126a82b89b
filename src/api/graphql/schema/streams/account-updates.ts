import { money } from '../../../../core/currencies.ts';
import { eventsOfNoun } from '../../../../domain/events/row-events.ts';
import { builder } from '../builder.ts';
import { ExternalAccountStatus } from '../enums.ts';
import { Account } from '../nouns.ts';
import { afterDescription, checkSubject, filterOf, updatesOf, watchMany } from './stream.ts';
import { previously, updateType } from './update-type.ts';
import { visibleId } from './visible-ids.ts';
import { watchRows } from './watch-rows.ts';

const AccountUpdate = updateType(
  'Account',
  Account,
  'A change of an account: of its balance, its status or anything else. In a stream of one account, the first message is its current state.',
  (t) => ({
    oldBalance: t.field({
      type: 'Money',
      nullable: true,
      description:
        'The balance before this change; null if the change did not affect it, and for the current state at the start of the stream.',
      resolve: ({ row, change }) => (change?.oldBalance == null ? null : money(change.oldBalance, row.currency)),
    }),
    newBalance: t.field({
      type: 'Money',
      nullable: true,
      description: 'The balance after this change; null for an external account.',
      resolve: ({ row }) => (row.kind === 'INTERNAL' ? money(row.posted, row.currency) : null),
    }),
    previousStatus: t.field(
      previously(
        ExternalAccountStatus,
        'The status of the external account before this change; null for a new account, and for the current state at the start of the stream.',
      ),
    ),
    status: t.field({
      type: ExternalAccountStatus,
      nullable: true,
      description: 'The status of the external account after this change; null for an internal account.',
      resolve: ({ row }) => row.status,
    }),
  }),
);

const FollowedAccountsInput = builder.inputType('FollowedAccountsInput', {
  description: 'The accounts that a stream follows, given by exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    accountId: t.id({ description: 'A single account: InternalAccount:… or ExternalAccount:…' }),
    customerId: t.id({ description: 'All accounts of this customer: Customer:…' }),
  }),
});

builder.subscriptionField('accountUpdates', (t) =>
  t.field({
    type: AccountUpdate,
    description:
      'Changes of accounts. A stream of one account begins with its current state; a stream of all accounts of a customer, or of all that the caller may see, begins with the next change. With `after`, it sends every change after that cursor.',
    args: {
      of: t.arg({
        type: FollowedAccountsInput,
        description: 'The accounts to follow; by default all that the caller may see.',
      }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: async (_root, { of, after }, context) => {
      checkSubject(of, 'of');
      if (of?.accountId != null)
        return watchRows(context, after, { noun: 'Account', ids: [of.accountId], field: 'of.accountId' });
      const customer =
        of?.customerId == null ? undefined : await visibleId(context, 'Customer', of.customerId, 'of.customerId');
      return watchMany(context, after, filterOf(eventsOfNoun.Account.types, customer), updatesOf.Account);
    },
    resolve: (update) => update,
  }),
);
