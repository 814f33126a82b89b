import { publicId } from '../core/ids.ts';
import type { Transaction } from '../database/rows.ts';
import { trustedJson } from '../database/trusted-json.ts';
import type { Metadata } from '../payments/metadata.ts';
import type { InstructionRecord } from './instruction-record.ts';
import { metadataRecord } from './metadata-record.ts';
import { type AmountRecord, amountRecord, jsonInteger, jsonNumber } from './numbers.ts';
import {
  type DestinationRecord,
  destinationRecord,
  type PaymentParties,
  type SourceRecord,
  sourceRecord,
} from './payment-parties.ts';
import { type RateDetailsRecord, rateDetailsRecord } from './rate-details-record.ts';

/** A payment (specification 2.6): in REST's answers and in the bodies of webhooks. */
export interface TransactionRecord {
  readonly id: string;
  readonly status: Transaction['status'];
  readonly type: Transaction['type'];
  readonly sentAmount?: AmountRecord;
  readonly receivedAmount?: AmountRecord;
  readonly source?: SourceRecord;
  readonly destination: DestinationRecord;
  readonly customerId: string | null;
  readonly platformCustomerId: string | null;
  readonly quoteId?: string;
  readonly exchangeRate?: number;
  readonly fees?: number;
  readonly rateDetails?: RateDetailsRecord;
  readonly reconciliationInstructions?: { readonly reference: string };
  readonly failureReason?: NonNullable<Transaction['failureReason']>;
  readonly refund?: { readonly reference: string; readonly initiatedAt: string; readonly settledAt?: string };
  readonly counterpartyInformation?: Record<string, string>;
  readonly description?: string;
  readonly metadata?: Metadata;
  readonly settledAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Only in the answer of sandbox/send (specification 4.7). */
  readonly paymentInstructions?: InstructionRecord[];
}

/**
 * Converts a row to the record of a transaction (decisions 3, 13). Unknown fields are left out, except `settledAt` and
 * the two ids of a platform's own payment, which are null.
 * @throws UnrepresentableAmount beyond 2^53
 */
export function transactionRecord(row: Transaction, parties: PaymentParties): TransactionRecord {
  const source = sourceRecord(row, parties, {
    currency: row.sentCurrency ?? row.receivedCurrency,
    umaAddress: row.sourceUmaAddress,
    withCustomer: false,
  });
  const rateDetails = rateDetailsRecord(row.rateDetails);
  const counterparty = trustedJson<Record<string, string>>(row.counterpartyInformation);
  return {
    id: publicId('Transaction', row.id),
    status: row.status,
    type: row.type,
    ...(row.sentAmount !== null &&
      row.sentCurrency !== null && { sentAmount: amountRecord(row.sentAmount, row.sentCurrency) }),
    ...(row.receivedAmount !== null && { receivedAmount: amountRecord(row.receivedAmount, row.receivedCurrency) }),
    ...(source && { source }),
    destination: destinationRecord(row, parties, row.receivedCurrency),
    customerId: row.customerId === null ? null : publicId('Customer', row.customerId),
    platformCustomerId: parties.customer?.platformCustomerId ?? null,
    ...(row.quoteId !== null && { quoteId: publicId('Quote', row.quoteId) }),
    ...(row.exchangeRate !== null && { exchangeRate: jsonNumber(row.exchangeRate.toFixed()) }),
    ...(row.fees !== null && { fees: jsonInteger(row.fees) }),
    ...(rateDetails && { rateDetails }),
    ...(row.status !== 'CREATED' && { reconciliationInstructions: { reference: row.reference } }),
    ...(row.failureReason !== null && { failureReason: row.failureReason }),
    ...refundOf(row),
    ...(Object.keys(counterparty).length > 0 && { counterpartyInformation: counterparty }),
    ...(row.description !== null && { description: row.description }),
    ...metadataRecord(row),
    settledAt: row.settledAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

function refundOf({
  refundReference,
  refundInitiatedAt,
  refundSettledAt,
}: Transaction): Pick<TransactionRecord, 'refund'> {
  if (refundReference === null || refundInitiatedAt === null) return {};
  return {
    refund: {
      reference: refundReference,
      initiatedAt: refundInitiatedAt.toISOString(),
      ...(refundSettledAt && { settledAt: refundSettledAt.toISOString() }),
    },
  };
}
