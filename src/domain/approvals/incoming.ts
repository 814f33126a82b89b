import { creationTime, paymentReference } from '../../core/ids.ts';
import type { FailureReason } from '../../infra/database/generated/client/client.ts';
import { type Transaction, trustedJson } from '../../infra/database/rows.ts';
import type { RequiredField } from '../../rails/rail.ts';
import { deposit, passage } from '../commands/movements.ts';
import type { Party } from '../commands/parties.ts';
import type { Journal, NewRow, Plan, TransactionMove } from '../ledger/plan.ts';
import type { Incoming } from '../orders/orders.ts';

/** The receiver information that the sending side of a UMA payment requests. */
export const receiverFields: readonly RequiredField[] = [
  { name: 'FULL_NAME', mandatory: true },
  { name: 'COUNTRY_OF_RESIDENCE', mandatory: false },
];

/** A payment from a UMA address, as announced to the receiving platform. */
interface Announced
  extends Omit<NewRow<Transaction>, 'type' | 'status' | 'sourceKind' | 'destinationKind' | 'reference'> {
  readonly requested: readonly RequiredField[];
  /** Whether the sender has looked up the receiver but not yet sent its pay request. */
  readonly lookedUpOnly?: boolean;
}

/**
 * Creates the INCOMING transaction of a payment from a UMA address. It is PENDING until its platform approves or
 * rejects it, or the deadline passes. If the sender has only looked up the receiver so far, the transaction is CREATED
 * (settlement.ts).
 */
export function announcedTransaction(
  { requested, lookedUpOnly = false, ...row }: Announced,
  approvalMs: number,
): NewRow<Transaction> {
  const { id } = row;
  return {
    ...row,
    type: 'INCOMING',
    ...(lookedUpOnly
      ? { status: 'CREATED', statusReason: 'the sender has looked up the receiver' }
      : {
          status: 'PENDING',
          statusReason: 'awaits approval by the platform',
          approvalDueAt: new Date(creationTime(id).getTime() + approvalMs),
        }),
    sourceKind: 'UMA_ADDRESS',
    destinationKind: 'ACCOUNT',
    reference: paymentReference(id),
    requestedInformation: requested.map((field) => ({ ...field })),
  };
}

/** A payment to an internal account of another customer or of the platform. */
interface DirectPayment {
  readonly platformId: string;
  readonly newId: string;
  readonly transaction: Pick<Transaction, 'id' | 'receivedAmount' | 'reference' | 'description'>;
  /** The internal account that pays. */
  readonly fundingAccountId: string | null;
}

/** Plans a direct payment's receiving transaction. It needs no approval: both parties belong to the same platform. */
export function directArrival(payment: DirectPayment, to: Pick<Party, 'id' | 'customerId' | 'currency'>): Plan {
  const { platformId, transaction, newId: id } = payment;
  const amount = receivedAmount(transaction);
  const incoming: NewRow<Transaction> = {
    platformId,
    id,
    type: 'INCOMING',
    status: 'PENDING',
    statusReason: 'sent from another internal account',
    customerId: to.customerId,
    receivedAmount: amount,
    receivedCurrency: to.currency,
    sourceKind: 'ACCOUNT',
    sourceAccountId: payment.fundingAccountId,
    destinationKind: 'ACCOUNT',
    destinationAccountId: to.id,
    // Both transactions have the same reference, so that they can be matched.
    reference: transaction.reference,
    counterpartyInformation: {},
    description: transaction.description,
  };
  const sender = { senderPlatformId: platformId, senderTransactionId: transaction.id };
  return {
    insert: { transaction: [incoming], arrival: [{ platformId, transactionId: id, ...sender }] },
    transactions: [{ id, from: ['PENDING'], to: 'COMPLETED', reason: 'received', isNew: true }],
    journals: [deposit(to.id, to.currency, amount, id)],
  };
}

/** Creates a receiving transaction's final status change. It is refused if a concurrent decision came first. */
export function receiverMove(
  transaction: Transaction,
  to: 'COMPLETED' | 'FAILED' | 'REJECTED',
  reason: string,
  failureReason: FailureReason = 'OFFRAMP_FAILED',
): TransactionMove {
  const { id, status } = transaction;
  return { id, from: [status], to, reason, ...(to === 'FAILED' && { set: { failureReason } }) };
}

/** Creates an incoming payment's journals, which credit an internal account or pass the money on to an external one. */
export function arrivalJournals({ transaction, destination }: Incoming): Journal[] {
  const { id, receivedCurrency } = transaction;
  const amount = receivedAmount(transaction);
  if (!destination) throw new Error(`incoming transaction ${id} has no destination`);
  return destination.kind === 'INTERNAL'
    ? [deposit(destination.id, receivedCurrency, amount, id)]
    : passage(receivedCurrency, amount, id);
}

/** Returns the amount that arrives, in the currency's smallest unit. */
export function receivedAmount(transaction: Pick<Transaction, 'id' | 'receivedAmount'>): bigint {
  if (transaction.receivedAmount === null) throw new Error(`transaction ${transaction.id} has no received amount`);
  return transaction.receivedAmount;
}

/** Returns the fields that the sending side requested, as stored with the announcement. */
export function requestedFields(transaction: Pick<Transaction, 'requestedInformation'>): readonly RequiredField[] {
  return trustedJson<readonly RequiredField[]>(transaction.requestedInformation ?? []);
}
