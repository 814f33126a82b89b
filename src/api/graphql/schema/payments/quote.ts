import { visibleCustomers, visibleQuotes } from '../../../../domain/access/visible.ts';
import { whereQuotes } from '../../../../domain/commands/filters.ts';
import { builder } from '../builder.ts';
import { PaymentInstruction } from '../customers/payment-instruction.ts';
import { LockedCurrencySide, QuoteStatus } from '../enums.ts';
import { QuoteFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { Customer, Quote, Transaction } from '../nouns.ts';
import { MetadataEntry, noted } from '../values/metadata.ts';
import { RateDetailsType } from '../values/rate-details.ts';
import { PaymentDestination, PaymentSource } from './parties.ts';
import { PricingStep } from './pricing-step.ts';

builder.prismaObjectFields(Quote, (t) => ({
  status: t.expose('status', { type: QuoteStatus, description: 'Where it stands.' }),
  version: t.exposeInt('version', { description: 'Rises with each change.' }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  expiresAt: t.expose('expiresAt', {
    type: 'DateTime',
    description: "Until when it can be executed or funded, by the service's clock.",
  }),

  sendingCurrency: t.currency('sendingCurrency', { description: 'What is sent in.' }),
  receivingCurrency: t.currency('receivingCurrency', { description: 'What arrives in.' }),
  totalSendingAmount: t.money('totalSendingAmount', 'sendingCurrency', {
    description: 'What the source is debited, fees included.',
  }),
  totalReceivingAmount: t.money('totalReceivingAmount', 'receivingCurrency', { description: 'Exactly what arrives.' }),
  lockedCurrencySide: t.expose('lockedCurrencySide', {
    type: LockedCurrencySide,
    description: 'The side whose amount is fixed.',
  }),
  exchangeRate: t.expose('exchangeRate', {
    type: 'Decimal',
    description:
      'Sending currency units per receiving currency unit, in major units, fee-exclusive: (sent − fees) / rate = received.',
  }),
  feesIncluded: t.money('feesIncluded', 'sendingCurrency', { description: 'All fees, in the sending currency.' }),

  rateDetails: t.value(
    RateDetailsType,
    { details: ['pricing', 'rateDetails'], sending: 'sendingCurrency', receiving: 'receivingCurrency' },
    { description: 'What the price is made of.' },
  ),
  pricingSteps: t.json(['pricing', 'steps'], [PricingStep], {
    description: 'Every rounding behind the amounts, in order.',
  }),

  source: t.relation('transaction', { type: PaymentSource, description: 'Where the money comes from.' }),
  destination: t.relation('transaction', { type: PaymentDestination, description: 'Where the money goes.' }),
  customer: t.seen('customer', Customer, visibleCustomers, {
    description: 'Who sends; null when it is the platform itself.',
  }),
  transaction: t.relation('transaction', { type: Transaction, description: 'The payment that was made with it.' }),
  paymentInstructions: t.json('paymentInstructions', [PaymentInstruction], {
    description: 'How to fund it, any one of them; empty when it is paid from an account.',
  }),

  description: t.exposeString('description', { nullable: true, description: 'Memo.' }),
  metadata: t.entries('metadata', MetadataEntry, ['key', 'value'], noted),
}));

export const quotes = listOf(Quote, {
  name: 'Quote',
  visible: visibleQuotes,
  filter: QuoteFilter,
  where: whereQuotes,
  page: 'A page of quotes.',
  edge: 'A quote in a page.',
  inPayloads: [Quote],
});

builder.queryFields((t) => ({
  quote: t.byId(Quote, ['Quote'], { id: 'Quote:…', description: 'A quote by its id, or null.' }),
  quotes: t.page(quotes, { description: 'Quotes of the platform and its customers.' }),
}));
