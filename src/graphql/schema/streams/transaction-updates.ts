import { visibleTransactions } from '../../../access/visible.ts';
import { uuidOf } from '../../../core/ids.ts';
import { terminalTransactionStatuses } from '../../../core/statuses.ts';
import type { Database } from '../../../database/database.ts';
import type { Event, TransactionStatus as Status } from '../../../database/generated/client/client.ts';
import { readRow } from '../../../database/read-rows.ts';
import { rowFromSnapshot, type Transaction as TransactionRow } from '../../../database/rows.ts';
import { feedCursor } from '../../../events/cursor.ts';
import { paymentEvents } from '../../../events/history.ts';
import { finalityOf } from '../../../payments/settlement/finality.ts';
import type { Context } from '../../context.ts';
import { failure, invalidInput } from '../../failure.ts';
import { readAround } from '../../reading/planned.ts';
import { reads, sameRow } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { TransactionStatus } from '../enums.ts';
import { Transaction } from '../nouns.ts';
import { afterDescription, type RowStream, watchMany, watchOne } from './stream.ts';
import { endWhenFinal } from './until-final.ts';
import { visibleCustomerId } from './visible-ids.ts';

interface TransactionUpdate {
  readonly cursor: string;
  readonly transaction: TransactionRow;
  readonly previousStatus: Status | null;
  readonly status: Status;
  readonly terminal: boolean;
  readonly occurredAt: Date;
}

const TransactionUpdateType = builder.objectRef<TransactionUpdate>('TransactionUpdate').implement({
  description: 'A change of a transaction, or (the first message of a stream of one) its present state.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Its position in the feed: a stream resumes after it.' }),
    transaction: t.field({
      type: Transaction,
      description: 'The transaction as of this change.',
      ...reads(sameRow),
      resolve: (update, _args, context, info) => readAround('Transaction', update.transaction, context, info),
    }),
    previousStatus: t.expose('previousStatus', {
      type: TransactionStatus,
      nullable: true,
      description: 'The status before; null where there was none, and with the present state.',
    }),
    status: t.expose('status', { type: TransactionStatus, description: 'The status now.' }),
    terminal: t.exposeBoolean('terminal', {
      description:
        'Whether its status is terminal. A stream of one transaction completes after it, unless it is to last until FINAL.',
    }),
    final: t.boolean({
      description:
        'Whether nothing can follow, as of now: after COMPLETED a bank may still return the money, and after FAILED or REJECTED a refund may still be paid.',
      resolve: ({ terminal, transaction }, _args, { payments }) => terminal && isFinal(payments.database, transaction),
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When it changed.' }),
  }),
});

const StreamEnd = builder.enumType('StreamEnd', {
  description: 'What a stream of one transaction lasts until.',
  values: {
    TERMINAL: { description: 'Its first terminal status.' },
    FINAL: { description: 'The point after which nothing can follow: no bank return, and no refund that waits.' },
  } as const,
});

async function isFinal(database: Database, { platformId, id, version }: TransactionRow): Promise<boolean> {
  const finality = await finalityOf(database, platformId, id);
  return finality?.isFinal === true && finality.version === version;
}

const isPaymentEvent = (event: Event) => paymentEvents.includes(event.type);

function updateOf(event: Event): TransactionUpdate {
  return {
    cursor: feedCursor(event.platformId, event.sequence),
    // The database's triggers wrote the snapshot in this form.
    transaction: rowFromSnapshot('Transaction', event.snapshot),
    previousStatus: event.previousStatus as Status | null,
    status: event.status as Status,
    terminal: event.terminal,
    occurredAt: event.occurredAt,
  };
}

/** Returns how a stream of one transaction reads and shows it. */
function transactionStream(
  { payments, viewer }: Context,
  id: string,
  until: typeof StreamEnd.$inferType,
): RowStream<TransactionRow, TransactionUpdate> {
  const { database } = payments;
  const uuid = uuidOf(id, 'Transaction');
  return {
    findRow: async () =>
      uuid === undefined
        ? null
        : readRow(payments.database, 'Transaction', { AND: [visibleTransactions(viewer), { id: uuid }] }),
    notFound: failure('NOT_FOUND', 'no such transaction', { field: 'transactionId' }),
    whereEvents: (row) => ({ transactionId: row.id, type: { in: paymentEvents } }),
    isOwnEvent: (row, event) => event.transactionId === row.id && isPaymentEvent(event),
    subject: (row) => ({ of: 'transaction', id: row.id }),
    types: paymentEvents,
    hasEvent: () => true,
    toUpdate: updateOf,
    asCurrentState: (update) => ({ ...update, previousStatus: null }),
    currentState: (transaction, cursor) => ({
      cursor,
      transaction,
      previousStatus: null,
      status: transaction.status,
      terminal: terminalTransactionStatuses.has(transaction.status),
      occurredAt: transaction.updatedAt,
    }),
    ...(until === 'TERMINAL'
      ? {
          isLast: (event) => event.terminal,
          hasEnded: ({ status }) => terminalTransactionStatuses.has(status),
        }
      : {
          isLast: () => false,
          hasEnded: (row) => isFinal(database, row),
          endLater: (channel) => endWhenFinal(channel, async () => finalityOf(database, viewer.platformId, uuid ?? '')),
        }),
  };
}

builder.subscriptionField('transactionUpdates', (t) =>
  t.field({
    type: TransactionUpdateType,
    description:
      'Changes of transactions: of one (its present state first, and completing after its end), of one customer, or of all that the caller may see (the next change first). With `after`, exactly what came after that cursor.',
    args: {
      transactionId: t.arg.id({ description: 'Only this one.' }),
      customerId: t.arg.id({ description: "Only this customer's." }),
      until: t.arg({
        type: StreamEnd,
        required: true,
        defaultValue: 'TERMINAL',
        description: 'When a stream of one transaction completes. Other streams never do.',
      }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: async (_root, { transactionId, customerId, until, after }, context) => {
      if (transactionId != null && customerId != null)
        throw invalidInput('transactionId and customerId exclude each other', 'customerId');
      if (transactionId != null) return watchOne(context, after, transactionStream(context, transactionId, until));
      if (customerId == null)
        return watchMany(context, after, { wants: isPaymentEvent, types: paymentEvents }, updateOf);
      const customer = await visibleCustomerId(context, customerId, 'customerId');
      const filter = {
        wants: (event: Event) => isPaymentEvent(event) && event.customerId === customer,
        subject: { of: 'customer', id: customer } as const,
        types: paymentEvents,
      };
      return watchMany(context, after, filter, updateOf);
    },
    resolve: (update) => update,
  }),
);
