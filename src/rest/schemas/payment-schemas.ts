import { z } from '@hono/zod-openapi';
import {
  ExternalAccountType,
  FailureReason,
  QuoteStatus,
  TransactionStatus,
  TransactionType,
} from '../../database/generated/client/client.ts';
import { AmountSchema, amount, CurrencySchema, id, time } from './money.ts';

/** The schemas of quotes and transactions in answers (specification 2.3 to 2.7). */

const currencyCode = z.string().openapi({ description: 'Currency code.', example: 'USD' });

const AccountSource = z
  .object({
    sourceType: z.literal('ACCOUNT').openapi({ description: 'It comes from an account.' }),
    accountId: id('InternalAccount', 'The account that pays.'),
    customerId: id('Customer', 'Its owner.').optional(),
    currency: currencyCode,
  })
  .openapi('AccountSource');

const RealtimeFundingSource = z
  .object({
    sourceType: z
      .literal('REALTIME_FUNDING')
      .openapi({ description: 'It is paid in from outside, for this payment alone.' }),
    customerId: id('Customer', 'Who pays in.').optional(),
    currency: currencyCode,
  })
  .openapi('RealtimeFundingSource');

const UmaSource = z
  .object({
    sourceType: z.literal('UMA_ADDRESS').openapi({ description: 'It comes from a UMA address.' }),
    umaAddress: z.string().openapi({ description: '$name@domain.' }),
    currency: currencyCode,
  })
  .openapi('UmaSource');

const SourceSchema = z
  .discriminatedUnion('sourceType', [AccountSource, RealtimeFundingSource, UmaSource])
  .openapi('PaymentSource', { description: 'Where the money comes from (specification 2.7).' });

const AccountDestination = z
  .object({
    destinationType: z.literal('ACCOUNT').openapi({ description: 'It goes to an account.' }),
    accountId: id('ExternalAccount', 'The account that receives.'),
    currency: currencyCode,
  })
  .openapi('AccountDestination');

const UmaDestination = z
  .object({
    destinationType: z.literal('UMA_ADDRESS').openapi({ description: 'It goes to a UMA address.' }),
    umaAddress: z.string().openapi({ description: '$name@domain.' }),
    currency: currencyCode,
  })
  .openapi('UmaDestination');

const DestinationSchema = z
  .discriminatedUnion('destinationType', [AccountDestination, UmaDestination])
  .openapi('PaymentDestination', { description: 'Where the money goes (specification 2.7).' });

/** A way to pay money in, in both of its forms (decision 10). */
export const PaymentInstructionSchema = z
  .object({
    accountType: z.enum(ExternalAccountType).openapi({ description: 'What kind of account or wallet to pay to.' }),
    accountNumber: z.string().optional().openapi({ description: 'Account number to pay to.' }),
    routingNumber: z.string().optional().openapi({ description: 'ABA routing number.' }),
    bankName: z.string().optional().openapi({ description: 'Name of the bank.' }),
    referenceCode: z.string().optional().openapi({ description: 'Must be given exactly so with the payment.' }),
    address: z.string().optional().openapi({ description: 'Address of the wallet.' }),
    invoice: z.string().optional().openapi({ description: 'Lightning invoice.' }),
    accountOrWalletInfo: z
      .object({ accountType: z.enum(ExternalAccountType).openapi({ description: 'What kind of account or wallet.' }) })
      .catchall(z.string())
      .openapi({ description: 'The same in the nested form, with every detail of the kind.' }),
  })
  .openapi('PaymentInstruction', {
    description: 'A way to pay money in (specification 2.4); any one of several does.',
  });

const RateDetailsSchema = z
  .object({
    counterpartyMultiplier: z
      .number()
      .optional()
      .openapi({ description: 'Receiving smallest units per millisatoshi.' }),
    counterpartyFixedFee: amount('Fixed fee of the receiving side, in the receiving currency.').optional(),
    serviceApiMultiplier: z.number().optional().openapi({ description: 'Millisatoshi per sending smallest unit.' }),
    serviceApiFixedFee: amount('Fixed fee of the service, in the sending currency.').optional(),
    serviceApiVariableFeeRate: z.number().optional().openapi({ description: 'A fraction: 0.003 is 0.3 %.' }),
    serviceApiVariableFeeAmount: amount('What the variable fee comes to, in the sending currency.').optional(),
  })
  .openapi('RateDetails', { description: 'What a price is made of (specification 2.5).' });

const exchangeRate = z.number().openapi({
  description: 'Sending currency units per receiving currency unit, in major units, fee-exclusive; at most 15 digits.',
});

/** A quote in an answer. */
export const QuoteSchema = z
  .object({
    quoteId: id('Quote', 'Its id.'),
    status: z.enum(QuoteStatus).openapi({ description: 'Where it stands (specification 3.1).' }),
    createdAt: time('When it was made.'),
    expiresAt: time("Until when it can be executed or funded, by the service's clock."),
    source: SourceSchema,
    destination: DestinationSchema,
    sendingCurrency: CurrencySchema,
    receivingCurrency: CurrencySchema,
    totalSendingAmount: amount('What the source is debited, fees included; smallest unit of the sending currency.'),
    totalReceivingAmount: amount('Exactly what arrives; smallest unit of the receiving currency.'),
    exchangeRate,
    feesIncluded: amount('All fees, in the smallest unit of the sending currency.').min(0),
    transactionId: id('Transaction', 'The transaction created with it.'),
    paymentInstructions: z
      .array(PaymentInstructionSchema)
      .optional()
      .openapi({ description: 'How to fund it; not there when it is paid from an account.' }),
    rateDetails: RateDetailsSchema.optional(),
    description: z.string().optional().openapi({ description: 'Memo.' }),
  })
  .openapi('Quote', { description: 'A locked rate with its fees, until it expires (specification 2.3).' });

/** A transaction in an answer. */
export const TransactionSchema = z
  .object({
    id: id('Transaction', 'Its id.'),
    status: z.enum(TransactionStatus).openapi({ description: 'Where it stands (specification 3.2).' }),
    type: z.enum(TransactionType).openapi({ description: 'Which way the money goes.' }),
    sentAmount: AmountSchema.optional(),
    receivedAmount: AmountSchema.optional(),
    source: SourceSchema.optional(),
    destination: DestinationSchema,
    customerId: id('Customer', "The customer whose payment it is; null when it is the platform's own.").nullable(),
    platformCustomerId: z.string().nullable().openapi({ description: "The platform's own id of that customer." }),
    quoteId: id('Quote', 'The quote behind it.').optional(),
    exchangeRate: exchangeRate.optional(),
    fees: amount('All fees, in the smallest unit of the sending currency.').min(0).optional(),
    rateDetails: RateDetailsSchema.optional(),
    reconciliationInstructions: z
      .object({ reference: z.string().openapi({ description: 'What both sides write on the payment.' }) })
      .optional()
      .openapi({ description: 'How to find the payment again; there for every status but CREATED.' }),
    failureReason: z
      .enum(FailureReason)
      .optional()
      .openapi({ description: 'Why it failed; always there on a FAILED one.' }),
    refund: z
      .object({
        reference: z.string().openapi({ description: 'To find it again.' }),
        initiatedAt: time('When it was started.'),
        settledAt: time('When it had arrived.').optional(),
      })
      .optional()
      .openapi({ description: 'Money that came back to the source.' }),
    counterpartyInformation: z
      .record(z.string(), z.string())
      .optional()
      .openapi({ description: 'What is known of the other side, for payments to or from UMA addresses.' }),
    description: z.string().optional().openapi({ description: 'Memo.' }),
    settledAt: time('When it was settled; null until then.').nullable(),
    createdAt: time('When it was made.'),
    updatedAt: time('When it last changed.'),
    paymentInstructions: z
      .array(PaymentInstructionSchema)
      .optional()
      .openapi({ description: 'How it could be paid in: in the answer of sandbox/send only.' }),
  })
  .openapi('Transaction', { description: 'A payment, out or in (specification 2.6).' });
