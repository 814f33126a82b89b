import type { Cursors } from '../../../../core/cursors.ts';
import { terminalTransactionStatuses } from '../../../../core/statuses.ts';
import { eventsOfNoun } from '../../../../domain/events/row-events.ts';
import { finalityOf } from '../../../../domain/settlement/finality.ts';
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
import { endWhenFinal } from './until-final.ts';
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
    'A change of a transaction, or (the first message about each in a stream of named ones) its present state.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Its position in the feed: a stream resumes after it.' }),
    transaction: t.field({
      type: Transaction,
      description: 'The transaction as of this change.',
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
        'Whether its status is terminal. A stream of named transactions completes after the last of them, unless it is to last until FINAL.',
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
  description: 'What a stream of named transactions lasts until.',
  values: {
    TERMINAL: { description: 'Their first terminal statuses.' },
    FINAL: { description: 'The point after which nothing can follow: no bank return, and no refund that waits.' },
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
  description: 'Which transactions a stream follows: exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    transactionId: t.id({ description: 'Only this one.' }),
    transactionIds: t.idList({ description: 'Only these: at least one.' }),
    customerId: t.id({ description: "Only this customer's." }),
  }),
});

builder.subscriptionField('transactionUpdates', (t) =>
  t.field({
    type: TransactionUpdateType,
    description:
      'Changes of transactions: of those that are named (their present states first, and completing after the end of all), of one customer, or of all that the caller may see (the next change first). With `after`, exactly what came after that cursor.',
    args: {
      of: t.arg({
        type: FollowedTransactionsInput,
        description: 'Only these; all that the caller may see when left out.',
      }),
      until: t.arg({
        type: StreamEnd,
        required: true,
        defaultValue: 'TERMINAL',
        description: 'When a stream of named transactions completes. Other streams never do.',
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
