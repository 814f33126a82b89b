import { terminalQuoteStatuses } from '../../../../core/statuses.ts';
import type { QuoteStatus as Status } from '../../../../infra/database/generated/client/client.ts';
import type { Context } from '../../context.ts';
import { readAround } from '../../reading/planned.ts';
import { builder } from '../builder.ts';
import { QuoteStatus } from '../enums.ts';
import { Quote } from '../nouns.ts';
import { afterDescription, cursorOptions, type RowUpdate, updatesOf } from './stream.ts';
import { visibleRows } from './visible-ids.ts';
import { type RowStream, watchRows } from './watch-rows.ts';

const QuoteUpdateType = builder.objectRef<RowUpdate<'Quote'>>('QuoteUpdate').implement({
  description: 'A change of a quote; the first message of a stream is its current state.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', cursorOptions),
    quote: t.field({
      type: Quote,
      description: 'The quote as of this change.',
      resolve: ({ row }, _args, context, info) => readAround('Quote', row, context, info),
    }),
    previousStatus: t.field({
      type: QuoteStatus,
      nullable: true,
      description:
        'The status of the quote before this change; null for a new quote, and for the current state at the start of the stream.',
      // The database writes the status: events of a noun have the noun's statuses.
      resolve: ({ change }) => (change?.previousStatus ?? null) as Status | null,
    }),
    status: t.field({
      type: QuoteStatus,
      description: 'The status of the quote after this change.',
      resolve: ({ row }) => row.status,
    }),
    terminal: t.boolean({
      description: 'Whether the status is terminal. The stream completes after it.',
      resolve: ({ row }) => terminalQuoteStatuses.has(row.status),
    }),
    occurredAt: t.field({
      type: 'DateTime',
      description: 'When the quote changed.',
      resolve: ({ row }) => row.updatedAt,
    }),
  }),
});

const updateOf = updatesOf('Quote');

function quoteStream(context: Context, id: string): RowStream<'Quote'> {
  return {
    noun: 'Quote',
    findRows: () => visibleRows(context, 'Quote', [id], 'quoteId'),
    // The feed has an index on its transaction.
    subjectId: ({ transactionId }) => transactionId,
    toUpdate: updateOf,
    isLast: (event) => event.terminal,
    hasEnded: ({ status }) => terminalQuoteStatuses.has(status),
  };
}

builder.subscriptionField('quoteUpdates', (t) =>
  t.field({
    type: QuoteUpdateType,
    description:
      'The current state of a quote, then every change of its status, including its expiry (which the service decides). Completes after a terminal status.',
    args: {
      quoteId: t.arg.id({ required: true, description: 'The quote to follow: Quote:…' }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: (_root, { quoteId, after }, context) => watchRows(context, after, quoteStream(context, quoteId)),
    resolve: (update) => update,
  }),
);
