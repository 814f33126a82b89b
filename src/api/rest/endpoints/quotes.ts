import { isDeepStrictEqual } from 'node:util';
import { z } from '@hono/zod-openapi';
import { type FieldPath, invalid, type PathTable, renamed } from '../../../core/refusal.ts';
import { longest } from '../../../core/texts.ts';
import type { Viewer } from '../../../domain/access/caller.ts';
import { visibleQuotes } from '../../../domain/access/visible.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { whereQuotes } from '../../../domain/commands/filters.ts';
import { cancelQuote, executeQuote } from '../../../domain/quotes/execute-quote.ts';
import type { CreateQuote } from '../../../domain/quotes/quote-destination.ts';
import { createQuote } from '../../../domain/quotes/quotes.ts';
import { partiesOfLookup } from '../../../domain/receivers/lookups.ts';
import { QuoteStatus } from '../../../infra/database/generated/client/client.ts';
import { readRow } from '../../../infra/database/read-rows.ts';
import type { Quote } from '../../../infra/database/rows.ts';
import { type PaymentParties, paymentParties, quoteRecord, readPaymentParties } from '../../records/payment-records.ts';
import { type Endpoints, withRequestPaths } from '../endpoint.ts';
import { addPagedList, anyOf, createdParameters, rowList } from '../lists.ts';
import {
  amountInput,
  boolean,
  factList,
  facts,
  id,
  newMetadata,
  requestObject,
  string,
  text,
  variants,
} from '../schemas/fields.ts';
import { QuoteSchema } from '../schemas/payment-schemas.ts';
import { checkNamedAccount } from './accounts.ts';

const params = z.object({ quoteId: id('Quote', 'The id of the quote.') });

/** Adds the quote endpoints. */
export function quoteEndpoints(endpoints: Endpoints, payments: Payments): void {
  const { database } = payments;
  const record = async (quote: Quote) => quoteRecord(quote, await readPaymentParties(database.pool, quote));
  const recordOf = (row: Quote & PaymentParties) => quoteRecord(row, row);

  endpoints.command('createQuote', {
    summary: 'Create a quote',
    description:
      'Locks a rate and fees until the quote expires. No money moves until the quote is executed or funded by a deposit. With `immediatelyExecute`, it is executed immediately.',
    at: 'post /quotes',
    body: CreateQuoteBody,
    answer: [201, QuoteSchema, 'The new quote.'],
    run: async (body, { viewer, key }) => {
      // Refusals from this conversion already use the request's field names.
      const input = await toQuoteInput(payments, viewer, body);
      return withRequestPaths(quotePaths(body), createQuote(payments, viewer, input, key));
    },
    record,
  });

  addPagedList(endpoints, 'listQuotes', {
    summary: 'List quotes',
    description: 'The quotes that match all given filters, paginated.',
    at: '/quotes',
    filters: {
      customerId: string('Only quotes whose sender is this customer.').optional(),
      sendingAccountId: string('Only quotes that are paid from this account.').optional(),
      receivingAccountId: string('Only quotes that pay into this account.').optional(),
      sendingUmaAddress: string('Only quotes sent by the customer with this UMA address.').optional(),
      receivingUmaAddress: string('Only quotes that pay to this UMA address.').optional(),
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
      'A quote can be executed only once and only before it expires. The source is debited immediately. If a policy requires approval, the transaction stays CREATED until it is approved. A real-time funded quote is executed by its deposit instead.',
    at: 'post /quotes/{quoteId}/execute',
    params,
    answer: [200, QuoteSchema, 'The quote, which is now PROCESSING.'],
    run: (input, { viewer, key }) => executeQuote(payments, viewer, input, key),
    record,
  });

  endpoints.command('cancelQuote', {
    summary: 'Cancel a quote',
    description:
      "Cancels a quote that has been neither executed nor funded: the quote and its transaction become EXPIRED immediately. A later deposit is credited to the customer's account.",
    at: 'post /quotes/{quoteId}/cancel',
    params,
    answer: [200, QuoteSchema, 'The quote, which is now EXPIRED.'],
    run: (input, { viewer, key }) => cancelQuote(payments, viewer, input, key),
    record,
  });
}

const SourceInput = variants('PaymentSourceInput', 'sourceType', [
  requestObject('AccountSourceInput', {
    sourceType: z.literal('ACCOUNT').describe('Pay from an account.'),
    accountId: id('InternalAccount', 'The account that pays. If it is external, the money is first pulled from it.'),
    customerId: id('Customer', 'The owner of the account; optional, and checked if given.').optional(),
    currency: string("The account's currency; optional, and checked if given.").optional(),
  }),
  requestObject('RealtimeFundingSourceInput', {
    sourceType: z.literal('REALTIME_FUNDING').describe('Pay with an external deposit made solely for this payment.'),
    customerId: id('Customer', 'The customer who makes the deposit.'),
    currency: string('The currency of the deposit, such as USDC or BTC.', 'USDC'),
  }),
]);

const DestinationInput = variants('PaymentDestinationInput', 'destinationType', [
  requestObject('AccountDestinationInput', {
    destinationType: z.literal('ACCOUNT').describe('Pay to an account.'),
    accountId: id('ExternalAccount', 'The account that receives the money.'),
    currency: string("The account's currency; optional, and checked if given.").optional(),
  }),
  requestObject('UmaDestinationInput', {
    destinationType: z.literal('UMA_ADDRESS').describe('Pay to a UMA address; requires lookupId.'),
    umaAddress: string('The UMA address that was looked up: $name@domain.'),
    currency: string("The currency that the receiver gets; the receiver's preferred one if omitted.").optional(),
  }),
]);

const information = facts();

/** The error for a field that only some forms of the body require. It is reported together with all other errors. */
function requiredIn(field: string) {
  return {
    path: [field],
    message: 'is required',
    when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
  };
}

/** The body of POST /quotes: the specification's form or the UMA form, in which a lookup can supply the parties. */
const CreateQuoteBody = z
  .strictObject({
    source: SourceInput.optional(),
    destination: DestinationInput.optional(),
    lockedCurrencySide: z.enum(['SENDING', 'RECEIVING']).describe('The side whose amount is fixed.'),
    lockedCurrencyAmount: amountInput("The fixed amount, in its currency's smallest unit."),
    lookupId: id('Lookup', 'The receiver lookup; required for a UMA address.').optional(),
    sendingCurrencyCode: string(
      "If the source is omitted, the lookup's sender pays from the account in this currency. Otherwise, this must be the source's currency.",
      'USD',
    ).optional(),
    receivingCurrencyCode: string(
      "The currency that the receiver gets; the receiver's preferred one if omitted.",
      'EUR',
    ).optional(),
    senderCustomerInfo: information
      .optional()
      .describe(
        "Sender information, keyed by field name. A UMA address requires the lookup's requiredPayerFields and PURPOSE_OF_PAYMENT; an external account requires PURPOSE_OF_PAYMENT.",
      ),
    senderUserInfo: information.optional().describe('An alias of senderCustomerInfo.'),
    immediatelyExecute: boolean(
      'Whether to execute the quote immediately, at the current rate; false by default. Not possible with real-time funding.',
    ).optional(),
    description: text(longest.memo).optional().describe('A note for the payment, at most 500 characters.'),
    metadata: newMetadata,
  })
  .refine(
    ({ source, lookupId, sendingCurrencyCode }) =>
      source !== undefined || (lookupId !== undefined && sendingCurrencyCode !== undefined),
    requiredIn('source'),
  )
  .refine(({ destination, lookupId }) => destination !== undefined || lookupId !== undefined, requiredIn('destination'))
  .openapi('CreateQuote', {
    description:
      'For a payment to a UMA address, a lookup can replace the destination and, if sendingCurrencyCode is given, the source. The source is then the account in that currency that belongs to the customer for whom the lookup was made.',
  });

type Body = z.infer<typeof CreateQuoteBody>;

function quotePaths(body: Body): PathTable<CreateQuote> {
  const { source, destination, receivingCurrencyCode, senderCustomerInfo, senderUserInfo } = body;
  const table: (readonly [PathTable<CreateQuote>[number][0], FieldPath])[] = [];
  if (!source) table.push([['source'], ['sendingCurrencyCode']]);
  else if (source.currency === undefined) table.push([['source', 'currency'], ['sendingCurrencyCode']]);
  if (!destination) table.push([['destination', 'umaAddress'], ['lookupId']]);
  if (!destination || (receivingCurrencyCode !== undefined && destination.currency === undefined))
    table.push([['destination', 'currency'], ['receivingCurrencyCode']]);
  const field = !senderCustomerInfo && senderUserInfo ? 'senderUserInfo' : 'senderCustomerInfo';
  table.push([['senderCustomerInfo'], [field]]);
  // In the request, the information is an object keyed by name; in the command's input, it is a list.
  for (const [position, name] of Object.keys(senderCustomerInfo ?? senderUserInfo ?? {}).entries()) {
    table.push(renamed(['senderCustomerInfo', position], [field, name]));
  }
  return table;
}

/**
 * Converts a body to the command's input. Parties omitted from the body are taken from its lookup, and values that
 * appear twice must match.
 * @throws Refusal INVALID_INPUT, INVALID_CURRENCY, LOOKUP_REQUEST_NOT_FOUND
 */
async function toQuoteInput(payments: Payments, viewer: Viewer, body: Body): Promise<CreateQuote> {
  const { source, destination, lockedCurrencySide, lockedCurrencyAmount, lookupId, description, metadata } = body;
  const senderInfo = senderInfoOf(body);
  const parties =
    lookupId !== undefined && !(source && destination)
      ? await withRequestPaths(
          // A currency in the request selects the source account of the lookup's sender.
          [[['currency'], ['sendingCurrencyCode']]],
          partiesOfLookup(payments, viewer, lookupId, source ? undefined : body.sendingCurrencyCode),
        )
      : undefined;
  return {
    ...{ lockedCurrencySide, lockedCurrencyAmount, lookupId, description, metadata },
    immediatelyExecute: body.immediatelyExecute ?? false,
    source: await sourceOf(payments, viewer, body, parties?.accountId),
    destination: await destinationOf(payments, viewer, body, parties?.umaAddress),
    ...(senderInfo && { senderCustomerInfo: factList(senderInfo) }),
  };
}

async function sourceOf(
  { database }: Payments,
  viewer: Viewer,
  { source, sendingCurrencyCode }: Body,
  accountOfLookup = '',
): Promise<CreateQuote['source']> {
  // The schema requires a source or a lookup.
  if (!source) return { kind: 'ACCOUNT', accountId: accountOfLookup };
  const currency = sameValue(source.currency, sendingCurrencyCode, 'sendingCurrencyCode');
  if (source.sourceType === 'REALTIME_FUNDING') {
    return { kind: 'REALTIME_FUNDING', customerId: source.customerId, currency: source.currency };
  }
  const { accountId, customerId } = source;
  const path = {
    currency: source.currency === undefined ? ['sendingCurrencyCode'] : ['source', 'currency'],
    customerId: ['source', 'customerId'],
  };
  await checkNamedAccount(database, viewer, path, { accountId, customerId, currency });
  return { kind: 'ACCOUNT', accountId };
}

async function destinationOf(
  { database }: Payments,
  viewer: Viewer,
  { destination, receivingCurrencyCode }: Body,
  addressOfLookup = '',
): Promise<CreateQuote['destination']> {
  const currency = sameValue(destination?.currency, receivingCurrencyCode, 'receivingCurrencyCode');
  // The schema requires a destination or a lookup.
  if (destination?.destinationType !== 'ACCOUNT') {
    return { kind: 'UMA_ADDRESS', umaAddress: destination?.umaAddress ?? addressOfLookup, currency };
  }
  const { accountId } = destination;
  const path = {
    currency: destination.currency === undefined ? ['receivingCurrencyCode'] : ['destination', 'currency'],
  };
  await checkNamedAccount(database, viewer, path, { accountId, currency });
  return { kind: 'ACCOUNT', accountId };
}

/** Returns a value that may appear in two fields; throws if the two differ. `field` is the path of `second`. */
function sameValue(first: string | undefined, second: string | undefined, field: string): string | undefined {
  if (first !== undefined && second !== undefined && first !== second) {
    throw invalid(`${second} conflicts with ${first} in another field`, { path: [field], value: second });
  }
  return first ?? second;
}

function senderInfoOf({ senderCustomerInfo, senderUserInfo }: Body): Readonly<Record<string, string>> | undefined {
  if (senderCustomerInfo && senderUserInfo && !isDeepStrictEqual(senderCustomerInfo, senderUserInfo)) {
    throw invalid('conflicts with the same information under its other name', ['senderUserInfo']);
  }
  return senderCustomerInfo ?? senderUserInfo;
}
