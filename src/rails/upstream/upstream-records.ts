import { z } from 'zod';

/** The parts of the specification's records that the upstream rail reads. Other fields are allowed. */

const wholeAmount = z.number().int().nonnegative();

const amount = z.object({ amount: wholeAmount, currency: z.object({ code: z.string() }) });

/** One side of an upstream payment: an account, or a UMA address. */
const end = z.object({ accountId: z.string().optional(), umaAddress: z.string().optional() });

export const transactionRecord = z.object({
  id: z.string(),
  status: z.enum(['CREATED', 'PENDING', 'PROCESSING', 'COMPLETED', 'REJECTED', 'FAILED', 'REFUNDED', 'EXPIRED']),
  type: z.enum(['INCOMING', 'OUTGOING']).optional(),
  createdAt: z.iso.datetime({ offset: true }).optional(),
  description: z.string().optional(),
  receivedAmount: amount,
  sentAmount: amount.optional(),
  source: end.optional(),
  destination: end.optional(),
  quoteId: z.string().optional(),
  failureReason: z.string().optional(),
  refund: z.object({ settledAt: z.string().nullish() }).optional(),
});
export type TransactionRecord = z.infer<typeof transactionRecord>;

export const transactionPage = z.object({
  data: z.array(transactionRecord),
  hasMore: z.boolean(),
  nextCursor: z.string().optional(),
});

export const externalAccountRecord = z.object({
  id: z.string(),
  status: z.enum(['PENDING', 'ACTIVE', 'UNDER_REVIEW', 'INACTIVE']),
  currency: z.string(),
  accountInfo: z.looseObject({ accountType: z.string() }),
  beneficiaryVerificationStatus: z
    .enum(['MATCHED', 'PARTIAL_MATCH', 'NOT_MATCHED', 'UNSUPPORTED', 'CHECKED_BY_RECEIVING_FI', 'PENDING'])
    .nullish(),
  beneficiaryVerifiedData: z.object({ fullName: z.string().optional() }).nullish(),
});
export type ExternalAccountRecord = z.infer<typeof externalAccountRecord>;

export const externalAccountList = z.object({ data: z.array(externalAccountRecord) });

export const internalAccountList = z.object({ data: z.array(z.object({ id: z.string(), balance: amount })) });

export const customerRecord = z.object({ id: z.string(), kycStatus: z.string() });

export const customerPage = z.object({ data: z.array(customerRecord) });

export const quoteRecord = z.object({
  quoteId: z.string(),
  createdAt: z.iso.datetime({ offset: true }),
  expiresAt: z.iso.datetime({ offset: true }),
  sendingCurrency: z.object({ code: z.string() }),
  receivingCurrency: z.object({ code: z.string() }),
  totalSendingAmount: wholeAmount,
  totalReceivingAmount: wholeAmount,
  exchangeRate: z.number().positive(),
  feesIncluded: wholeAmount,
  transactionId: z.string(),
});
export type QuoteRecord = z.infer<typeof quoteRecord>;

export const paidFromQuote = z.object({
  source: z.object({ accountId: z.string() }),
  sendingCurrency: z.object({ code: z.string() }),
});

export const receiverRecord = z.object({
  id: z.string(),
  receiver: z.object({ vaspName: z.string().optional() }),
  supportedCurrencies: z.array(z.object({ code: z.string(), min: wholeAmount, max: wholeAmount })),
  requiredPayerFields: z.array(z.string()),
});

export const rateList = z.object({
  data: z.array(
    z.object({
      destinationCurrency: z.object({ code: z.string() }),
      exchangeRate: z.number().positive(),
      sendingAmount: wholeAmount,
      minSendingAmount: wholeAmount,
      maxSendingAmount: wholeAmount,
      fees: z.object({ fixed: wholeAmount, total: wholeAmount }),
    }),
  ),
});
