import { maxAmount } from '../../../../core/checks.ts';
import { cancelQuote } from '../../../../domain/quotes/cancel-quote.ts';
import { executeQuote } from '../../../../domain/quotes/execute-quote.ts';
import type { CreateQuote } from '../../../../domain/quotes/quote-input.ts';
import { createQuote } from '../../../../domain/quotes/quotes.ts';
import { builder } from '../builder.ts';
import { LockedCurrencySide } from '../enums.ts';
import { mutation } from '../mutation.ts';
import { Quote } from '../nouns.ts';
import { AmountInput, givenAmount } from '../values/amount-input.ts';
import { InformationFieldInput } from '../values/information.ts';
import { MetadataInput, metadataOf, newMetadata } from '../values/metadata.ts';

const AccountSourceInput = builder.inputType('AccountSourceInput', {
  description: 'Pay from an account.',
  fields: (t) => ({
    accountId: t.id({
      required: true,
      description: 'InternalAccount:…, or ExternalAccount:… of a bank, which the money is pulled from.',
    }),
  }),
});

const RealtimeFundingSourceInput = builder.inputType('RealtimeFundingSourceInput', {
  description: 'Pay in from outside, for this payment alone.',
  fields: (t) => ({
    customerId: t.id({ required: true, description: 'Who pays.' }),
    currency: t.field({ type: 'CurrencyCode', required: true, description: 'In which currency.' }),
  }),
});

const PaymentSourceInput = builder.inputType('PaymentSourceInput', {
  description: 'Where the money comes from: exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    account: t.field({ type: AccountSourceInput, description: 'From an account.' }),
    realtimeFunding: t.field({
      type: RealtimeFundingSourceInput,
      description: 'From outside, for this payment alone.',
    }),
  }),
});

const AccountDestinationInput = builder.inputType('AccountDestinationInput', {
  description: 'Pay to an account.',
  fields: (t) => ({ accountId: t.id({ required: true, description: 'InternalAccount:… or ExternalAccount:…' }) }),
});

const UmaDestinationInput = builder.inputType('UmaDestinationInput', {
  description: 'Pay to a UMA address, with the lookupId of a receiver lookup.',
  fields: (t) => ({
    umaAddress: t.string({ required: true, description: '$name@domain.' }),
    currency: t.field({
      type: 'CurrencyCode',
      description: "What shall arrive; the receiver's first currency when left out.",
    }),
  }),
});

const PaymentDestinationInput = builder.inputType('PaymentDestinationInput', {
  description: 'Where the money goes: exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    account: t.field({ type: AccountDestinationInput, description: 'To an account.' }),
    uma: t.field({ type: UmaDestinationInput, description: 'To a UMA address.' }),
  }),
});

mutation('createQuote', {
  description: 'Locks a rate and fees for a few minutes (specification 4.1). Execute it before expiresAt.',
  input: (t) => ({
    source: t.field({ type: PaymentSourceInput, required: true, description: 'Where the money comes from.' }),
    destination: t.field({ type: PaymentDestinationInput, required: true, description: 'Where it goes.' }),
    lockedCurrencySide: t.field({ type: LockedCurrencySide, required: true, description: 'Which amount is fixed.' }),
    lockedCurrencyAmount: t.field({
      type: AmountInput,
      required: true,
      description: `The fixed amount: 1 to ${maxAmount} smallest units of its currency.`,
    }),
    lookupId: t.id({ description: 'Lookup:…, of the receiver; required for a UMA destination.' }),
    immediatelyExecute: t.boolean({
      defaultValue: false,
      description: 'Execute at once, at the current rate.',
    }),
    description: t.string({ description: 'Memo.' }),
    senderCustomerInfo: t.field({
      type: [InformationFieldInput],
      description:
        "Information about the sender, for a UMA address: all mandatory fields of the lookup's requiredPayerFields, and PURPOSE_OF_PAYMENT. An external account takes PURPOSE_OF_PAYMENT too.",
    }),
    metadata: t.field({ type: [MetadataInput], description: `${newMetadata} The transaction has the same.` }),
  }),
  scenario: 'what shall happen to the payment once it is executed.',
  success: { quote: { type: Quote, description: 'The new quote.' } },
  refusals: ['NotFoundError', 'InsufficientFundsError', 'LimitExceededError'],
  resolve: async ({ idempotencyKey, source, destination, ...input }, { payments, viewer }) => {
    const from: CreateQuote['source'] | undefined = source.account
      ? { kind: 'ACCOUNT', accountId: source.account.accountId }
      : source.realtimeFunding && { kind: 'REALTIME_FUNDING', ...source.realtimeFunding };
    const to: CreateQuote['destination'] | undefined = destination.account
      ? { kind: 'ACCOUNT', accountId: destination.account.accountId }
      : destination.uma && { kind: 'UMA_ADDRESS', ...destination.uma };
    if (!from || !to) throw new Error('a @oneOf input has one field');
    const request: CreateQuote = {
      ...input,
      source: from,
      destination: to,
      lockedCurrencyAmount: givenAmount(input.lockedCurrencyAmount),
      immediatelyExecute: input.immediatelyExecute ?? false,
      metadata: metadataOf(input.metadata),
    };
    const result = await createQuote(payments, viewer, request, idempotencyKey);
    return { quote: result.row, replayed: result.replayed };
  },
});

mutation('executeQuote', {
  description:
    'Executes a quote before its expiry (specification 4.3): the source is debited at once, or pulled from when it is outside, and the quote is PROCESSING.',
  input: (t) => ({
    quoteId: t.id({ required: true, description: 'Quote:…' }),
  }),
  scenario: "what shall happen to the payment, instead of the quote's own scenario.",
  success: { quote: { type: Quote, description: 'The quote, PROCESSING.' } },
  refusals: ['NotFoundError', 'QuoteExpiredError', 'InsufficientFundsError', 'LimitExceededError'],
  resolve: async ({ quoteId, sandboxScenario, idempotencyKey }, { payments, viewer }) => {
    const result = await executeQuote(payments, viewer, quoteId, idempotencyKey, sandboxScenario);
    return { quote: result.row, replayed: result.replayed };
  },
});

mutation('cancelQuote', {
  description:
    'Cancels a quote that nobody has executed or paid: it is EXPIRED at once, with its transaction. A deposit that comes afterwards is credited to the account of the customer.',
  input: (t) => ({ quoteId: t.id({ required: true, description: 'Quote:…' }) }),
  success: { quote: { type: Quote, description: 'The quote, EXPIRED.' } },
  refusals: ['NotFoundError', 'QuoteExpiredError'],
  resolve: async ({ quoteId, idempotencyKey }, { payments, viewer }) => {
    const result = await cancelQuote(payments, viewer, quoteId, idempotencyKey);
    return { quote: result.row, replayed: result.replayed };
  },
});
