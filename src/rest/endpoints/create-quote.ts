import { z } from '@hono/zod-openapi';
import type { Viewer } from '../../access/viewer.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Payments } from '../../payments/command.ts';
import type { CreateQuote } from '../../payments/quotes/quote-input.ts';
import { partiesOfLookup } from '../../payments/receivers/lookup-parties.ts';
import { inRequest } from '../endpoint.ts';
import { lookupPartiesPaths } from '../input-paths.ts';
import { amountInput, id } from '../schemas/money.ts';
import { checkNamedAccount } from './named-account.ts';

/** The request for a quote, in the forms of REST, and what it asks of the domain. */

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

const information = z.record(z.string(), z.string());

/** For a field that is required in most forms only: told beside whatever else is wrong. */
function requiredIn(field: string) {
  return {
    path: [field],
    message: 'is required',
    when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
  };
}

/** The body of POST /quotes: the form of specification 4.1, and its UMA form, which may leave both ends to the lookup. */
export const CreateQuoteBody = z
  .strictObject({
    source: SourceInput.optional(),
    destination: DestinationInput.optional(),
    lockedCurrencySide: z.enum(['SENDING', 'RECEIVING']).openapi({ description: "Which side's amount is fixed." }),
    lockedCurrencyAmount: amountInput("The fixed amount, in its currency's smallest unit."),
    lookupId: id('Lookup', 'The lookup of the receiver; required for a UMA address.').optional(),
    sendingCurrencyCode: z.string().optional().openapi({
      description: "Without a source: which account of the lookup's sender pays. With one: checked against it.",
      example: 'USD',
    }),
    receivingCurrencyCode: z.string().optional().openapi({
      description: "The currency that arrives; the receiver's preferred one when left out.",
      example: 'EUR',
    }),
    senderCustomerInfo: information
      .optional()
      .openapi({ description: "What the sender tells of itself, by name: the lookup's requiredPayerFields, purpose." }),
    senderUserInfo: information.optional().openapi({ description: 'Another name of senderCustomerInfo.' }),
    immediatelyExecute: z
      .boolean()
      .default(false)
      .openapi({ description: 'Execute at creation, at the current rate. Not with real-time funding.' }),
    description: z.string().optional().openapi({ description: 'Memo, at most 500 characters.' }),
  })
  .refine(
    ({ source, lookupId, sendingCurrencyCode }) =>
      source !== undefined || (lookupId !== undefined && sendingCurrencyCode !== undefined),
    requiredIn('source'),
  )
  .refine(({ destination, lookupId }) => destination !== undefined || lookupId !== undefined, requiredIn('destination'))
  .openapi('CreateQuote', {
    description:
      'A lookup can stand for the ends of a payment to a UMA address: for the destination, and with sendingCurrencyCode for the source, which is then the account of the customer that the lookup named.',
    anyOf: [
      { required: ['source', 'destination'] },
      { required: ['source', 'lookupId'] },
      { required: ['lookupId', 'sendingCurrencyCode'] },
    ],
  });

type Body = z.infer<typeof CreateQuoteBody>;

/**
 * What a body asks of the domain. What it leaves to its lookup is read from there, and what it says twice must agree
 * (decision 24).
 * @throws Refusal INVALID_INPUT, INVALID_CURRENCY, LOOKUP_REQUEST_NOT_FOUND
 */
export async function asCommand(payments: Payments, viewer: Viewer, body: Body): Promise<CreateQuote> {
  const { source, destination, lockedCurrencySide, lookupId, immediatelyExecute, description } = body;
  const senderInfo = senderInfoOf(body);
  const left =
    lookupId !== undefined && !(source && destination)
      ? await inRequest(
          lookupPartiesPaths,
          partiesOfLookup(payments, viewer, lookupId, source ? undefined : body.sendingCurrencyCode),
        )
      : undefined;
  return {
    lockedCurrencySide,
    lockedCurrencyAmount: BigInt(body.lockedCurrencyAmount),
    lookupId,
    immediatelyExecute,
    description,
    source: await sourceOf(payments, viewer, body, left?.accountId),
    destination: await destinationOf(payments, viewer, body, left?.umaAddress),
    ...(senderInfo && { senderCustomerInfo: Object.entries(senderInfo).map(([name, value]) => ({ name, value })) }),
  };
}

async function sourceOf(
  payments: Payments,
  viewer: Viewer,
  { source, sendingCurrencyCode }: Body,
  accountOfSender: string | undefined,
): Promise<CreateQuote['source']> {
  if (!source) {
    if (accountOfSender === undefined) throw new Error('the schema lets no body through that names no source at all');
    return { kind: 'ACCOUNT', accountId: accountOfSender };
  }
  const currency = agreed(source.currency, sendingCurrencyCode, 'sendingCurrencyCode');
  if (source.sourceType === 'REALTIME_FUNDING') {
    return { kind: 'REALTIME_FUNDING', customerId: source.customerId, currency: source.currency };
  }
  const { accountId, customerId } = source;
  const path = {
    currency: source.currency === undefined ? ['sendingCurrencyCode'] : ['source', 'currency'],
    customerId: ['source', 'customerId'],
  };
  await checkNamedAccount(payments.database, viewer, path, { accountId, customerId, currency });
  return { kind: 'ACCOUNT', accountId };
}

async function destinationOf(
  payments: Payments,
  viewer: Viewer,
  { destination, receivingCurrencyCode }: Body,
  lookedUp: string | undefined,
): Promise<CreateQuote['destination']> {
  const currency = agreed(destination?.currency, receivingCurrencyCode, 'receivingCurrencyCode');
  if (!destination) {
    if (lookedUp === undefined) throw new Error('the schema lets no body through that names no destination at all');
    return { kind: 'UMA_ADDRESS', umaAddress: lookedUp, currency };
  }
  if (destination.destinationType === 'UMA_ADDRESS') {
    return { kind: 'UMA_ADDRESS', umaAddress: destination.umaAddress, currency };
  }
  const { accountId } = destination;
  const path = {
    currency: destination.currency === undefined ? ['receivingCurrencyCode'] : ['destination', 'currency'],
  };
  await checkNamedAccount(payments.database, viewer, path, { accountId, currency });
  return { kind: 'ACCOUNT', accountId };
}

/** What is said in two places, which must be the same. */
function agreed(there: string | undefined, here: string | undefined, field: string): string | undefined {
  if (there !== undefined && here !== undefined && there !== here) {
    throw new Refusal('INVALID_INPUT', `this is ${here}, but ${there} is said elsewhere`, {
      path: [field],
      value: here,
    });
  }
  return there ?? here;
}

function senderInfoOf({ senderCustomerInfo, senderUserInfo }: Body): Readonly<Record<string, string>> | undefined {
  if (!senderCustomerInfo || !senderUserInfo) return senderCustomerInfo ?? senderUserInfo;
  const names = new Set([...Object.keys(senderCustomerInfo), ...Object.keys(senderUserInfo)]);
  if ([...names].some((name) => senderCustomerInfo[name] !== senderUserInfo[name])) {
    throw new Refusal('INVALID_INPUT', 'what the sender tells of itself is given under two names, and differs', {
      path: ['senderUserInfo'],
    });
  }
  return senderCustomerInfo;
}
