import { z } from '@hono/zod-openapi';
import {
  ExternalAccountType,
  FailureReason,
  QuoteStatus,
  TransactionStatus,
  TransactionType,
} from '../../../infra/database/generated/client/client.ts';
import { listed } from './list-of.ts';
import { metadata } from './metadata.ts';
import { AmountSchema, amount, CurrencySchema, id, rate, time } from './money.ts';

// The schemas of quotes and transactions in responses (specification 2.3 to 2.7).

const currencyCode = z.string().openapi({ description: 'Currency code.', example: 'USD' });

const AccountSource = z
  .object({
    sourceType: z.literal('ACCOUNT').describe('The money comes from an account.'),
    accountId: id('InternalAccount', 'The account that pays.'),
    customerId: id('Customer', 'Its owner.').optional(),
    currency: currencyCode,
  })
  .openapi('AccountSource');

const RealtimeFundingSource = z
  .object({
    sourceType: z.literal('REALTIME_FUNDING').describe('A deposit for this payment alone.'),
    customerId: id('Customer', 'The customer who makes the deposit.').optional(),
    currency: currencyCode,
  })
  .openapi('RealtimeFundingSource');

const UmaSource = z
  .object({
    sourceType: z.literal('UMA_ADDRESS').describe('The money comes from a UMA address.'),
    umaAddress: z.string().describe('$name@domain.'),
    currency: currencyCode,
  })
  .openapi('UmaSource');

const SourceSchema = z
  .discriminatedUnion('sourceType', [AccountSource, RealtimeFundingSource, UmaSource])
  .openapi('PaymentSource', { description: 'Where the money comes from.' });

const AccountDestination = z
  .object({
    destinationType: z.literal('ACCOUNT').describe('The money goes to an account.'),
    accountId: id('ExternalAccount', 'The account that receives.'),
    currency: currencyCode,
  })
  .openapi('AccountDestination');

const UmaDestination = z
  .object({
    destinationType: z.literal('UMA_ADDRESS').describe('The money goes to a UMA address.'),
    umaAddress: z.string().describe('$name@domain.'),
    currency: currencyCode,
  })
  .openapi('UmaDestination');

const DestinationSchema = z
  .discriminatedUnion('destinationType', [AccountDestination, UmaDestination])
  .openapi('PaymentDestination', { description: 'Where the money goes.' });

/** A way to make a deposit, in both of its forms (decision 10). */
export const PaymentInstructionSchema = z
  .object({
    accountType: z.enum(ExternalAccountType).describe('The type of the account or wallet to pay to.'),
    accountNumber: z.string().optional().describe('Account number to pay to.'),
    routingNumber: z.string().optional().describe('ABA routing number.'),
    bankName: z.string().optional().describe('Name of the bank.'),
    referenceCode: z.string().optional().describe('The reference that the payment must contain exactly.'),
    address: z.string().optional().describe('Address of the wallet.'),
    invoice: z.string().optional().describe('Lightning invoice.'),
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
    counterpartyMultiplier: rate('Receiving smallest units per millisatoshi.').optional(),
    counterpartyFixedFee: amount('Fixed fee of the receiving side, in the receiving currency.').optional(),
    serviceApiMultiplier: rate('Millisatoshi per sending smallest unit.').optional(),
    serviceApiFixedFee: amount('Fixed fee of the service, in the sending currency.').optional(),
    serviceApiVariableFeeRate: rate(
      'Rate of the variable fee of the service, as a fraction: 0.003 is 0.3 %.',
    ).optional(),
    serviceApiVariableFeeAmount: amount('Amount of the variable fee, in the sending currency.').optional(),
  })
  .openapi('RateDetails', { description: 'The parts of a price.' });

const exchangeRate = rate(
  'Sending currency units per receiving currency unit, in major units, fee-exclusive; at most 15 digits.',
);

/** A quote in a response. */
export const QuoteSchema = z
  .object({
    quoteId: id('Quote', 'Its id.'),
    status: z.enum(QuoteStatus).describe('Its status.'),
    createdAt: time('When it was created.'),
    expiresAt: time("When it can no longer be executed or funded, by the service's clock."),
    source: SourceSchema,
    destination: DestinationSchema,
    sendingCurrency: CurrencySchema,
    receivingCurrency: CurrencySchema,
    totalSendingAmount: amount('The debit of the source, fees included; smallest unit of the sending currency.'),
    totalReceivingAmount: amount('The amount that arrives, exactly; smallest unit of the receiving currency.'),
    exchangeRate,
    feesIncluded: amount('All fees, in the smallest unit of the sending currency.'),
    transactionId: id('Transaction', 'The transaction created with it.'),
    paymentInstructions: listed(PaymentInstructionSchema)
      .optional()
      .describe('How to fund it; absent when it is paid from an account.'),
    rateDetails: RateDetailsSchema.optional(),
    description: z.string().optional().describe('Memo.'),
    metadata,
  })
  .openapi('Quote', { description: 'A locked rate with its fees, until it expires.' });

/** A transaction in a response. */
export const TransactionSchema = z
  .object({
    id: id('Transaction', 'Its id.'),
    status: z.enum(TransactionStatus).describe('Its status.'),
    type: z.enum(TransactionType).describe('The direction of the payment.'),
    sentAmount: AmountSchema.optional(),
    receivedAmount: AmountSchema.optional(),
    source: SourceSchema.optional(),
    destination: DestinationSchema,
    customerId: id('Customer', "The customer whose payment it is; null when it is the platform's own.").nullable(),
    platformCustomerId: z.string().nullable().describe("The platform's own id of that customer."),
    quoteId: id('Quote', 'The quote that it executes.').optional(),
    exchangeRate: exchangeRate.optional(),
    fees: amount('All fees, in the smallest unit of the sending currency.').optional(),
    rateDetails: RateDetailsSchema.optional(),
    reconciliationInstructions: z
      .object({ reference: z.string().describe('The reference that the payment carries on both sides.') })
      .optional()
      .describe('How to reconcile the payment; present in every status except CREATED.'),
    failureReason: z.enum(FailureReason).optional().describe('Why it failed; always present in the status FAILED.'),
    refund: z
      .object({
        reference: z.string().describe('The reference for reconciliation.'),
        initiatedAt: time('When it was started.'),
        settledAt: time('When it arrived.').optional(),
      })
      .optional()
      .describe('The refund to the source.'),
    counterpartyInformation: z
      .record(z.string(), z.string())
      .optional()
      .describe('Information about the counterparty, for payments to or from UMA addresses.'),
    description: z.string().optional().describe('Memo.'),
    metadata,
    settledAt: time('When it was settled; null until then.').nullable(),
    createdAt: time('When it was created.'),
    updatedAt: time('When it last changed.'),
    paymentInstructions: listed(PaymentInstructionSchema)
      .optional()
      .describe('The ways to fund it; only in the response of /sandbox/send.'),
  })
  .openapi('Transaction', { description: 'A payment, out or in.' });
