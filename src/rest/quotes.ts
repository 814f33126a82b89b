import { createRoute, z } from '@hono/zod-openapi';
import { QuoteStatus } from '../database/generated/client/client.ts';
import type { Quote } from '../database/rows.ts';
import type { Payments } from '../payments/command.ts';
import { whereQuotes } from '../payments/filters.ts';
import { uuidOf } from '../payments/ids.ts';
import { type CreateQuote, createQuote, executeQuote } from '../payments/quotes.ts';
import { paymentEnds, readPaymentEnds } from '../payments/records/payment-ends.ts';
import { type QuoteRecord, quoteRecord } from '../payments/records/quote-record.ts';
import { Refusal } from '../payments/refusal.ts';
import type { RestApp } from './app.ts';
import {
  answers,
  answersOnce,
  body,
  command,
  commandErrors,
  commanding,
  noQuery,
  readErrors,
  reading,
} from './endpoint.ts';
import { anyOf, moment, pageOf, pageParameters, readList } from './lists.ts';
import { amountInput, id } from './money.ts';
import { checkNamedAccount } from './named-account.ts';
import { QuoteSchema } from './payment-schemas.ts';

const tags = ['Quotes'];
const quotePath = z.object({ quoteId: id('Quote', 'The quote.') });

const SourceInput = z
  .discriminatedUnion('sourceType', [
    z
      .strictObject({
        sourceType: z.literal('ACCOUNT').openapi({ description: 'Pay from an account.' }),
        accountId: id('InternalAccount', 'The account that pays. An external one is debited first.'),
        customerId: id('Customer', "The account's owner; checked where given.").optional(),
        currency: z.string().optional().openapi({ description: "The account's currency; checked where given." }),
      })
      .openapi('AccountSourceInput'),
    z
      .strictObject({
        sourceType: z
          .literal('REALTIME_FUNDING')
          .openapi({ description: 'Pay in from outside, for this payment alone.' }),
        customerId: id('Customer', 'Who pays in.'),
        currency: z.string().openapi({ description: 'In which currency, e.g. USDC or BTC.', example: 'USDC' }),
      })
      .openapi('RealtimeFundingSourceInput'),
  ])
  .openapi('PaymentSourceInput');

const DestinationInput = z
  .discriminatedUnion('destinationType', [
    z
      .strictObject({
        destinationType: z.literal('ACCOUNT').openapi({ description: 'Pay to an account.' }),
        accountId: id('ExternalAccount', 'The account that receives.'),
        currency: z.string().optional().openapi({ description: "The account's currency; checked where given." }),
      })
      .openapi('AccountDestinationInput'),
    z
      .strictObject({
        destinationType: z.literal('UMA_ADDRESS').openapi({ description: 'Pay to a UMA address; needs lookupId.' }),
        umaAddress: z.string().openapi({ description: 'The address that was looked up, $name@domain.' }),
        currency: z
          .string()
          .optional()
          .openapi({ description: "The currency that arrives; the receiver's preferred one when left out." }),
      })
      .openapi('UmaDestinationInput'),
  ])
  .openapi('PaymentDestinationInput');

const CreateQuoteBody = z
  .strictObject({
    source: SourceInput,
    destination: DestinationInput,
    lockedCurrencySide: z.enum(['SENDING', 'RECEIVING']).openapi({ description: "Which side's amount is fixed." }),
    lockedCurrencyAmount: amountInput("The fixed amount, in its currency's smallest unit."),
    lookupId: id('Lookup', 'The lookup of the receiver; required for a UMA address.').optional(),
    senderCustomerInfo: z
      .record(z.string(), z.string())
      .optional()
      .openapi({ description: "What the sender tells of itself, by name: the lookup's requiredPayerFields, purpose." }),
    immediatelyExecute: z
      .boolean()
      .default(false)
      .openapi({ description: 'Execute at creation, at the current rate. Not with real-time funding.' }),
    description: z.string().optional().openapi({ description: 'Memo, at most 500 characters.' }),
  })
  .openapi('CreateQuote');

const create = createRoute({
  ...commanding('createQuote', { operationId: 'createQuote', tags, summary: 'Create a quote' }),
  method: 'post',
  path: '/quotes',
  request: { query: noQuery, body: body(CreateQuoteBody) },
  responses: { 201: answersOnce(QuoteSchema, 'The new quote.'), ...commandErrors(404) },
});

const list = createRoute({
  ...reading({ operationId: 'listQuotes', tags, summary: 'List quotes', description: 'All filters given apply.' }),
  method: 'get',
  path: '/quotes',
  request: {
    query: z.strictObject({
      customerId: id('Customer', 'The sending customer.').optional(),
      sendingAccountId: id('InternalAccount', 'The source account.').optional(),
      receivingAccountId: id('ExternalAccount', 'The destination account.').optional(),
      sendingUmaAddress: z.string().optional().openapi({ description: "The sending customer's UMA address." }),
      receivingUmaAddress: z.string().optional().openapi({ description: 'The UMA address paid to.' }),
      status: anyOf(Object.values(QuoteStatus) as [QuoteStatus, ...QuoteStatus[]], 'Any of these.'),
      createdAfter: moment('Created then or later.'),
      createdBefore: moment('Created then or earlier.'),
      ...pageParameters,
    }),
  },
  responses: { 200: answers(pageOf(QuoteSchema, 'QuotePage'), 'A page of quotes.'), ...readErrors() },
});

const get = createRoute({
  ...reading({ operationId: 'getQuote', tags, summary: 'Get a quote' }),
  method: 'get',
  path: '/quotes/{quoteId}',
  request: { params: quotePath, query: noQuery },
  responses: { 200: answers(QuoteSchema, 'The quote.'), ...readErrors(404) },
});

const execute = createRoute({
  ...commanding('executeQuote', {
    operationId: 'executeQuote',
    tags,
    summary: 'Execute a quote',
    description:
      'Before its expiry, once; the source is debited at once. A real-time funded quote is executed by its deposit.',
  }),
  method: 'post',
  path: '/quotes/{quoteId}/execute',
  request: { params: quotePath, query: noQuery },
  responses: { 200: answersOnce(QuoteSchema, 'The quote, PROCESSING.'), ...commandErrors(404) },
});

/** Adds the endpoints of quotes (specification 4.1 to 4.3). */
export function quoteEndpoints(app: RestApp, payments: Payments): void {
  const { pool, prisma } = payments.database;
  const record = async (quote: Quote): Promise<QuoteRecord> => quoteRecord(quote, await readPaymentEnds(pool, quote));

  app.openapi(create, async (context) => {
    const viewer = context.get('viewer');
    const { source, destination, lockedCurrencyAmount, senderCustomerInfo: told, ...rest } = context.req.valid('json');
    if (source.sourceType === 'ACCOUNT') await checkNamedAccount(prisma, viewer, 'source', source);
    if (destination.destinationType === 'ACCOUNT') await checkNamedAccount(prisma, viewer, 'destination', destination);
    const from: CreateQuote['source'] =
      source.sourceType === 'ACCOUNT'
        ? { kind: 'ACCOUNT', accountId: source.accountId }
        : { kind: 'REALTIME_FUNDING', customerId: source.customerId, currency: source.currency };
    const to: CreateQuote['destination'] =
      destination.destinationType === 'ACCOUNT'
        ? { kind: 'ACCOUNT', accountId: destination.accountId }
        : { kind: 'UMA_ADDRESS', umaAddress: destination.umaAddress, currency: destination.currency };
    const senderCustomerInfo = told && Object.entries(told).map(([name, value]) => ({ name, value }));
    const quote = await command(context, {}, (key) =>
      createQuote(
        payments,
        viewer,
        {
          ...rest,
          lockedCurrencyAmount: BigInt(lockedCurrencyAmount),
          source: from,
          destination: to,
          ...(senderCustomerInfo && { senderCustomerInfo }),
        },
        key,
      ),
    );
    return context.json(await record(quote), 201);
  });

  app.openapi(list, async (context) => {
    const viewer = context.get('viewer');
    const query = context.req.valid('query');
    const page = await readList({
      list: 'Quote',
      viewer,
      query,
      where: whereQuotes(viewer.platformId, query),
      rows: (asked) => prisma.quote.findMany({ ...asked, include: paymentEnds }),
      count: (where) => prisma.quote.count({ where }),
      record: (row) => quoteRecord(row, row),
    });
    return context.json(page, 200);
  });

  app.openapi(get, async (context) => {
    const uuid = uuidOf(context.req.valid('param').quoteId, 'Quote');
    const { platformId } = context.get('viewer');
    const quote = uuid
      ? await prisma.quote.findUnique({ where: { platformId_id: { platformId, id: uuid } }, include: paymentEnds })
      : null;
    if (!quote) throw new Refusal('QUOTE_NOT_FOUND', 'no such quote', { field: 'quoteId' });
    return context.json(quoteRecord(quote, quote), 200);
  });

  app.openapi(execute, async (context) => {
    const { quoteId } = context.req.valid('param');
    const quote = await command(context, {}, (key) => executeQuote(payments, context.get('viewer'), quoteId, key));
    return context.json(await record(quote), 200);
  });
}
