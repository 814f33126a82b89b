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
import { id } from '../schemas/money.ts';
import { QuoteSchema } from '../schemas/payment-schemas.ts';
import { CreateQuoteBody, toQuoteInput } from './create-quote.ts';

const tags = ['Quotes'];
const quotePath = z.object({ quoteId: id('Quote', 'The quote.') });

const create = createRoute({
  ...commandEndpoint('createQuote', {
    tags,
    summary: 'Create a quote',
    description:
      'Locks a rate and fees until the quote expires. Nothing moves until it is executed, or funded by a deposit; with `immediatelyExecute` it is executed at once.',
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
    description: 'All quotes that match every filter, in pages.',
  }),
  path: '/quotes',
  filters: {
    customerId: id('Customer', 'The sending customer.').optional(),
    sendingAccountId: id('InternalAccount', 'The source account.').optional(),
    receivingAccountId: id('ExternalAccount', 'The destination account.').optional(),
    sendingUmaAddress: z.string().optional().describe("The sending customer's UMA address."),
    receivingUmaAddress: z.string().optional().describe('The UMA address that receives.'),
    status: anyOf(QuoteStatus, 'Any of these values.'),
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
    description: 'A quote by its id, with its current status.',
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
      'Possible once, before it expires; debits the source at once. A real-time funded quote is executed by its deposit.',
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
      'Possible until it is executed or funded: the quote and its transaction are EXPIRED at once. A later deposit is credited to the account of the customer.',
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
