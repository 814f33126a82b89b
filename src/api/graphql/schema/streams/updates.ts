import type { ArgBuilder, EnumRef, FieldMap, InputFieldMap, InputShapeFromFields } from '@pothos/core';
import { money } from '../../../../core/currencies.ts';
import { eventsOfNoun, type FollowedNoun } from '../../../../domain/events/reads.ts';
import {
  finalityOf,
  terminalQuoteStatuses,
  terminalTransactionStatuses,
} from '../../../../domain/settlement/finality.ts';
import type { Context } from '../../context.ts';
import { invalidInput } from '../../failure.ts';
import { readAround } from '../../reading/planned.ts';
import { builder, enumOf, oneOf, type Types } from '../builder.ts';
import { ExternalAccountStatus, KycStatus, QuoteStatus, TransactionStatus } from '../enums.ts';
import type { RowType } from '../list.ts';
import { Account, Customer, Quote, Transaction } from '../nouns.ts';
import {
  type After,
  afterDescription,
  checkSubject,
  filterOf,
  type RowUpdate,
  updatesOf,
  watchMany,
} from './stream.ts';
import { visibleId } from './visible-ids.ts';
import { type RowStream, watchRows } from './watch-rows.ts';

type FieldBuilder<Noun extends FollowedNoun> = PothosSchemaTypes.ObjectFieldBuilder<Types, RowUpdate<Noun>>;
type Updates<Noun extends FollowedNoun> = AsyncIterableIterator<RowUpdate<Noun>>;

interface Followed<Noun extends FollowedNoun, Args extends InputFieldMap> {
  readonly description: string;
  readonly message: string;
  /** A message's fields, other than its row, position and time. */
  readonly fields: (t: FieldBuilder<Noun>) => FieldMap;
  /** The arguments other than `after`. */
  readonly args: (t: ArgBuilder<Types>) => Args;
  readonly open: (args: InputShapeFromFields<Args>, after: After, context: Context) => Promise<Updates<Noun>>;
}

/** Adds the stream of a noun's rows, and the type of its messages. */
function follow<Noun extends FollowedNoun, Row, Args extends InputFieldMap>(
  noun: Noun,
  type: RowType<Row>,
  { description, message, fields, args, open }: Followed<Noun, Args>,
): void {
  const word = noun.toLowerCase();
  const Update = builder.objectRef<RowUpdate<Noun>>(`${noun}Update`).implement({
    description: message,
    fields: (t) => ({
      cursor: t.string({
        description: "The change's position in the feed: pass it as `after` to resume the stream.",
        resolve: ({ cursor }) => cursor,
      }),
      [word]: t.field({
        type,
        description: `The ${word} as of this change.`,
        // This is a row of the noun, in the form that the type expects.
        resolve: ({ row }, _args, context, info) => readAround(noun, row, context, info) as never,
      }),
      ...fields(t),
      occurredAt: t.field({
        type: 'DateTime',
        description: `When the ${word} changed.`,
        resolve: ({ row }) => row.updatedAt,
      }),
    }),
  });
  builder.subscriptionField(`${word}Updates`, (t) =>
    t.field({
      type: Update,
      description,
      args: { ...args(t.arg), after: t.arg.string({ description: afterDescription }) },
      subscribe: (_root, given, context) => {
        // These are the arguments declared above. The compiler cannot infer that through the function that builds them.
        const { after, ...rest } = given as unknown as { readonly after: After };
        return open(rest as never, after, context);
      },
      resolve: (update) => update,
    }),
  );
}

/** Builds the fields for a row's status before a change, as recorded by the database, and after it. */
function statuses<Noun extends FollowedNoun>(
  t: FieldBuilder<Noun>,
  type: EnumRef<Types, string>,
  name: 'status' | 'kycStatus',
  { before, after, nullable = false }: { before: string; after: string; nullable?: boolean },
): FieldMap {
  return {
    [name === 'status' ? 'previousStatus' : 'previousKycStatus']: t.field({
      type,
      nullable: true,
      description: `${before}, or if the message gives the current state at the start of the stream.`,
      resolve: ({ change }) => change?.previousStatus,
    }),
    // Every noun with this status has a column of this name.
    [name]: t.field({
      type,
      nullable,
      description: after,
      resolve: ({ row }) => row[name as keyof typeof row] as never,
    }),
  };
}

/** Watches all rows of a noun that the caller may see or, if a customer is given, all of that customer's rows. */
async function followAll<Noun extends FollowedNoun>(
  noun: Noun,
  customerId: string | null | undefined,
  after: After,
  context: Context,
): Promise<Updates<Noun>> {
  const of = { customerId: await visibleId(context, 'Customer', customerId, 'of.customerId') };
  return watchMany(context, after, filterOf(eventsOfNoun[noun].types, of), updatesOf[noun]);
}

const FollowedAccountsInput = oneOf('FollowedAccountsInput', 'The accounts that a stream covers', (t) => ({
  accountId: t.id({ description: 'A single account (`InternalAccount:…` or `ExternalAccount:…`).' }),
  customerId: t.id({ description: 'All accounts of this customer (`Customer:…`).' }),
}));

follow('Account', Account, {
  description:
    "Changes to accounts. A stream for one account begins with the account's current state. A stream for all of a customer's accounts, or for all accounts that the caller may see, begins with the next change. If `after` is given, the stream sends every change after that cursor.",
  message:
    "A change to an account, for example to its balance or status. In a stream for one account, the first message is that account's current state.",
  fields: (t) => ({
    oldBalance: t.field({
      type: 'Money',
      nullable: true,
      description:
        'The balance before this change. Null if the change did not affect it, or if the message gives the current state at the start of the stream.',
      resolve: ({ row, change }) => (change?.oldBalance == null ? null : money(change.oldBalance, row.currency)),
    }),
    newBalance: t.field({
      type: 'Money',
      nullable: true,
      description: 'The balance after this change; null for an external account.',
      resolve: ({ row }) => (row.kind === 'INTERNAL' ? money(row.posted, row.currency) : null),
    }),
    ...statuses(t, ExternalAccountStatus, 'status', {
      before: "The external account's status before this change; null for a new account",
      after: "The external account's status after this change; null for an internal account.",
      nullable: true,
    }),
  }),
  args: (t) => ({
    of: t({
      type: FollowedAccountsInput,
      description: 'The accounts to watch; by default, all accounts that the caller may see.',
    }),
  }),
  open: async ({ of }, after, context) => {
    checkSubject(of, 'of');
    return of?.accountId == null
      ? followAll('Account', of?.customerId, after, context)
      : watchRows(context, after, { noun: 'Account', ids: [of.accountId], field: 'of.accountId' });
  },
});

follow('Customer', Customer, {
  description:
    "Changes to customers and their identity checks. A stream for one customer begins with the customer's current state and completes once the customer is deleted. A stream for all customers that the caller may see begins with the next change. If `after` is given, the stream sends every change after that cursor.",
  message:
    "A change to a customer's details or identity check, or the customer's deletion. In a stream for one customer, the first message is the customer's current state.",
  fields: (t) =>
    statuses(t, KycStatus, 'kycStatus', {
      before: "The identity check's status before this change; null for a new customer",
      after: "The identity check's status after this change.",
    }),
  args: (t) => ({
    customerId: t.id({
      description: 'The customer to watch (`Customer:…`); by default, all customers that the caller may see.',
    }),
  }),
  open: async ({ customerId }, after, context) => {
    checkSubject(customerId, 'customerId');
    if (customerId == null) return followAll('Customer', undefined, after, context);
    return watchRows(context, after, {
      noun: 'Customer',
      ids: [customerId],
      field: 'customerId',
      isLast: ({ isDeleted }) => isDeleted,
    });
  },
});

follow('Quote', Quote, {
  description:
    "A quote's current state, then every change to its status, including expiry, which the service's clock determines. The stream completes once the status is terminal.",
  message: "A change to a quote. The first message of a stream is the quote's current state.",
  fields: (t) => ({
    ...statuses(t, QuoteStatus, 'status', {
      before: "The quote's status before this change; null for a new quote",
      after: "The quote's status after this change.",
    }),
    terminal: t.boolean({
      description: 'Whether the status is terminal. The stream completes after a terminal status.',
      resolve: ({ row }) => terminalQuoteStatuses.has(row.status),
    }),
  }),
  args: (t) => ({ quoteId: t.id({ required: true, description: 'The quote to watch (`Quote:…`).' }) }),
  open: ({ quoteId }, after, context) =>
    watchRows(context, after, {
      noun: 'Quote',
      ids: [quoteId],
      field: 'quoteId',
      isLast: ({ status }) => terminalQuoteStatuses.has(status),
    }),
});

const StreamEnd = enumOf('StreamEnd', 'When a stream for individual transactions completes.', {
  TERMINAL: 'When all of the transactions have a terminal status.',
  FINAL:
    'When nothing about the transactions can change anymore: no bank can return a payment, and no refund is pending.',
});

const FollowedTransactionsInput = oneOf('FollowedTransactionsInput', 'The transactions that a stream covers', (t) => ({
  transactionId: t.id({ description: 'A single transaction (`Transaction:…`).' }),
  transactionIds: t.idList({ description: 'One or more transactions (`Transaction:…`).' }),
  customerId: t.id({ description: 'All transactions of this customer (`Customer:…`).' }),
}));

follow('Transaction', Transaction, {
  description:
    "Changes to transactions. A stream for individual transactions begins with their current states and completes as specified by `until`. A stream for all of a customer's transactions, or for all transactions that the caller may see, begins with the next change. If `after` is given, the stream sends every change after that cursor.",
  message: 'A change to a transaction. A stream for individual transactions begins with the current state of each.',
  fields: (t) => ({
    ...statuses(t, TransactionStatus, 'status', {
      before: 'The status before this change; null for a new transaction',
      after: "The transaction's status after this change.",
    }),
    terminal: t.boolean({
      description:
        'Whether the status is terminal. A stream for individual transactions completes once all have terminal statuses, unless `until` is FINAL.',
      resolve: ({ row }) => terminalTransactionStatuses.has(row.status),
    }),
  }),
  args: (t) => ({
    of: t({
      type: FollowedTransactionsInput,
      description: 'The transactions to watch; by default, all transactions that the caller may see.',
    }),
    until: t({
      type: StreamEnd,
      required: true,
      defaultValue: 'TERMINAL',
      description: 'When a stream for individual transactions completes. Other streams never complete.',
    }),
  }),
  open: async ({ of, until }, after, context) => {
    checkSubject(of, 'of');
    const ids = of?.transactionIds ?? (of?.transactionId == null ? undefined : [of.transactionId]);
    if (!ids) return followAll('Transaction', of?.customerId, after, context);
    const field = `of.${of?.transactionIds ? 'transactionIds' : 'transactionId'}`;
    if (ids.length < 1) throw invalidInput('name at least one transaction', field);
    const end: Pick<RowStream<'Transaction'>, 'isLast' | 'readFinality'> = until === 'TERMINAL'
      ? { isLast: ({ status }) => terminalTransactionStatuses.has(status) }
      : { readFinality: ({ platformId, id }) => finalityOf(context.payments.database, platformId, id) };
    return watchRows(context, after, { noun: 'Transaction', ids, field, ...end });
  },
});
