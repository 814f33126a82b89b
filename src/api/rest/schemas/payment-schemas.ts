import { z } from '@hono/zod-openapi';
import {
  ExternalAccountType,
  FailureReason,
  QuoteStatus,
  TransactionStatus,
  TransactionType,
} from '../../../infra/database/generated/client/client.ts';
import { AmountSchema, amount, CurrencySchema, id, listed, metadata, rate, time } from './fields.ts';

// Defines the schemas of quotes and transactions in responses (specification 2.3 to 2.7).

const currencyCode = z.string().openapi({ description: 'The currency code.', example: 'USD' });

const AccountSource = z
  .object({
    sourceType: z.literal('ACCOUNT').describe('The source type: an account.'),
    accountId: id('InternalAccount', 'The account that pays.'),
    customerId: id('Customer', 'The customer who owns the account.').optional(),
    currency: currencyCode,
  })
  .openapi('AccountSource');

const RealtimeFundingSource = z
  .object({
    sourceType: z.literal('REALTIME_FUNDING').describe('The source type: a deposit made for this payment only.'),
    customerId: id('Customer', 'The customer who makes the deposit.').optional(),
    currency: currencyCode,
  })
  .openapi('RealtimeFundingSource');

const UmaSource = z
  .object({
    sourceType: z.literal('UMA_ADDRESS').describe('The source type: a UMA address.'),
    umaAddress: z.string().describe('The UMA address: $name@domain.'),
    currency: currencyCode,
  })
  .openapi('UmaSource');

const SourceSchema = z
  .discriminatedUnion('sourceType', [AccountSource, RealtimeFundingSource, UmaSource])
  .openapi('PaymentSource', { description: 'Where the money comes from.' });

const AccountDestination = z
  .object({
    destinationType: z.literal('ACCOUNT').describe('The destination type: an account.'),
    accountId: id('ExternalAccount', 'The account that receives.'),
    currency: currencyCode,
  })
  .openapi('AccountDestination');

const UmaDestination = z
  .object({
    destinationType: z.literal('UMA_ADDRESS').describe('The destination type: a UMA address.'),
    umaAddress: z.string().describe('The UMA address: $name@domain.'),
    currency: currencyCode,
  })
  .openapi('UmaDestination');

const DestinationSchema = z
  .discriminatedUnion('destinationType', [AccountDestination, UmaDestination])
  .openapi('PaymentDestination', { description: 'Where the money goes.' });

/** A way to make a deposit, in both forms (decision 10). */
export const PaymentInstructionSchema = z
  .object({
    accountType: z.enum(ExternalAccountType).describe('The type of the account or wallet to pay to.'),
    accountNumber: z.string().optional().describe('The account number to pay to.'),
    routingNumber: z.string().optional().describe("The bank's ABA routing number."),
    bankName: z.string().optional().describe('The name of the bank that holds the account.'),
    referenceCode: z.string().optional().describe('The reference that the payment must contain exactly.'),
    address: z.string().optional().describe('The address of the wallet to pay to.'),
    invoice: z.string().optional().describe('The Lightning invoice to pay.'),
    accountOrWalletInfo: z
      .object({
        accountType: z.enum(ExternalAccountType).describe('The type of the account or wallet.'),
      })
      .catchall(z.string())
      .describe('The same data in the nested form, with every field of the type.'),
  })
  .openapi('PaymentInstruction', {
    description: 'A payment instruction for a deposit. If there are several, use any one of them.',
  });

const RateDetailsSchema = z
  .object({
    counterpartyMultiplier: rate('Smallest units of the receiving currency per millisatoshi.').optional(),
    counterpartyFixedFee: amount("The receiving side's fixed fee, in the receiving currency.").optional(),
    serviceApiMultiplier: rate('Millisatoshi per smallest unit of the sending currency.').optional(),
    serviceApiFixedFee: amount("The service's fixed fee, in the sending currency.").optional(),
    serviceApiVariableFeeRate: rate("The service's variable fee as a fraction: 0.003 is 0.3 %.").optional(),
    serviceApiVariableFeeAmount: amount('The variable fee as an amount, in the sending currency.').optional(),
  })
  .openapi('RateDetails', { description: 'The parts of a price: multipliers and fees.' });

const exchangeRate = rate(
  'Units of the sending currency per unit of the receiving currency, in major units and without fees; at most 15 digits.',
);

export const QuoteSchema = z
  .object({
    quoteId: id('Quote', 'The id of the quote.'),
    status: z.enum(QuoteStatus).describe("The quote's status."),
    createdAt: time('When the quote was created.'),
    expiresAt: time("When the quote expires, by the service's clock. Until then it can be executed or funded."),
    source: SourceSchema,
    destination: DestinationSchema,
    sendingCurrency: CurrencySchema,
    receivingCurrency: CurrencySchema,
    totalSendingAmount: amount(
      'The amount debited from the source, fees included, in the smallest unit of the sending currency.',
    ),
    totalReceivingAmount: amount('The exact amount that arrives, in the smallest unit of the receiving currency.'),
    exchangeRate,
    feesIncluded: amount('All fees, in the smallest unit of the sending currency.'),
    transactionId: id('Transaction', "The quote's payment, created together with it."),
    paymentInstructions: listed(PaymentInstructionSchema)
      .optional()
      .describe('The ways to fund the quote. Use any one of them. Absent if the quote is paid from an account.'),
    rateDetails: RateDetailsSchema.optional(),
    description: z.string().optional().describe('A note for the payment, given by its sender.'),
    metadata,
  })
  .openapi('Quote', {
    description: 'An offer to send money at a locked rate and with locked fees, valid until it expires.',
  });

export const TransactionSchema = z
  .object({
    id: id('Transaction', 'The id of the transaction.'),
    status: z.enum(TransactionStatus).describe("The transaction's status."),
    type: z.enum(TransactionType).describe('The direction of the payment, as seen by the customer.'),
    sentAmount: AmountSchema.optional(),
    receivedAmount: AmountSchema.optional(),
    source: SourceSchema.optional(),
    destination: DestinationSchema,
    customerId: id('Customer', "The customer whose payment this is; null if it is the platform's own.").nullable(),
    platformCustomerId: z.string().nullable().describe("The platform's own id for the customer."),
    quoteId: id('Quote', "The payment's quote.").optional(),
    exchangeRate: exchangeRate.optional(),
    fees: amount('All fees, in the smallest unit of the sending currency.').optional(),
    rateDetails: RateDetailsSchema.optional(),
    reconciliationInstructions: z
      .object({ reference: z.string().describe('The reference by which both sides identify the payment.') })
      .optional()
      .describe('How to reconcile the payment; present in every status except CREATED.'),
    failureReason: z.enum(FailureReason).optional().describe('Why the payment failed; always present if FAILED.'),
    approvalDueAt: time('The latest time at which the payment can be approved or rejected.').optional(),
    createdById: z.string().optional().describe('The token that began the payment: ApiToken:… or ClientToken:…'),
    decidedById: id('ApiToken', 'The token that approved or rejected the payment.').optional(),
    refund: z
      .object({
        reference: z.string().describe("The refund's reference, for reconciliation."),
        initiatedAt: time('When the refund was started.'),
        settledAt: time('When the refund arrived.').optional(),
      })
      .optional()
      .describe('The refund: where the money went if it was not delivered, or was returned after delivery.'),
    counterpartyInformation: z
      .record(z.string(), z.string())
      .optional()
      .describe('Information about the counterparty, for payments to or from UMA addresses.'),
    description: z.string().optional().describe('A note for the payment, given by its sender.'),
    metadata,
    settledAt: time('When the payment was delivered; null until then.').nullable(),
    createdAt: time('When the transaction was created.'),
    updatedAt: time('When the transaction last changed.'),
    paymentInstructions: listed(PaymentInstructionSchema)
      .optional()
      .describe('How the payment could be funded; only in the response of /sandbox/send.'),
  })
  .openapi('Transaction', { description: 'A payment, outgoing or incoming.' });
