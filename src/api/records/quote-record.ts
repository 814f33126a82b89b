import { publicId } from '../../core/ids.ts';
import { type Quote, trustedJson } from '../../infra/database/rows.ts';
import { metadataRecord } from './fields.ts';
import { instructionRecords } from './instruction-record.ts';
import { currencyRecord, jsonInteger, jsonNumber } from './numbers.ts';
import { destinationRecord, type PaymentParties, sourceRecord } from './payment-parties.ts';
import { rateDetailsRecord } from './rate-details-record.ts';

/**
 * Converts a row to the record of a quote (specification 2.3). Quotes that are paid from outside have `paymentInstructions`.
 * @throws UnrepresentableAmount beyond 2^53
 */
export function quoteRecord(row: Quote, parties: PaymentParties) {
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
