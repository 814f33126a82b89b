import { z } from '@hono/zod-openapi';
import {
  ExternalAccountType,
  FailureReason,
  QuoteStatus,
  TransactionStatus,
  TransactionType,
} from '../../../infra/database/generated/client/client.ts';
import {
  AmountSchema,
  amount,
  CurrencySchema,
  id,
  listOf,
  metadata,
  oneOf,
  rate,
  responseObject,
  string,
  time,
  variants,
} from './fields.ts';

// Defines the response schemas for quotes and transactions.

const currencyCode = string('The currency code.', 'USD');

const umaAddress = string('The UMA address: $name@domain.');

const SourceSchema = variants('PaymentSource', 'sourceType', [
  responseObject('AccountSource', {
    sourceType: z.literal('ACCOUNT').describe('The source type: an account.'),
    accountId: id('InternalAccount', 'The account that pays.'),
    customerId: id('Customer', 'The customer who owns the account.').optional(),
    currency: currencyCode,
  }),
  responseObject('RealtimeFundingSource', {
    sourceType: z.literal('REALTIME_FUNDING').describe('The source type: a deposit made for this payment only.'),
    customerId: id('Customer', 'The customer who makes the deposit.').optional(),
    currency: currencyCode,
  }),
  responseObject('UmaSource', {
    sourceType: z.literal('UMA_ADDRESS').describe('The source type: a UMA address.'),
    umaAddress,
    currency: currencyCode,
  }),
]).describe('Where the money comes from.');

const DestinationSchema = variants('PaymentDestination', 'destinationType', [
  responseObject('AccountDestination', {
    destinationType: z.literal('ACCOUNT').describe('The destination type: an account.'),
    accountId: id('ExternalAccount', 'The account that receives the money.'),
    currency: currencyCode,
  }),
  responseObject('UmaDestination', {
    destinationType: z.literal('UMA_ADDRESS').describe('The destination type: a UMA address.'),
    umaAddress,
    currency: currencyCode,
  }),
]).describe('Where the money goes.');

/** A payment instruction for a deposit, in both a flat and a nested form. */
export const PaymentInstructionSchema = responseObject('PaymentInstruction', {
  accountType: oneOf(ExternalAccountType, 'The type of the account or wallet to pay to.'),
  accountNumber: string('The account number to pay to.').optional(),
  routingNumber: string("The bank's ABA routing number.").optional(),
  bankName: string('The name of the bank that holds the account.').optional(),
  referenceCode: string('The reference that the payment must contain, exactly as given.').optional(),
  address: string('The address of the wallet to pay to.').optional(),
  invoice: string('The Lightning invoice to pay.').optional(),
  accountOrWalletInfo: z
    .object({
      accountType: oneOf(ExternalAccountType, 'The type of the account or wallet.'),
    })
    .catchall(z.string())
    .describe('The same data in nested form, with all fields of the account type.'),
}).describe('A payment instruction for a deposit. If there are several, use any one of them.');

const RateDetailsSchema = responseObject('RateDetails', {
  counterpartyMultiplier: rate('Smallest units of the receiving currency per millisatoshi.', 0.0001).optional(),
  counterpartyFixedFee: amount("The receiving side's fixed fee, in the receiving currency.", 0).optional(),
  serviceApiMultiplier: rate('Millisatoshis per smallest unit of the sending currency.', 10_000).optional(),
  serviceApiFixedFee: amount("The service's fixed fee, in the sending currency.", 5).optional(),
  serviceApiVariableFeeRate: rate("The service's variable fee as a fraction: 0.004 is 0.4 %.", 0.004).optional(),
  serviceApiVariableFeeAmount: amount('The variable fee as an amount, in the sending currency.', 50).optional(),
}).describe('The parts of a price: multipliers and fees.');

const exchangeRate = rate(
  'Units of the sending currency per unit of the receiving currency, in major units and without fees; at most 15 digits.',
);

export const QuoteSchema = responseObject('Quote', {
  quoteId: id('Quote', 'The id of the quote.'),
  status: oneOf(QuoteStatus, "The quote's status."),
  createdAt: time('When the quote was created.', '2026-01-31T09:25:00.000Z'),
  expiresAt: time("When the quote expires, by the service's clock. Until then it can be executed or funded."),
  source: SourceSchema,
  destination: DestinationSchema,
  sendingCurrency: CurrencySchema,
  receivingCurrency: CurrencySchema,
  totalSendingAmount: amount(
    'The amount debited from the source, fees included, in the smallest unit of the sending currency.',
  ),
  totalReceivingAmount: amount('The exact amount that arrives, in the smallest unit of the receiving currency.', 12495),
  exchangeRate,
  feesIncluded: amount('All fees, in the smallest unit of the sending currency.', 55),
  transactionId: id('Transaction', 'The payment that was created together with the quote.'),
  paymentInstructions: listOf(PaymentInstructionSchema)
    .optional()
    .describe('The ways to fund the quote; absent if it is paid from an account. Use any one of them.'),
  rateDetails: RateDetailsSchema.optional(),
  description: string('A note for the payment, given by its sender.').optional(),
  metadata,
}).describe('An offer to send money at a rate and with fees that are locked until it expires.');

export const TransactionSchema = responseObject('Transaction', {
  id: id('Transaction', 'The id of the transaction.'),
  status: oneOf(TransactionStatus, "The transaction's status."),
  type: oneOf(TransactionType, 'The direction of the payment, as seen by the customer.'),
  sentAmount: AmountSchema.optional(),
  receivedAmount: AmountSchema.optional(),
  source: SourceSchema.optional(),
  destination: DestinationSchema,
  customerId: id('Customer', "The customer whose payment this is; null if it is the platform's own.").nullable(),
  platformCustomerId: string("The platform's own id for the customer.").nullable(),
  quoteId: id('Quote', "The payment's quote.").optional(),
  exchangeRate: exchangeRate.optional(),
  fees: amount('All fees, in the smallest unit of the sending currency.', 55).optional(),
  rateDetails: RateDetailsSchema.optional(),
  reconciliationInstructions: z
    .object({ reference: string('The reference by which both sides identify the payment.') })
    .optional()
    .describe('How to reconcile the payment; present in every status except CREATED.'),
  failureReason: oneOf(FailureReason, 'Why the payment failed; always present if FAILED.').optional(),
  approvalDueAt: time('The latest time at which the payment can be approved or rejected.').optional(),
  createdById: string('The token that requested the payment (`ApiToken:…` or `ClientToken:…`).').optional(),
  decidedById: id('ApiToken', 'The token that approved or rejected the payment.').optional(),
  refund: z
    .object({
      reference: string("The refund's reference, for reconciliation."),
      initiatedAt: time('When the refund was started.'),
      settledAt: time('When the refund arrived.').optional(),
    })
    .optional()
    .describe('The refund of a payment that was not delivered, or that was returned after delivery.'),
  counterpartyInformation: z
    .record(z.string(), z.string())
    .optional()
    .describe('Information about the counterparty, for payments to or from UMA addresses.'),
  description: string('A note for the payment, given by its sender.').optional(),
  metadata,
  settledAt: time('When the payment was delivered; null until then.').nullable(),
  createdAt: time('When the transaction was created.'),
  updatedAt: time('When the transaction last changed.'),
  paymentInstructions: listOf(PaymentInstructionSchema)
    .optional()
    .describe('How the payment could be funded; present only in the response to /sandbox/send.'),
}).describe('A payment, outgoing or incoming.');
