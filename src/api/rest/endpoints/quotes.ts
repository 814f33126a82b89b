import { z } from '@hono/zod-openapi';
import { visibleQuotes } from '../../../domain/access/visible.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { whereQuotes } from '../../../domain/commands/filters.ts';
import { cancelQuote } from '../../../domain/quotes/cancel-quote.ts';
import { executeQuote } from '../../../domain/quotes/execute-quote.ts';
import { createQuote } from '../../../domain/quotes/quotes.ts';
import { QuoteStatus } from '../../../infra/database/generated/client/client.ts';
import { readRow } from '../../../infra/database/read-rows.ts';
import type { Quote } from '../../../infra/database/rows.ts';
import { type PaymentParties, paymentParties, readPaymentParties } from '../../records/payment-parties.ts';
import { quoteRecord } from '../../records/quote-record.ts';
import type { RestApp } from '../app.ts';
import { Endpoints, withRequestPaths } from '../endpoint.ts';
import { quotePaths } from '../input-paths.ts';
import { addPagedList, anyOf, createdParameters, rowList } from '../lists.ts';
import { id } from '../schemas/fields.ts';
import { QuoteSchema } from '../schemas/payment-schemas.ts';
import { CreateQuoteBody, toQuoteInput } from './create-quote.ts';

const params = z.object({ quoteId: id('Quote', 'The id of the quote.') });

/** Adds the endpoints of quotes (specification 4.1 to 4.3, decision 67). */
export function quoteEndpoints(app: RestApp, payments: Payments): void {
  const { database } = payments;
  const endpoints = new Endpoints(app, 'Quotes');
  const record = async (quote: Quote) => quoteRecord(quote, await readPaymentParties(database.pool, quote));
  const recordOf = (row: Quote & PaymentParties) => quoteRecord(row, row);

  endpoints.command('createQuote', {
    summary: 'Create a quote',
    description:
      'Locks a rate and fees until the quote expires. No money moves until the quote is executed or funded by a deposit. With `immediatelyExecute`, it is executed immediately.',
    at: 'post /quotes',
    body: CreateQuoteBody,
    answer: [201, QuoteSchema, 'The new quote.'],
    errors: [404],
    run: async (body, { viewer, key }) => {
      // This conversion's refusals already name fields of the request.
      const input = await toQuoteInput(payments, viewer, body);
      return withRequestPaths(quotePaths(body), createQuote(payments, viewer, input, key));
    },
    record,
  });

  addPagedList(endpoints, 'listQuotes', {
    summary: 'List quotes',
    description: 'The quotes that match all given filters, in pages.',
    at: '/quotes',
    filters: {
      customerId: id('Customer', 'Only quotes whose sender is this customer.').optional(),
      sendingAccountId: id('InternalAccount', 'Only quotes that are paid from this account.').optional(),
      receivingAccountId: id('ExternalAccount', 'Only quotes that pay to this account.').optional(),
      sendingUmaAddress: z.string().optional().describe('Only quotes sent by the customer with this UMA address.'),
      receivingUmaAddress: z.string().optional().describe('Only quotes that pay to this UMA address.'),
      status: anyOf(QuoteStatus, 'Only quotes with any of these statuses.'),
      ...createdParameters,
    },
    item: QuoteSchema,
    name: 'QuotePage',
    list: rowList(database, 'Quote', { where: whereQuotes, extra: paymentParties, record: recordOf }),
  });

  endpoints.readOne('getQuote', {
    summary: 'Get a quote',
    description: 'The quote with this id, with its current status.',
    at: '/quotes/{quoteId}',
    params,
    answer: [QuoteSchema, 'The quote.'],
    type: 'Quote',
    find: (viewer, id) => readRow(database, 'Quote', { AND: [visibleQuotes(viewer), { id }] }, paymentParties),
    missing: ['QUOTE_NOT_FOUND', 'no such quote'],
    record: recordOf,
  });

  endpoints.command('executeQuote', {
    summary: 'Execute a quote',
    description:
      'Executes a quote once, before it expires. The source is debited immediately. If a policy requires an approval, the transaction waits for it as CREATED. A real-time funded quote is executed by its deposit instead.',
    at: 'post /quotes/{quoteId}/execute',
    params,
    answer: [200, QuoteSchema, 'The quote, which is now PROCESSING.'],
    errors: [404],
    run: (input, { viewer, key }) => executeQuote(payments, viewer, input, key),
    record,
  });

  endpoints.command('cancelQuote', {
    summary: 'Cancel a quote',
    description:
      "Cancels a quote that was neither executed nor funded: the quote and its transaction become EXPIRED immediately. A later deposit is credited to the customer's account.",
    at: 'post /quotes/{quoteId}/cancel',
    params,
    answer: [200, QuoteSchema, 'The quote, which is now EXPIRED.'],
    errors: [404],
    run: (input, { viewer, key }) => cancelQuote(payments, viewer, input, key),
    record,
  });
}
