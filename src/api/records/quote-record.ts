import { publicId } from '../../core/ids.ts';
import { type Quote, trustedJson } from '../../infra/database/rows.ts';
import { currencyRecord, jsonInteger, jsonNumber, metadataRecord } from './fields.ts';
import { instructionRecords } from './instruction-record.ts';
import { destinationRecord, type PaymentParties, sourceRecord } from './payment-parties.ts';

/** Converts a row to a quote's record (specification 2.3). Throws UnrepresentableAmount beyond 2^53. */
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

interface RateDetailsRecord {
  readonly counterpartyMultiplier?: number;
  readonly counterpartyFixedFee?: number;
  readonly serviceApiMultiplier?: number;
  readonly serviceApiFixedFee?: number;
  readonly serviceApiVariableFeeRate?: number;
  readonly serviceApiVariableFeeAmount?: number;
}

const decimals = ['counterpartyMultiplier', 'serviceApiMultiplier', 'serviceApiVariableFeeRate'] as const;
const amounts = ['counterpartyFixedFee', 'serviceApiFixedFee', 'serviceApiVariableFeeAmount'] as const;

/** Converts rate details as stored by createQuote: decimals and amounts are strings of digits. */
export function rateDetailsRecord(column: unknown): RateDetailsRecord | undefined {
  if (typeof column !== 'object' || column === null) return undefined;
  const values = trustedJson<Readonly<Record<string, string | null | undefined>>>(column);
  const fields = [
    ...decimals.map((name) => [name, values[name] == null ? undefined : jsonNumber(values[name])] as const),
    ...amounts.map((name) => [name, values[name] == null ? undefined : jsonInteger(BigInt(values[name]))] as const),
  ];
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}
