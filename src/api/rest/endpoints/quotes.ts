import { createRoute, z } from '@hono/zod-openapi';
import { uuidOf } from '../../../core/ids.ts';
import { Refusal } from '../../../core/refusal.ts';
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
import {
  body,
  command,
  commandEndpoint,
  commandErrors,
  commandResponse,
  noQuery,
  readErrors,
  taggedResponse,
  viewEndpoint,
} from '../endpoint.ts';
import { setTag } from '../entity-tags.ts';
import { quotePaths, samePaths } from '../input-paths.ts';
import { anyOf, createdParameters, pagedEndpoint, pageHandler, rowList } from '../lists.ts';
import { id } from '../schemas/fields.ts';
import { QuoteSchema } from '../schemas/payment-schemas.ts';
import { CreateQuoteBody, toQuoteInput } from './create-quote.ts';

const tags = ['Quotes'];
const quotePath = z.object({ quoteId: id('Quote', 'The id of the quote.') });

const create = createRoute({
  ...commandEndpoint('createQuote', {
    tags,
    summary: 'Create a quote',
    description:
      'Locks a rate and fees until the quote expires. Nothing moves until it is executed, or funded by a deposit; with `immediatelyExecute` it is executed immediately.',
  }),
  method: 'post',
  path: '/quotes',
  request: { query: noQuery, body: body(CreateQuoteBody) },
  responses: { 201: commandResponse(QuoteSchema, 'The new quote.'), ...commandErrors(404) },
});

const list = pagedEndpoint({
  access: viewEndpoint({
    operationId: 'listQuotes',
    tags,
    summary: 'List quotes',
    description: 'The quotes that match all given filters, in pages.',
  }),
  path: '/quotes',
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
});

const get = createRoute({
  ...viewEndpoint({
    operationId: 'getQuote',
    tags,
    summary: 'Get a quote',
    description: 'The quote with this id, with its current status.',
  }),
  method: 'get',
  path: '/quotes/{quoteId}',
  request: { params: quotePath, query: noQuery },
  responses: { 200: taggedResponse(QuoteSchema, 'The quote.'), ...readErrors(404) },
});

const execute = createRoute({
  ...commandEndpoint('executeQuote', {
    tags,
    summary: 'Execute a quote',
    description:
      'Executes a quote once, before it expires. The source is debited immediately. If a policy requires an approval, the transaction waits for it as CREATED. A real-time funded quote is executed by its deposit instead.',
  }),
  method: 'post',
  path: '/quotes/{quoteId}/execute',
  request: { params: quotePath, query: noQuery },
  responses: { 200: commandResponse(QuoteSchema, 'The quote, PROCESSING.'), ...commandErrors(404, 412) },
});

const cancel = createRoute({
  ...commandEndpoint('cancelQuote', {
    tags,
    summary: 'Cancel a quote',
    description:
      "Cancels a quote that was neither executed nor funded: it is EXPIRED immediately, with its transaction. A later deposit is credited to the customer's account.",
  }),
  method: 'post',
  path: '/quotes/{quoteId}/cancel',
  request: { params: quotePath, query: noQuery },
  responses: { 200: commandResponse(QuoteSchema, 'The quote, EXPIRED.'), ...commandErrors(404, 412) },
});

/** Adds the endpoints of quotes (specification 4.1 to 4.3, decision 67). */
export function quoteEndpoints(app: RestApp, payments: Payments): void {
  const { database } = payments;
  const record = async (quote: Quote) => quoteRecord(quote, await readPaymentParties(database.pool, quote));

  app.openapi(create, async (context) => {
    const viewer = context.get('viewer');
    const body = context.req.valid('json');
    const input = await toQuoteInput(payments, viewer, body);
    const quote = await command(context, quotePaths(body), (key) => createQuote(payments, viewer, input, key));
    return context.json(await record(quote), 201);
  });

  const quotes = rowList(database, 'Quote', {
    where: whereQuotes,
    extra: paymentParties,
    record: (row: Quote & PaymentParties) => quoteRecord(row, row),
  });
  app.openapi(list, pageHandler(quotes));

  app.openapi(get, async (context) => {
    const uuid = uuidOf(context.req.valid('param').quoteId, 'Quote');
    const where = { AND: [visibleQuotes(context.get('viewer')), { id: uuid }] };
    const quote = uuid ? await readRow(database, 'Quote', where, paymentParties) : null;
    if (!quote) throw new Refusal('QUOTE_NOT_FOUND', 'no such quote', { path: ['quoteId'] });
    setTag(context, quote.version);
    return context.json(quoteRecord(quote, quote), 200);
  });

  app.openapi(execute, async (context) => {
    const { quoteId } = context.req.valid('param');
    const quote = await command(context, samePaths, (key, viewer, expecting) =>
      executeQuote(payments, viewer, { quoteId, ...expecting }, key),
    );
    return context.json(await record(quote), 200);
  });

  app.openapi(cancel, async (context) => {
    const { quoteId } = context.req.valid('param');
    const quote = await command(context, samePaths, (key, viewer, expecting) =>
      cancelQuote(payments, viewer, { quoteId, ...expecting }, key),
    );
    return context.json(await record(quote), 200);
  });
}
