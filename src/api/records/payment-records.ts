import { accountPublicId, publicId } from '../../core/ids.ts';
import type { AccountKind } from '../../infra/database/generated/client/client.ts';
import type { Extra } from '../../infra/database/read-rows.ts';
import { type Quote, type Transaction, trustedJson } from '../../infra/database/rows.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import { instructionRecords } from './account-record.ts';
import { amountRecord, currencyRecord, jsonInteger, jsonNumber, metadataRecord } from './fields.ts';

/**
 * The fields of a payment's record that come from other rows. They never change once their rows are created, so a
 * record built later from an earlier state of the payment is byte-for-byte identical to the original.
 */
export interface PaymentParties {
  readonly customer: { readonly platformCustomerId: string } | null;
  readonly sourceAccount: { readonly kind: AccountKind; readonly currency: string } | null;
  readonly destinationAccount: { readonly kind: AccountKind } | null;
}

export const paymentParties: Extra<PaymentParties> = (payment) => ({
  customer: `(select json_build_object('platformCustomerId', c.platform_customer_id)
    from customer c where c.platform_id = ${payment}.platform_id and c.id = ${payment}.customer_id)`,
  sourceAccount: `(select json_build_object('kind', a.kind, 'currency', a.currency)
    from account a where a.platform_id = ${payment}.platform_id and a.id = ${payment}.source_account_id)`,
  destinationAccount: `(select json_build_object('kind', a.kind)
    from account a where a.platform_id = ${payment}.platform_id and a.id = ${payment}.destination_account_id)`,
});

const parties = paymentParties('p');

const partiesStatement = statement<PaymentParties>(
  'payment_parties',
  `select ${parties.customer} as customer, ${parties.sourceAccount} as source_account, ${parties.destinationAccount} as destination_account
   from (select $1::uuid as platform_id, $2::uuid as customer_id, $3::uuid as source_account_id, $4::uuid as destination_account_id) p`,
);

type PartyColumns = Pick<Quote, 'platformId' | 'customerId' | 'sourceAccountId' | 'destinationAccountId'>;

/** Reads the parties to a payment whose row has already been read, for example by a command or for an event. */
export async function readPaymentParties(on: Queryable, payment: PartyColumns): Promise<PaymentParties> {
  const { platformId, customerId, sourceAccountId, destinationAccountId } = payment;
  const [row] = await partiesStatement(on, platformId, customerId, sourceAccountId, destinationAccountId);
  if (!row) throw new Error('the statement for parties returned no row');
  return row;
}

type SourceColumns = Pick<Quote | Transaction, 'sourceKind' | 'sourceAccountId' | 'customerId'>;

/**
 * Returns a payment's source, or undefined if it is unknown. `withCustomer` adds the paying customer to a source
 * account, as in quotes. `currency` applies to sources other than accounts.
 */
function sourceRecord(
  payment: SourceColumns,
  parties: PaymentParties,
  options: { readonly currency: string; readonly umaAddress: string | null; readonly withCustomer: boolean },
) {
  const { currency, umaAddress } = options;
  const customer = payment.customerId === null ? {} : { customerId: publicId('Customer', payment.customerId) };
  switch (payment.sourceKind) {
    case 'ACCOUNT':
      if (payment.sourceAccountId === null || !parties.sourceAccount) return undefined;
      return {
        sourceType: 'ACCOUNT' as const,
        accountId: accountPublicId(parties.sourceAccount.kind, payment.sourceAccountId),
        ...(options.withCustomer && customer),
        // Not the `currency` option, which is the received currency if the sent amount is unknown.
        currency: parties.sourceAccount.currency,
      };
    case 'REALTIME_FUNDING':
      return { sourceType: 'REALTIME_FUNDING' as const, ...customer, currency };
    case 'UMA_ADDRESS':
      return umaAddress === null ? undefined : { sourceType: 'UMA_ADDRESS' as const, umaAddress, currency };
    case null:
      return undefined;
  }
}

type DestinationColumns = Pick<Quote | Transaction, 'destinationAccountId' | 'destinationUmaAddress'>;

/** Returns a payment's destination. The tables' constraints guarantee that there is one. */
function destinationRecord(payment: DestinationColumns, parties: PaymentParties, currency: string) {
  const { destinationUmaAddress: umaAddress, destinationAccountId } = payment;
  if (umaAddress !== null) return { destinationType: 'UMA_ADDRESS' as const, umaAddress, currency };
  if (destinationAccountId === null || !parties.destinationAccount) {
    throw new Error('the payment has neither a destination account nor a destination UMA address');
  }
  const accountId = accountPublicId(parties.destinationAccount.kind, destinationAccountId);
  return { destinationType: 'ACCOUNT' as const, accountId, currency };
}

/** Converts a row to a quote's record. Throws UnrepresentableAmount if an amount is beyond 2^53. */
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

const decimals = ['counterpartyMultiplier', 'serviceApiMultiplier', 'serviceApiVariableFeeRate'] as const;
const amounts = ['counterpartyFixedFee', 'serviceApiFixedFee', 'serviceApiVariableFeeAmount'] as const;

type RateDetailsRecord = { readonly [Name in (typeof decimals | typeof amounts)[number]]?: number };

/** Converts rate details as createQuote stores them, with decimals and amounts as strings. */
function rateDetailsRecord(column: unknown): RateDetailsRecord | undefined {
  if (typeof column !== 'object' || column === null) return undefined;
  const values = trustedJson<Readonly<Record<string, string | null | undefined>>>(column);
  const fields = [
    ...decimals.map((name) => [name, values[name] == null ? undefined : jsonNumber(values[name])] as const),
    ...amounts.map((name) => [name, values[name] == null ? undefined : jsonInteger(BigInt(values[name]))] as const),
  ];
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/**
 * Converts a row to a payment's record, for REST responses and webhook bodies. Unknown values are omitted, except
 * `settledAt` and the two customer ids of a platform's own payment, which are null.
 * @throws UnrepresentableAmount if an amount is beyond 2^53
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
    refund: refundOf(row),
    ...(Object.keys(counterparty).length > 0 && { counterpartyInformation: counterparty }),
    ...(row.description !== null && { description: row.description }),
    ...metadataRecord(row),
    settledAt: row.settledAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

function refundOf({ refundReference: reference, refundInitiatedAt: begun, refundSettledAt: settled }: Transaction) {
  if (reference === null || begun === null) return undefined;
  return { reference, initiatedAt: begun.toISOString(), settledAt: settled?.toISOString() };
}
