import { terminalQuoteStatuses } from '../../../../core/statuses.ts';
import { builder } from '../builder.ts';
import { QuoteStatus } from '../enums.ts';
import { Quote } from '../nouns.ts';
import { afterDescription } from './stream.ts';
import { previously, updateType } from './update-type.ts';
import { watchRows } from './watch-rows.ts';

const QuoteUpdate = updateType(
  'Quote',
  Quote,
  'A change of a quote; the first message of a stream is its current state.',
  (t) => ({
    previousStatus: t.field(
      previously(
        QuoteStatus,
        'The status of the quote before this change; null for a new quote, and for the current state at the start of the stream.',
      ),
    ),
    status: t.field({
      type: QuoteStatus,
      description: 'The status of the quote after this change.',
      resolve: ({ row }) => row.status,
    }),
    terminal: t.boolean({
      description: 'Whether the status is terminal. The stream completes after it.',
      resolve: ({ row }) => terminalQuoteStatuses.has(row.status),
    }),
  }),
);

builder.subscriptionField('quoteUpdates', (t) =>
  t.field({
    type: QuoteUpdate,
    description:
      'The current state of a quote, then every change of its status, including its expiry (which the service decides). Completes after a terminal status.',
    args: {
      quoteId: t.arg.id({ required: true, description: 'The quote to follow: Quote:…' }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: (_root, { quoteId, after }, context) =>
      watchRows(context, after, {
        noun: 'Quote',
        ids: [quoteId],
        field: 'quoteId',
        isLast: (event) => event.terminal,
        hasEnded: ({ status }) => terminalQuoteStatuses.has(status),
      }),
    resolve: (update) => update,
  }),
);
