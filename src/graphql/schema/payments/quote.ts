import { visibleQuotes } from '../../../access/visible.ts';
import { maxAmount } from '../../../core/checks.ts';
import { publicId } from '../../../core/ids.ts';
import { trustedJson } from '../../../database/trusted-json.ts';
import { whereQuotes } from '../../../payments/filters.ts';
import { executeQuote } from '../../../payments/quotes/execute-quote.ts';
import type { CreateQuote } from '../../../payments/quotes/quote-input.ts';
import { createQuote } from '../../../payments/quotes/quotes.ts';
import type { PaymentInstruction as PaymentInstructionShape } from '../../../rails/rail.ts';
import { planned } from '../../reading/planned.ts';
import { jsonList, leaf, pageOf, reads, toOne } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { PaymentInstruction } from '../customers/payment-instruction.ts';
import { LockedCurrencySide, QuoteStatus } from '../enums.ts';
import { QuoteFilter } from '../filters.ts';
import { connection, listArgs } from '../list.ts';
import { mutation } from '../mutation.ts';
import { Customer, Quote, Transaction } from '../nouns.ts';
import { InformationFieldInput } from '../values/information.ts';
import {
  CurrencyType,
  currencyRead,
  knownCurrency,
  MoneyType,
  money,
  moneyRead,
  type RateDetails,
  RateDetailsType,
} from '../values/money.ts';
import { SandboxScenarioInput } from '../values/scenario.ts';
import { customerRead, destinationRead, PaymentDestination, PaymentSource, sourceRead } from './parties.ts';

interface PricingJson {
  readonly rateDetails: RateDetails;
  readonly steps: readonly { readonly step: string; readonly value: string }[];
}

const PricingStep = builder.objectRef<PricingJson['steps'][number]>('PricingStep').implement({
  description: 'One rounding on the way to a price.',
  fields: (t) => ({
    step: t.exposeString('step', { description: 'The figure that was rounded.' }),
    value: t.exposeString('value', { description: 'Exact before and whole after, in smallest units.' }),
  }),
});

builder.prismaObjectFields(Quote, (t) => ({
  id: t.id({
    description: 'Its public id.',
    ...reads(leaf.id('Quote')),
    resolve: (quote) => publicId('Quote', quote.id),
  }),
  status: t.expose('status', { type: QuoteStatus, description: 'Where it stands.' }),
  version: t.exposeInt('version', { description: 'Rises with each change.' }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  expiresAt: t.expose('expiresAt', {
    type: 'DateTime',
    description: "Until when it can be executed or funded, by the service's clock.",
  }),
  source: t.field({
    type: PaymentSource,
    description: 'Where the money comes from.',
    ...planned(
      sourceRead(
        (row) => `${row}.sending_currency`,
        () => 'null::text',
      ),
    ),
  }),
  destination: t.field({
    type: PaymentDestination,
    description: 'Where the money goes.',
    ...planned(destinationRead('receiving_currency')),
  }),
  sendingCurrency: t.field({
    type: CurrencyType,
    description: 'What is sent in.',
    ...reads(currencyRead(({ row }) => `${row}.sending_currency`)),
    resolve: (quote) => knownCurrency(quote.sendingCurrency),
  }),
  receivingCurrency: t.field({
    type: CurrencyType,
    description: 'What arrives in.',
    ...reads(currencyRead(({ row }) => `${row}.receiving_currency`)),
    resolve: (quote) => knownCurrency(quote.receivingCurrency),
  }),
  totalSendingAmount: t.field({
    type: MoneyType,
    description: 'What the source is debited, fees included.',
    ...reads(moneyRead('total_sending_amount', 'sending_currency')),
    resolve: (quote) => money(quote.totalSendingAmount, quote.sendingCurrency),
  }),
  totalReceivingAmount: t.field({
    type: MoneyType,
    description: 'Exactly what arrives.',
    ...reads(moneyRead('total_receiving_amount', 'receiving_currency')),
    resolve: (quote) => money(quote.totalReceivingAmount, quote.receivingCurrency),
  }),
  exchangeRate: t.field({
    type: 'Decimal',
    description:
      'Sending currency units per receiving currency unit, in major units, fee-exclusive: (sent − fees) / rate = received.',
    ...reads(leaf.decimal('exchange_rate')),
    resolve: (quote) => quote.exchangeRate.toFixed(),
  }),
  feesIncluded: t.field({
    type: MoneyType,
    description: 'All fees, in the sending currency.',
    ...reads(moneyRead('fees_included', 'sending_currency')),
    resolve: (quote) => money(quote.feesIncluded, quote.sendingCurrency),
  }),
  rateDetails: t.field({
    type: RateDetailsType,
    nullable: true,
    description: 'What the price is made of.',
    ...reads({
      kind: 'value',
      env: ({ row }) => ({ json: `(${row}.pricing -> 'rateDetails')` }),
      unless: ({ row }) => [`coalesce(jsonb_typeof(${row}.pricing -> 'rateDetails'), 'null') = 'null'`],
    }),
    resolve: (quote) => pricingOf(quote).rateDetails,
  }),
  pricingSteps: t.field({
    type: [PricingStep],
    description: 'Every rounding behind the amounts, in order.',
    ...reads(jsonList(({ row }) => `coalesce(${row}.pricing -> 'steps', '[]')`)),
    resolve: (quote) => [...pricingOf(quote).steps],
  }),
  lockedCurrencySide: t.expose('lockedCurrencySide', {
    type: LockedCurrencySide,
    description: 'Which amount was asked for.',
  }),
  description: t.exposeString('description', { nullable: true, description: 'Memo.' }),
  paymentInstructions: t.field({
    type: [PaymentInstruction],
    description: 'How to fund it, any one of them; empty when it is paid from an account.',
    ...reads(jsonList(({ row }) => `coalesce(${row}.payment_instructions, '[]')`)),
    // Written by the rail in this form when the quote was made.
    resolve: (quote) => trustedJson<PaymentInstructionShape[]>(quote.paymentInstructions),
  }),
  customer: t.field({
    type: Customer,
    nullable: true,
    description: 'Who sends; null when it is the platform itself.',
    ...planned(customerRead),
  }),
  transaction: t.field({
    type: Transaction,
    description: 'The payment that was made with it.',
    ...planned(toOne('Transaction', 'transaction_id')),
  }),
}));

/** Written by createQuote in this form. */
function pricingOf(quote: { readonly pricing: unknown }): PricingJson {
  return trustedJson<PricingJson>(quote.pricing);
}

export const QuoteConnection = connection(Quote, 'Quote', { page: 'A page of quotes.', edge: 'A quote in a page.' });

/** A page of quotes, as a filter wants them. */
export const quotesRead = pageOf('Quote', visibleQuotes, whereQuotes);

builder.queryFields((t) => ({
  quote: t.field({
    type: Quote,
    nullable: true,
    description: 'A quote by its id, or null.',
    ...planned({ kind: 'node', types: ['Quote'] }),
    args: { id: t.arg.id({ required: true, description: 'Quote:…' }) },
  }),
  quotes: t.field({
    type: QuoteConnection,
    description: 'Quotes of the platform and its customers.',
    ...planned(quotesRead),
    args: listArgs(t.arg, QuoteFilter),
  }),
}));

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
    currency: t.string({ required: true, description: 'In which currency, e.g. USDC or BTC.' }),
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
    currency: t.string({ description: "What shall arrive; the receiver's first currency when left out." }),
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
      type: 'BigInt',
      required: true,
      description: `The fixed amount, in its currency's smallest unit: 1 to ${maxAmount}.`,
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
        "What the sender tells of itself: all mandatory fields of the lookup's requiredPayerFields, and PURPOSE_OF_PAYMENT.",
    }),
    sandboxScenario: t.field({
      type: SandboxScenarioInput,
      description: 'Sandbox only: what shall happen to the payment once it is executed.',
    }),
  }),
  success: { quote: { type: Quote, description: 'The new quote.' } },
  refusals: ['NotFoundError', 'InsufficientFundsError'],
  resolve: async ({ idempotencyKey, source, destination, ...input }, { payments, viewer }) => {
    const from: CreateQuote['source'] | undefined = source.account
      ? { kind: 'ACCOUNT', accountId: source.account.accountId }
      : source.realtimeFunding && { kind: 'REALTIME_FUNDING', ...source.realtimeFunding };
    const to: CreateQuote['destination'] | undefined = destination.account
      ? { kind: 'ACCOUNT', accountId: destination.account.accountId }
      : destination.uma && { kind: 'UMA_ADDRESS', ...destination.uma };
    if (!from || !to) throw new Error('a @oneOf input has one field');
    const done = await createQuote(
      payments,
      viewer,
      { ...input, immediatelyExecute: input.immediatelyExecute ?? false, source: from, destination: to },
      idempotencyKey,
    );
    return { quote: done.row, replayed: done.replayed };
  },
});

mutation('executeQuote', {
  description:
    'Executes a quote before its expiry (specification 4.3): the source is debited at once, or pulled from when it is outside, and the quote is PROCESSING.',
  input: (t) => ({
    quoteId: t.id({ required: true, description: 'Quote:…' }),
    sandboxScenario: t.field({
      type: SandboxScenarioInput,
      description: "Sandbox only: what shall happen to the payment, instead of the quote's own scenario.",
    }),
  }),
  success: { quote: { type: Quote, description: 'The quote, PROCESSING.' } },
  refusals: ['NotFoundError', 'QuoteExpiredError', 'InsufficientFundsError'],
  resolve: async ({ quoteId, sandboxScenario, idempotencyKey }, { payments, viewer }) => {
    const done = await executeQuote(payments, viewer, quoteId, idempotencyKey, sandboxScenario);
    return { quote: done.row, replayed: done.replayed };
  },
});
