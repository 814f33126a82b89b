import type { Cursors } from '../../../../core/cursors.ts';
import { terminalTransactionStatuses } from '../../../../core/statuses.ts';
import type { Channel } from '../../../../domain/events/channel.ts';
import { eventsOfNoun } from '../../../../domain/events/row-events.ts';
import { type Finality, finalityOf } from '../../../../domain/settlement/finality.ts';
import type { Database } from '../../../../infra/database/database.ts';
import type { Event, TransactionStatus as Status } from '../../../../infra/database/generated/client/client.ts';
import { rowFromSnapshot, type Transaction as TransactionRow } from '../../../../infra/database/rows.ts';
import type { Context } from '../../context.ts';
import { invalidInput } from '../../failure.ts';
import { readAround } from '../../reading/planned.ts';
import { builder } from '../builder.ts';
import { TransactionStatus } from '../enums.ts';
import { Transaction } from '../nouns.ts';
import { afterDescription, checkSubject, filterOf, type Message, placeOf, watchMany } from './stream.ts';
import { visibleId, visibleRows } from './visible-ids.ts';
import { type RowStream, watchRows } from './watch-rows.ts';

interface TransactionUpdate extends Message {
  readonly transaction: TransactionRow;
  readonly previousStatus: Status | null;
  readonly status: Status;
  readonly terminal: boolean;
  readonly occurredAt: Date;
}

const TransactionUpdateType = builder.objectRef<TransactionUpdate>('TransactionUpdate').implement({
  description:
    'A change of a transaction. In a stream of named transactions the first message about each is its current state.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The position of the change in the feed: pass it as `after` to resume the stream.',
    }),
    transaction: t.field({
      type: Transaction,
      description: 'The transaction as of this change.',
      resolve: (update, _args, context, info) => readAround('Transaction', update.transaction, context, info),
    }),
    previousStatus: t.expose('previousStatus', {
      type: TransactionStatus,
      nullable: true,
      description:
        'The status of the transaction before this change; null if the transaction is new, and in the current state.',
    }),
    status: t.expose('status', {
      type: TransactionStatus,
      description: 'The status of the transaction after this change.',
    }),
    terminal: t.exposeBoolean('terminal', {
      description:
        'Whether the status is terminal. A stream of named transactions completes after the last terminal status, unless it lasts until FINAL.',
    }),
    final: t.boolean({
      description:
        'Whether no further change is possible. A bank may still return a COMPLETED payment, and a refund may still be paid after FAILED or REJECTED.',
      resolve: ({ terminal, transaction }, _args, { payments }) => terminal && isFinal(payments.database, transaction),
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When the transaction changed.' }),
  }),
});

const StreamEnd = builder.enumType('StreamEnd', {
  description: 'When a stream of named transactions completes.',
  values: {
    TERMINAL: { description: 'When all of them have a terminal status.' },
    FINAL: {
      description: 'When no further change of any of them is possible: no return by a bank, and no pending refund.',
    },
  } as const,
});

async function isFinal(database: Database, { platformId, id, version }: TransactionRow): Promise<boolean> {
  const finality = await finalityOf(database, platformId, id);
  return finality?.isFinal === true && finality.version === version;
}

function updateOf(event: Event, cursors: Cursors): TransactionUpdate {
  return {
    ...placeOf(cursors, event.platformId, event),
    // The database makes the snapshot in this form.
    transaction: rowFromSnapshot('Transaction', event.snapshot),
    // So does it write a status: events of transactions have those of transactions.
    previousStatus: event.previousStatus as Status | null,
    status: event.status as Status,
    terminal: event.terminal,
    occurredAt: event.occurredAt,
  };
}

/** Returns how a stream of some transactions reads and shows them. */
function transactionStream(
  context: Context,
  ids: readonly string[],
  field: string,
  until: typeof StreamEnd.$inferType,
): RowStream<TransactionRow, TransactionUpdate> {
  const { database } = context.payments;
  return {
    noun: 'Transaction',
    findRows: () => visibleRows(context, 'Transaction', ids, field),
    subjectId: ({ id }) => id,
    toUpdate: updateOf,
    asCurrentState: (update) => ({ ...update, previousStatus: null }),
    currentState: (transaction, place) => ({
      ...place,
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
          endLater: ({ platformId, id }, following) =>
            endWhenFinal(following, async () => finalityOf(database, platformId, id)),
        }),
  };
}

const FollowedTransactionsInput = builder.inputType('FollowedTransactionsInput', {
  description: 'The transactions that a stream follows: exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    transactionId: t.id({ description: 'A single transaction: Transaction:…' }),
    transactionIds: t.idList({ description: 'These transactions, at least one: Transaction:…' }),
    customerId: t.id({ description: 'All transactions of this customer: Customer:…' }),
  }),
});

builder.subscriptionField('transactionUpdates', (t) =>
  t.field({
    type: TransactionUpdateType,
    description:
      'Changes of transactions: of named transactions (their current states first; completes when all have ended), of all transactions of a customer, or of all transactions that the caller may see (the next change first). With `after`, every change after that cursor.',
    args: {
      of: t.arg({
        type: FollowedTransactionsInput,
        description: 'The transactions to follow; by default all that the caller may see.',
      }),
      until: t.arg({
        type: StreamEnd,
        required: true,
        defaultValue: 'TERMINAL',
        description: 'When a stream of named transactions completes. Other streams never complete.',
      }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: async (_root, { of, until, after }, context) => {
      const { types } = eventsOfNoun.Transaction;
      checkSubject(of, 'of');
      const ids = of?.transactionIds ?? (of?.transactionId == null ? undefined : [of.transactionId]);
      if (ids) {
        const field = `of.${of?.transactionIds ? 'transactionIds' : 'transactionId'}`;
        if (ids.length < 1) throw invalidInput('name at least one transaction', field);
        return watchRows(context, after, transactionStream(context, ids, field, until));
      }
      const customer =
        of?.customerId == null ? undefined : await visibleId(context, 'Customer', of.customerId, 'of.customerId');
      return watchMany(context, after, filterOf(types, customer), updateOf);
    },
    resolve: (update) => update,
  }),
);

/** A rail that watches for a bank return is looked at when it is asked again, within these bounds, in milliseconds. */
const lookMs = { least: 1_000, most: 60_000, afterFailure: 5_000 } as const;

/**
 * Ends a stream of one transaction when nothing can follow what its reader has been shown. The end of a watch changes no
 * status and so makes no event: this looks for it.
 * @returns a function to call with each version that the reader is shown
 */
export function endWhenFinal(
  channel: Pick<Channel<Event>, 'ended' | 'end'>,
  look: () => Promise<Finality | undefined>,
): (version: number) => void {
  let shown = 0;
  let timer: NodeJS.Timeout | undefined;
  const check = async (): Promise<void> => {
    if (channel.ended) return;
    const finality = await look();
    if (!finality) return;
    const { isFinal, version, dueInMs } = finality;
    // A later version has an event, which is shown first.
    if (isFinal && version <= shown) channel.end();
    else if (dueInMs !== null) again(Math.min(Math.max(dueInMs, lookMs.least), lookMs.most));
  };
  const again = (ms: number) => {
    clearTimeout(timer);
    // A database that is out of reach is looked at again, too.
    timer = setTimeout(() => check().catch(() => again(lookMs.afterFailure)), ms).unref();
  };
  return (version) => {
    shown = Math.max(shown, version);
    again(0);
  };
}
