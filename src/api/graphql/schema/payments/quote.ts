import { requiredCurrency } from '../../../../core/currencies.ts';
import { publicId } from '../../../../core/ids.ts';
import { visibleQuotes } from '../../../../domain/access/visible.ts';
import { whereQuotes } from '../../../../domain/commands/filters.ts';
import type { PricingStep as PricingStepShape } from '../../../../domain/pricing/pricing-steps.ts';
import { trustedJson } from '../../../../infra/database/trusted-json.ts';
import type { PaymentInstruction as PaymentInstructionShape } from '../../../../rails/rail.ts';
import { planned } from '../../reading/planned.ts';
import { jsonList, leaf, pageOf, reads, toOne } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { PaymentInstruction } from '../customers/payment-instruction.ts';
import { LockedCurrencySide, QuoteStatus } from '../enums.ts';
import { QuoteFilter } from '../filters.ts';
import { connection, listArgs } from '../list.ts';
import { Customer, Quote, Transaction } from '../nouns.ts';
import { MetadataEntry, metadataDescription, metadataEntries, metadataRead } from '../values/metadata.ts';
import { CurrencyType, currencyRead, MoneyType, money, moneyRead } from '../values/money.ts';
import { type RateDetails, RateDetailsType, rateDetailsRead } from '../values/rate-details.ts';
import { customerRead, destinationRead, ofQuote, PaymentDestination, PaymentSource, sourceRead } from './parties.ts';
import { PricingStep } from './pricing-step.ts';

interface PricingJson {
  readonly rateDetails: RateDetails;
  readonly steps: readonly PricingStepShape[];
}

/** Its identity and its status. */
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
}));

/** Its amounts and its price. */
builder.prismaObjectFields(Quote, (t) => ({
  sendingCurrency: t.field({
    type: CurrencyType,
    description: 'What is sent in.',
    ...reads(currencyRead(({ row }) => `${row}.sending_currency`)),
    resolve: (quote) => requiredCurrency(quote.sendingCurrency),
  }),
  receivingCurrency: t.field({
    type: CurrencyType,
    description: 'What arrives in.',
    ...reads(currencyRead(({ row }) => `${row}.receiving_currency`)),
    resolve: (quote) => requiredCurrency(quote.receivingCurrency),
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
  lockedCurrencySide: t.expose('lockedCurrencySide', {
    type: LockedCurrencySide,
    description: 'The side whose amount is fixed.',
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
}));

/** How its price was made. */
builder.prismaObjectFields(Quote, (t) => ({
  rateDetails: t.field({
    type: RateDetailsType,
    description: 'What the price is made of.',
    ...reads(
      rateDetailsRead(({ row }) => `(${row}.pricing -> 'rateDetails')`, 'sending_currency', 'receiving_currency'),
    ),
    resolve: (quote) => ({
      details: pricingOf(quote).rateDetails,
      sending: quote.sendingCurrency,
      receiving: quote.receivingCurrency,
    }),
  }),
  pricingSteps: t.field({
    type: [PricingStep],
    description: 'Every rounding behind the amounts, in order.',
    ...reads(jsonList(({ row }) => `coalesce(${row}.pricing -> 'steps', '[]')`)),
    resolve: (quote) => [...pricingOf(quote).steps],
  }),
}));

/** Its parties, and how it is paid. */
builder.prismaObjectFields(Quote, (t) => ({
  source: t.field({
    type: PaymentSource,
    description: 'Where the money comes from.',
    ...planned(
      sourceRead({
        currency: (row) => `${row}.sending_currency`,
        umaAddress: () => 'null::text',
        stored: ofQuote,
      }),
    ),
  }),
  destination: t.field({
    type: PaymentDestination,
    description: 'Where the money goes.',
    ...planned(
      destinationRead({
        currency: (row) => `${row}.receiving_currency`,
        umaAddress: (row) => `${row}.destination_uma_address`,
        stored: ofQuote,
      }),
    ),
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
  paymentInstructions: t.field({
    type: [PaymentInstruction],
    description: 'How to fund it, any one of them; empty when it is paid from an account.',
    ...reads(jsonList(({ row }) => `coalesce(${row}.payment_instructions, '[]')`)),
    // The rail wrote it in this form when the quote was created.
    resolve: (quote) => trustedJson<PaymentInstructionShape[]>(quote.paymentInstructions),
  }),
  description: t.exposeString('description', { nullable: true, description: 'Memo.' }),
  metadata: t.field({
    type: [MetadataEntry],
    description: metadataDescription,
    ...reads(metadataRead),
    resolve: metadataEntries,
  }),
}));

/** Returns the pricing column, which createQuote wrote in this form. */
function pricingOf(quote: { readonly pricing: unknown }): PricingJson {
  return trustedJson<PricingJson>(quote.pricing);
}

export const QuoteConnection = connection(Quote, 'Quote', { page: 'A page of quotes.', edge: 'A quote in a page.' }, [
  Quote,
]);

/** Reads a page of the quotes that match a filter. */
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
