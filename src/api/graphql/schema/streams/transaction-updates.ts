import { terminalTransactionStatuses } from '../../../../core/statuses.ts';
import type { Channel } from '../../../../domain/events/channel.ts';
import { eventsOfNoun } from '../../../../domain/events/row-events.ts';
import { type Finality, finalityOf, isFinal } from '../../../../domain/settlement/finality.ts';
import type { Event } from '../../../../infra/database/generated/client/client.ts';
import type { Context } from '../../context.ts';
import { invalidInput } from '../../failure.ts';
import { builder, enumOf } from '../builder.ts';
import { TransactionStatus } from '../enums.ts';
import { Transaction } from '../nouns.ts';
import { afterDescription, checkSubject, filterOf, updatesOf, watchMany } from './stream.ts';
import { previously, updateType } from './update-type.ts';
import { visibleId } from './visible-ids.ts';
import { type RowStream, watchRows } from './watch-rows.ts';

const TransactionUpdate = updateType(
  'Transaction',
  Transaction,
  'A change of a transaction. A stream of named transactions begins with the current state of each.',
  (t) => ({
    previousStatus: t.field(
      previously(
        TransactionStatus,
        'The status before this change; null for a new transaction, and for the current state at the start of the stream.',
      ),
    ),
    status: t.field({
      type: TransactionStatus,
      description: 'The status of the transaction after this change.',
      resolve: ({ row }) => row.status,
    }),
    terminal: t.boolean({
      description:
        'Whether the status is terminal. A stream of named transactions completes after the last terminal status, unless it lasts until FINAL.',
      resolve: ({ row }) => terminalTransactionStatuses.has(row.status),
    }),
  }),
);

const StreamEnd = enumOf('StreamEnd', 'When a stream of named transactions completes.', {
  TERMINAL: 'When all of them have a terminal status.',
  FINAL: 'When no further change of any of them is possible: no return by a bank, and no pending refund.',
});

type Ends = Pick<RowStream<'Transaction'>, 'isLast' | 'hasEnded' | 'endLater'>;

/** Returns what ends a transaction in a stream. */
function ends({ payments: { database } }: Context, until: typeof StreamEnd.$inferType): Ends {
  if (until === 'TERMINAL')
    return {
      isLast: (event) => event.terminal,
      hasEnded: ({ status }) => terminalTransactionStatuses.has(status),
    };
  return {
    hasEnded: (row) => isFinal(database, row),
    endLater: ({ platformId, id }, following) =>
      endWhenFinal(following, async () => finalityOf(database, platformId, id)),
  };
}

const FollowedTransactionsInput = builder.inputType('FollowedTransactionsInput', {
  description: 'The transactions that a stream follows, given by exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    transactionId: t.id({ description: 'A single transaction: Transaction:…' }),
    transactionIds: t.idList({ description: 'These transactions, at least one: Transaction:…' }),
    customerId: t.id({ description: 'All transactions of this customer: Customer:…' }),
  }),
});

builder.subscriptionField('transactionUpdates', (t) =>
  t.field({
    type: TransactionUpdate,
    description:
      'Changes of transactions. A stream of named transactions begins with their current states and completes when all have ended; a stream of all transactions of a customer, or of all that the caller may see, begins with the next change. With `after`, it sends every change after that cursor.',
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
        return watchRows(context, after, { noun: 'Transaction', ids, field, ...ends(context, until) });
      }
      const customer =
        of?.customerId == null ? undefined : await visibleId(context, 'Customer', of.customerId, 'of.customerId');
      return watchMany(context, after, filterOf(types, customer), updatesOf.Transaction);
    },
    resolve: (update) => update,
  }),
);

/** The bounds, in milliseconds, on the delay until a rail is next checked while it watches for a bank return. */
const lookMs = { least: 1_000, most: 60_000, afterFailure: 5_000 } as const;

/**
 * Ends a stream of one transaction once nothing can follow the version that its reader has seen. The end of a watch
 * changes no status and so creates no event; this function polls for it.
 * @returns a function to call with each version that the reader is shown
 */
function endWhenFinal(
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
    // An unreachable database is polled again, too.
    timer = setTimeout(() => check().catch(() => again(lookMs.afterFailure)), ms).unref();
  };
  return (version) => {
    shown = Math.max(shown, version);
    again(0);
  };
}
