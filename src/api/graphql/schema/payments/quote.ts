import { maxAmount } from '../../../../core/checks.ts';
import { visibleCustomers, visibleQuotes } from '../../../../domain/access/visible.ts';
import { whereQuotes } from '../../../../domain/commands/filters.ts';
import { maxFacts } from '../../../../domain/commands/information.ts';
import { cancelQuote, executeQuote } from '../../../../domain/quotes/execute-quote.ts';
import type { CreateQuote } from '../../../../domain/quotes/quote-destination.ts';
import { createQuote } from '../../../../domain/quotes/quotes.ts';
import { builder, oneOf, required } from '../builder.ts';
import { PaymentInstruction } from '../customers/payment-instruction.ts';
import { LockedCurrencySide } from '../enums.ts';
import { QuoteFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { mutation } from '../mutation.ts';
import { Customer, Quote } from '../nouns.ts';
import { InformationFieldInput } from '../values/information.ts';
import { MetadataEntry, MetadataInput, metadataOf, newMetadata, noted } from '../values/metadata.ts';
import { AmountInput, givenAmount } from '../values/money.ts';
import { owner } from '../values/people.ts';
import { PaymentDestination, PaymentSource } from './parties.ts';
import { PricingStep, RateDetailsType } from './pricing.ts';

builder.prismaObjectFields(Quote, (t) => ({
  ...t.columns({
    status: "The quote's status.",
    version: 'Increases with each change to the quote. Use it to discard older copies.',
    createdAt: 'When the quote was created.',
    expiresAt: "When the quote expires, by the service's clock. Until then it can be executed or funded.",
    lockedCurrencySide: 'The side whose amount is fixed; the other amount was computed from the rate.',
    exchangeRate:
      'Units of the sending currency per unit of the receiving currency, in major units and without fees: (sent − fees) / rate = received.',
    description: "The sender's note for the payment, or null.",
  }),

  sendingCurrency: t.currency('sendingCurrency', { description: 'The currency of the amount sent.' }),
  receivingCurrency: t.currency('receivingCurrency', { description: 'The currency of the amount received.' }),
  totalSendingAmount: t.money('totalSendingAmount', 'sendingCurrency', {
    description: 'The amount debited from the source, fees included.',
  }),
  totalReceivingAmount: t.money('totalReceivingAmount', 'receivingCurrency', {
    description: 'The exact amount that the destination receives.',
  }),
  feesIncluded: t.money('feesIncluded', 'sendingCurrency', {
    description: "The payment's total fees, in the sending currency. `totalSendingAmount` includes them.",
  }),

  rateDetails: t.value(
    RateDetailsType,
    { details: ['pricing', 'rateDetails'], sending: 'sendingCurrency', receiving: 'receivingCurrency' },
    { description: 'The parts of the price: multipliers and fees.' },
  ),
  pricingSteps: t.json(['pricing', 'steps'], [PricingStep], {
    description: 'The rounding steps that led to the amounts, in order.',
  }),

  // Both fields read the payment's row and show one side of it (parties.ts).
  source: t.relation('transaction', { type: PaymentSource, description: 'Where the money comes from.' }),
  destination: t.relation('transaction', { type: PaymentDestination, description: 'Where the money goes.' }),
  owner: t.field(owner),
  customer: t.seen('customer', Customer, visibleCustomers, {
    description:
      'The customer who sends the money. Null if the platform itself sends it, or if the viewer may not see the customer: `owner` says which.',
  }),
  // A caller who may see a quote may see its payment (visible.ts).
  transaction: t.relation('transaction', { description: 'The payment that was created together with the quote.' }),
  paymentInstructions: t.json('paymentInstructions', [PaymentInstruction], {
    description: 'The ways to fund the quote; empty if it is paid from an account. Use any one of them.',
  }),

  metadata: t.entries('metadata', MetadataEntry, ['key', 'value'], noted),
}));

export const quotes = listOf(Quote, {
  visible: visibleQuotes,
  filter: QuoteFilter,
  where: whereQuotes,
  words: ['A quote', 'quotes'],
});

builder.queryFields((t) => ({
  quote: t.byId(Quote, ['Quote'], { word: 'quote' }),
  quotes: t.page(quotes, { description: 'The quotes of the platform and its customers.' }),
}));

const AccountSourceInput = builder.inputType('AccountSourceInput', {
  description: 'An account as the source of a payment.',
  fields: (t) => ({
    accountId: t.id({
      required: true,
      description:
        'The account that pays. Use `ExternalAccount:…` to pull the money from a bank account, otherwise `InternalAccount:…`.',
    }),
  }),
});

const RealtimeFundingSourceInput = builder.inputType('RealtimeFundingSourceInput', {
  description: "An external deposit as the source: the quote's `paymentInstructions` say where to send it.",
  fields: (t) => ({
    customerId: t.id({ required: true, description: 'The customer who makes the deposit (`Customer:…`).' }),
    currency: t.field(required('CurrencyCode', 'The currency of the deposit, such as USDC or BTC.')),
  }),
});

const PaymentSourceInput = oneOf('PaymentSourceInput', 'The source of a payment', (t) => ({
  account: t.field({ type: AccountSourceInput, description: 'The payment is made from an account.' }),
  realtimeFunding: t.field({
    type: RealtimeFundingSourceInput,
    description: 'The payment is funded by an external deposit made solely for this payment.',
  }),
}));

const AccountDestinationInput = builder.inputType('AccountDestinationInput', {
  description: 'An account as the destination of a payment.',
  fields: (t) => ({
    accountId: t.id({
      required: true,
      description: 'The account that receives the money (`InternalAccount:…` or `ExternalAccount:…`).',
    }),
  }),
});

const UmaDestinationInput = builder.inputType('UmaDestinationInput', {
  description:
    "A UMA address as the destination of a payment. The quote's `lookupId` must refer to a lookup of this address.",
  fields: (t) => ({
    umaAddress: t.string({ required: true, description: "The receiver's UMA address: $name@domain." }),
    currency: t.field({
      type: 'CurrencyCode',
      description: "The currency that the receiver gets; if omitted, the receiver's preferred currency.",
    }),
  }),
});

const PaymentDestinationInput = oneOf('PaymentDestinationInput', 'The destination of a payment', (t) => ({
  account: t.field({ type: AccountDestinationInput, description: 'The payment goes to an account.' }),
  uma: t.field({ type: UmaDestinationInput, description: 'The payment goes to a UMA address.' }),
}));

mutation('createQuote', {
  description:
    'Creates a quote: locks a rate and fees for a few minutes. No money moves until the quote is executed or funded by a deposit, which must happen before `expiresAt`.',
  input: (t) => ({
    source: t.field(required(PaymentSourceInput, 'Where the money comes from: set exactly one field.')),
    destination: t.field(required(PaymentDestinationInput, 'Where the money goes: set exactly one field.')),
    lockedCurrencySide: t.field(
      required(LockedCurrencySide, "The side whose amount is fixed; the other side's amount is computed."),
    ),
    lockedCurrencyAmount: t.field(
      required(AmountInput, `The fixed amount: between 1 and ${maxAmount} in the smallest unit of its currency.`),
    ),
    lookupId: t.id({ description: 'The lookup that found the receiver (`Lookup:…`); required for a UMA destination.' }),
    immediatelyExecute: t.boolean({
      defaultValue: false,
      description: 'Whether to execute the quote immediately, at the current rate.',
    }),
    description: t.string({ description: 'A note for the payment.' }),
    senderCustomerInfo: t.field({
      type: [InformationFieldInput],
      description: `Information about the sender. A UMA destination requires PURPOSE_OF_PAYMENT and all mandatory fields in the lookup's \`requiredPayerFields\`. An external account requires PURPOSE_OF_PAYMENT. At most ${maxFacts} fields.`,
    }),
    metadata: t.field({
      type: [MetadataInput],
      description: `${newMetadata} The quote's transaction also gets these pairs.`,
    }),
  }),
  scenario: 'how the payment turns out once the quote is executed.',
  success: { row: { as: 'quote', type: Quote, description: 'The new quote.' } },
  refusals: ['InsufficientFundsError', 'LimitExceededError'],
  validates: true,
  resolve: ({ source, destination, ...input }, { payments, viewer }, key) => {
    const request: CreateQuote = {
      ...input,
      source: source.account
        ? { kind: 'ACCOUNT', ...source.account }
        : { kind: 'REALTIME_FUNDING', ...source.realtimeFunding },
      destination: destination.account
        ? { kind: 'ACCOUNT', ...destination.account }
        : { kind: 'UMA_ADDRESS', ...destination.uma },
      lockedCurrencyAmount: givenAmount(input.lockedCurrencyAmount),
      immediatelyExecute: input.immediatelyExecute ?? false,
      metadata: metadataOf(input.metadata),
    };
    return createQuote(payments, viewer, request, key);
  },
});

mutation('executeQuote', {
  description:
    'Executes a quote before it expires. The money is debited immediately from an internal account, or pulled from an external one. The quote is then PROCESSING. If a policy requires approval, the transaction stays CREATED until it is approved.',
  input: (t) => ({ quoteId: t.id({ required: true, description: 'The quote to execute (`Quote:…`).' }) }),
  scenario: "how the payment turns out, overriding the quote's own scenario.",
  success: { row: { as: 'quote', type: Quote, description: 'The quote, which is now PROCESSING.' } },
  refusals: ['QuoteExpiredError', 'InsufficientFundsError', 'LimitExceededError'],
  validates: true,
  resolve: (input, { payments, viewer }, key) => executeQuote(payments, viewer, input, key),
});

mutation('cancelQuote', {
  description:
    "Cancels a quote that has been neither executed nor funded: the quote and its transaction become EXPIRED immediately. A later deposit is credited to the customer's account.",
  input: (t) => ({ quoteId: t.id({ required: true, description: 'The quote to cancel (`Quote:…`).' }) }),
  success: { row: { as: 'quote', type: Quote, description: 'The quote, which is now EXPIRED.' } },
  refusals: ['QuoteExpiredError'],
  resolve: (input, { payments, viewer }, key) => cancelQuote(payments, viewer, input, key),
});
