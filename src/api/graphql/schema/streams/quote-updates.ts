import type { Cursors } from '../../../../core/cursors.ts';
import { terminalQuoteStatuses } from '../../../../core/statuses.ts';
import type { Event, QuoteStatus as Status } from '../../../../infra/database/generated/client/client.ts';
import { type Quote as QuoteRow, rowFromSnapshot } from '../../../../infra/database/rows.ts';
import type { Context } from '../../context.ts';
import { readAround } from '../../reading/planned.ts';
import { builder } from '../builder.ts';
import { QuoteStatus } from '../enums.ts';
import { Quote } from '../nouns.ts';
import { afterDescription, type Message, placeOf } from './stream.ts';
import { visibleRows } from './visible-ids.ts';
import { type RowStream, watchRows } from './watch-rows.ts';

interface QuoteUpdate extends Message {
  readonly quote: QuoteRow;
  readonly previousStatus: Status | null;
  readonly status: Status;
  readonly terminal: boolean;
  readonly occurredAt: Date;
}

const QuoteUpdateType = builder.objectRef<QuoteUpdate>('QuoteUpdate').implement({
  description: 'A change of a quote; the first message of a stream is its current state.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The position of the change in the feed: pass it as `after` to resume the stream.',
    }),
    quote: t.field({
      type: Quote,
      description: 'The quote as of this change.',
      resolve: (update, _args, context, info) => readAround('Quote', update.quote, context, info),
    }),
    previousStatus: t.expose('previousStatus', {
      type: QuoteStatus,
      nullable: true,
      description: 'The status of the quote before this change; null if the quote is new, and in the current state.',
    }),
    status: t.expose('status', { type: QuoteStatus, description: 'The status of the quote after this change.' }),
    terminal: t.exposeBoolean('terminal', {
      description: 'Whether the status is terminal. The stream completes after it.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When the quote changed.' }),
  }),
});

function updateOf(event: Event, cursors: Cursors): QuoteUpdate {
  return {
    ...placeOf(cursors, event.platformId, event),
    // The database makes the snapshot in this form.
    quote: rowFromSnapshot('Quote', event.snapshot),
    // So does it write a status: events of quotes have those of quotes.
    previousStatus: event.previousStatus as Status | null,
    status: event.status as Status,
    terminal: event.terminal,
    occurredAt: event.occurredAt,
  };
}

/** Returns how a stream of one quote reads and shows it. */
function quoteStream(context: Context, id: string): RowStream<QuoteRow, QuoteUpdate> {
  return {
    noun: 'Quote',
    findRows: () => visibleRows(context, 'Quote', [id], 'quoteId'),
    // The feed has an index on its transaction.
    subjectId: ({ transactionId }) => transactionId,
    toUpdate: updateOf,
    asCurrentState: (update) => ({ ...update, previousStatus: null }),
    currentState: (quote, place) => ({
      ...place,
      quote,
      previousStatus: null,
      status: quote.status,
      terminal: terminalQuoteStatuses.has(quote.status),
      occurredAt: quote.updatedAt,
    }),
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
