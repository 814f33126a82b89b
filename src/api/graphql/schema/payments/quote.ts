import { visibleCustomers, visibleQuotes } from '../../../../domain/access/visible.ts';
import { whereQuotes } from '../../../../domain/commands/filters.ts';
import { builder } from '../builder.ts';
import { PaymentInstruction } from '../customers/payment-instruction.ts';
import { LockedCurrencySide, QuoteStatus } from '../enums.ts';
import { QuoteFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { Customer, Quote, Transaction } from '../nouns.ts';
import { MetadataEntry, noted } from '../values/metadata.ts';
import { owner } from '../values/people.ts';
import { PaymentDestination, PaymentSource } from './parties.ts';
import { PricingStep, RateDetailsType } from './pricing.ts';

builder.prismaObjectFields(Quote, (t) => ({
  status: t.expose('status', { type: QuoteStatus, description: 'The status of the quote.' }),
  version: t.exposeInt('version', {
    description: 'Increases with each change of the quote: use it to discard older copies.',
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the quote was created.' }),
  expiresAt: t.expose('expiresAt', {
    type: 'DateTime',
    description: "When the quote expires, by the service's clock. Until then it can be executed or funded.",
  }),

  sendingCurrency: t.currency('sendingCurrency', { description: 'The currency of the amount sent.' }),
  receivingCurrency: t.currency('receivingCurrency', { description: 'The currency of the amount received.' }),
  totalSendingAmount: t.money('totalSendingAmount', 'sendingCurrency', {
    description: 'The amount that the source is debited, fees included.',
  }),
  totalReceivingAmount: t.money('totalReceivingAmount', 'receivingCurrency', {
    description: 'The exact amount that the destination receives.',
  }),
  lockedCurrencySide: t.expose('lockedCurrencySide', {
    type: LockedCurrencySide,
    description: 'The side whose amount is fixed; the other amount was computed from the rate.',
  }),
  exchangeRate: t.expose('exchangeRate', {
    type: 'Decimal',
    description:
      'Units of the sending currency per unit of the receiving currency, in major units and without fees: (sent − fees) / rate = received.',
  }),
  feesIncluded: t.money('feesIncluded', 'sendingCurrency', {
    description: 'All fees of the payment, in the sending currency. `totalSendingAmount` includes them.',
  }),

  rateDetails: t.value(
    RateDetailsType,
    { details: ['pricing', 'rateDetails'], sending: 'sendingCurrency', receiving: 'receivingCurrency' },
    { description: 'The parts of the price: multipliers and fees.' },
  ),
  pricingSteps: t.json(['pricing', 'steps'], [PricingStep], {
    description: 'The rounding steps behind the amounts, in order.',
  }),

  // The row of the payment, shown as one of its two sides (parties.ts).
  source: t.relation('transaction', { type: PaymentSource, description: 'Where the money comes from.' }),
  destination: t.relation('transaction', { type: PaymentDestination, description: 'Where the money goes.' }),
  owner: t.field(owner),
  customer: t.seen('customer', Customer, visibleCustomers, {
    description:
      'The customer who sends the money. Null if the platform itself does, or if the viewer may not see the customer: `owner` says which.',
  }),
  // A caller who may see a quote may see its payment (visible.ts).
  transaction: t.relation('transaction', {
    type: Transaction,
    description: 'The payment of the quote, which is created with it.',
  }),
  paymentInstructions: t.json('paymentInstructions', [PaymentInstruction], {
    description: 'The ways to fund the quote, of which any one can be used; empty if it is paid from an account.',
  }),

  description: t.exposeString('description', {
    nullable: true,
    description: 'A note for the payment, given by its sender; null if there is none.',
  }),
  metadata: t.entries('metadata', MetadataEntry, ['key', 'value'], noted),
}));

export const quotes = listOf(Quote, {
  name: 'Quote',
  visible: visibleQuotes,
  filter: QuoteFilter,
  where: whereQuotes,
  page: 'A page of quotes.',
  edge: 'A quote in a page.',
});

builder.queryFields((t) => ({
  quote: t.byId(Quote, ['Quote'], {
    id: 'The id of the quote: Quote:…',
    description: 'The quote with this id; null if it does not exist or the caller may not see it.',
  }),
  quotes: t.page(quotes, { description: 'The quotes of the platform and of its customers.' }),
}));
