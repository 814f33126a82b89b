import { publicId } from '../core/ids.ts';
import type { Quote } from '../database/rows.ts';
import { trustedJson } from '../database/trusted-json.ts';
import type { Metadata } from '../payments/metadata.ts';
import { type InstructionRecord, instructionRecords } from './instruction-record.ts';
import { metadataRecord } from './metadata-record.ts';
import { type CurrencyRecord, currencyRecord, jsonInteger, jsonNumber } from './numbers.ts';
import {
  type DestinationRecord,
  destinationRecord,
  type PaymentParties,
  type SourceRecord,
  sourceRecord,
} from './payment-parties.ts';
import { type RateDetailsRecord, rateDetailsRecord } from './rate-details-record.ts';

/** A quote (specification 2.3). */
export interface QuoteRecord {
  readonly quoteId: string;
  readonly status: Quote['status'];
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly source: SourceRecord;
  readonly destination: DestinationRecord;
  readonly sendingCurrency: CurrencyRecord;
  readonly receivingCurrency: CurrencyRecord;
  readonly totalSendingAmount: number;
  readonly totalReceivingAmount: number;
  readonly exchangeRate: number;
  readonly feesIncluded: number;
  readonly transactionId: string;
  readonly paymentInstructions?: InstructionRecord[];
  readonly rateDetails?: RateDetailsRecord;
  readonly description?: string;
  readonly metadata?: Metadata;
}

/**
 * Converts a row to the record of a quote. Quotes that are paid from outside have `paymentInstructions`.
 * @throws UnrepresentableAmount beyond 2^53
 */
export function quoteRecord(row: Quote, parties: PaymentParties): QuoteRecord {
  const source = sourceRecord(row, parties, { currency: row.sendingCurrency, umaAddress: null, withCustomer: true });
  if (!source) throw new Error(`quote ${row.id} has no source`);
  const rateDetails = rateDetailsRecord(trustedJson<{ readonly rateDetails?: unknown }>(row.pricing).rateDetails);
  return {
    quoteId: publicId('Quote', row.id),
    status: row.status,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    source,
    destination: destinationRecord(row, parties, row.receivingCurrency),
    sendingCurrency: currencyRecord(row.sendingCurrency),
    receivingCurrency: currencyRecord(row.receivingCurrency),
    totalSendingAmount: jsonInteger(row.totalSendingAmount),
    totalReceivingAmount: jsonInteger(row.totalReceivingAmount),
    exchangeRate: jsonNumber(row.exchangeRate.toFixed()),
    feesIncluded: jsonInteger(row.feesIncluded),
    transactionId: publicId('Transaction', row.transactionId),
    ...(row.sourceKind !== 'ACCOUNT' && { paymentInstructions: instructionRecords(row.paymentInstructions) }),
    ...(rateDetails && { rateDetails }),
    ...(row.description !== null && { description: row.description }),
    ...metadataRecord(row),
  };
}
