import { publicId } from '../../core/ids.ts';
import { type Transaction, trustedJson } from '../../infra/database/rows.ts';
import { amountRecord, jsonInteger, jsonNumber, metadataRecord } from './fields.ts';
import { destinationRecord, type PaymentParties, sourceRecord } from './payment-parties.ts';
import { rateDetailsRecord } from './quote-record.ts';

/**
 * Converts a row to the record of a payment, in REST responses and webhook bodies (specification 2.6, decisions 3 and
 * 13). Unknown fields are left out, except `settledAt` and the two ids of a platform's own payment, which are null.
 * @throws UnrepresentableAmount beyond 2^53
 */
export function transactionRecord(row: Transaction, parties: PaymentParties) {
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
    ...(row.approvalDueAt !== null && { approvalDueAt: row.approvalDueAt.toISOString() }),
    ...(row.createdBy !== null && { createdById: row.createdBy }),
    ...(row.decidedById !== null && { decidedById: publicId('ApiToken', row.decidedById) }),
    ...refundOf(row),
    ...(Object.keys(counterparty).length > 0 && { counterpartyInformation: counterparty }),
    ...(row.description !== null && { description: row.description }),
    ...metadataRecord(row),
    settledAt: row.settledAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

function refundOf({ refundReference, refundInitiatedAt, refundSettledAt }: Transaction) {
  if (refundReference === null || refundInitiatedAt === null) return {};
  return {
    refund: {
      reference: refundReference,
      initiatedAt: refundInitiatedAt.toISOString(),
      ...(refundSettledAt && { settledAt: refundSettledAt.toISOString() }),
    },
  };
}
