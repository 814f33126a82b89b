import type { Event, TransactionStatus as Status } from '../database/generated/client/client.ts';
import { rowFromSnapshot, type Transaction as TransactionRow } from '../database/rows.ts';
import { mapChannel } from '../events/channel.ts';
import { feedCursor, sequenceOf } from '../events/cursor.ts';
import { feedHead } from '../events/feed.ts';
import { latestEvent } from '../events/history.ts';
import { uuidOf } from '../payments/ids.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { TransactionStatus } from './enums.ts';
import { failure, invalidInput } from './failure.ts';
import { Transaction } from './transaction.ts';

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
    cursor: t.exposeString('cursor', { description: 'Its place in the feed: resume after it.' }),
    transaction: t.expose('transaction', { type: Transaction, description: 'The transaction as of this change.' }),
    previousStatus: t.expose('previousStatus', {
      type: TransactionStatus,
      nullable: true,
      description: 'The status before; null where there was none.',
    }),
    status: t.expose('status', { type: TransactionStatus, description: 'The status now.' }),
    terminal: t.exposeBoolean('terminal', {
      description: 'Whether this is its end. A stream of one transaction completes after it.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When it changed.' }),
  }),
});

const isTransactionEvent = (event: Event) => event.type === 'OUTGOING_PAYMENT' || event.type === 'INCOMING_PAYMENT';

function updateOf(event: Event): TransactionUpdate {
  return {
    cursor: feedCursor(event.platformId, event.sequence),
    // The feed's snapshots are rows as our triggers wrote them.
    transaction: rowFromSnapshot('Transaction', event.snapshot as Record<string, unknown>),
    previousStatus: event.previousStatus as Status | null,
    status: event.status as Status,
    terminal: event.terminal,
    occurredAt: event.occurredAt,
  };
}

/** The sequence behind `after`, or undefined where none is given. */
function sequenceAfter(after: string | null | undefined, context: Context): bigint | undefined {
  if (after === null || after === undefined) return undefined;
  const sequence = sequenceOf(context.viewer.platformId, after);
  if (sequence === undefined) throw invalidInput('after is not a cursor of this feed', 'after');
  return sequence;
}

/** A stream over many: the next change and all that follow. */
async function watchMany(context: Context, after: bigint | undefined, wants: (event: Event) => boolean) {
  const { platformId } = context.viewer;
  const from = after ?? (await feedHead(context.payments.database, platformId));
  const channel = await context.feed.subscribe(platformId, from, (event) => isTransactionEvent(event) && wants(event));
  return mapChannel(channel, (event) => ({ value: updateOf(event) }));
}

/**
 * A stream of one: its latest event is its present state, and all that follow come after it, so nothing falls between
 * the two. A transaction whose first event has no place in the feed yet is shown as soon as it has.
 */
async function watchOne(context: Context, id: string, after: bigint | undefined) {
  const { platformId } = context.viewer;
  const { database } = context.payments;
  const uuid = uuidOf(id, 'Transaction');
  const known =
    uuid &&
    (await database.prisma.transaction.findUnique({
      select: { id: true },
      where: { platformId_id: { platformId, id: uuid } },
    }));
  if (!known) throw failure('NOT_FOUND', 'no such transaction', { field: 'transactionId' });
  const head = await feedHead(database, platformId);
  const latest = after === undefined ? await latestEvent(database, platformId, known.id) : undefined;
  // From the latest event itself, which is then the first message.
  const from = after ?? (latest ? latest.sequence - 1n : head);
  const channel = await context.feed.subscribe(
    platformId,
    from,
    (event) => isTransactionEvent(event) && event.transactionId === known.id,
  );
  return mapChannel(channel, (event) => ({ value: updateOf(event), last: event.terminal }));
}

builder.subscriptionField('transactionUpdates', (t) =>
  t.field({
    type: TransactionUpdateType,
    description:
      'Changes of transactions: of one (its present state first, and completing after its end), of one customer, or of all that the caller may see (the next change first). With `after`, exactly what came after that cursor.',
    args: {
      transactionId: t.arg.id({ description: 'Only this one.' }),
      customerId: t.arg.id({ description: "Only this customer's." }),
      after: t.arg.string({ description: 'A cursor of the feed: resume after it.' }),
    },
    subscribe: async (_root, args, context) => {
      const after = sequenceAfter(args.after, context);
      if (args.transactionId && args.customerId)
        throw invalidInput('transactionId and customerId exclude each other', 'customerId');
      if (args.transactionId) return watchOne(context, args.transactionId, after);
      if (!args.customerId) return watchMany(context, after, () => true);
      const { platformId } = context.viewer;
      const customerId = uuidOf(args.customerId, 'Customer');
      const known =
        customerId &&
        (await context.payments.database.prisma.customer.findUnique({
          select: { id: true },
          where: { platformId_id: { platformId, id: customerId } },
        }));
      if (!known) throw failure('NOT_FOUND', 'no such customer', { field: 'customerId' });
      return watchMany(context, after, (event) => event.customerId === known.id);
    },
    resolve: (update) => update,
  }),
);
