import { madeAt, paymentReference } from '../../core/ids.ts';
import type { FailureReason } from '../../database/generated/client/client.ts';
import type { Transaction } from '../../database/rows.ts';
import { trustedJson } from '../../database/trusted-json.ts';
import type { Journal, NewRow, Plan, TransactionMove } from '../../ledger/plan.ts';
import type { RequiredField } from '../../rails/rail.ts';
import { deposit, passage } from '../movements.ts';
import type { DueOrder, Incoming } from '../orders/orders.ts';
import type { Party } from '../parties.ts';

/** What the sending side of a UMA payment asks to know of its receiver. */
export const receiverFields: readonly RequiredField[] = [
  { name: 'FULL_NAME', mandatory: true },
  { name: 'COUNTRY_OF_RESIDENCE', mandatory: false },
];

/** A payment from a UMA address, as the receiving platform is asked about it. */
export interface Announced {
  readonly platformId: string;
  readonly id: string;
  readonly customerId: string;
  readonly senderUmaAddress: string;
  /** What is known of the sender. */
  readonly information: Readonly<Record<string, string>>;
  readonly requested: readonly RequiredField[];
  /** The account that it goes to: internal, or external to be paid on. */
  readonly depositAccountId: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly description?: string | null;
  /** The sender's pay request has not come yet. */
  readonly lookedUpOnly?: boolean;
}

/**
 * The INCOMING transaction of a payment from a UMA address: PENDING until its platform approves or rejects it, or has
 * let the time for that pass (decision 33). CREATED where its sender has only looked the receiver up (pay-request.ts).
 */
export function announcedTransaction(announced: Announced, approvalMs: number): NewRow<Transaction> {
  const { id } = announced;
  return {
    platformId: announced.platformId,
    id,
    type: 'INCOMING',
    ...(announced.lookedUpOnly
      ? { status: 'CREATED', statusReason: 'its sender has looked the receiver up' }
      : {
          status: 'PENDING',
          statusReason: 'waits for the approval of the platform',
          approvalDueAt: new Date(madeAt(id).getTime() + approvalMs),
        }),
    customerId: announced.customerId,
    receivedAmount: announced.amount,
    receivedCurrency: announced.currency,
    sourceKind: 'UMA_ADDRESS',
    sourceUmaAddress: announced.senderUmaAddress,
    destinationKind: 'ACCOUNT',
    destinationAccountId: announced.depositAccountId,
    reference: paymentReference(id),
    counterpartyInformation: { ...announced.information },
    description: announced.description ?? null,
    requestedInformation: announced.requested.map((field) => ({ ...field })),
  };
}

/**
 * The receiver's side of a payment to an account that another customer, or the platform, has here: its platform ordered
 * the payment itself, so it is not asked again.
 */
export function directArrival(order: DueOrder, to: Party): Plan {
  const { transaction, newId: id } = order;
  const amount = receivedAmount(transaction);
  const incoming: NewRow<Transaction> = {
    platformId: order.platformId,
    id,
    type: 'INCOMING',
    status: 'PENDING',
    statusReason: 'sent from an account here',
    customerId: to.customerId,
    receivedAmount: amount,
    receivedCurrency: to.currency,
    sourceKind: 'ACCOUNT',
    sourceAccountId: order.fundingAccountId ?? null,
    destinationKind: 'ACCOUNT',
    destinationAccountId: to.id,
    // Both sides have the same, to be matched by it.
    reference: transaction.reference,
    counterpartyInformation: {},
    description: transaction.description,
  };
  const arrival = {
    platformId: order.platformId,
    transactionId: id,
    senderPlatformId: order.platformId,
    senderTransactionId: transaction.id,
  };
  const move: TransactionMove = { id, from: ['PENDING'], to: 'COMPLETED', reason: 'received', isNew: true };
  return {
    insert: { transaction: [incoming], arrival: [arrival] },
    transactions: [move],
    journals: [deposit(to.id, to.currency, amount, id)],
  };
}

/** The end of a receiving transaction, from where it stood when it was decided: a decision made since comes first. */
export function receiverMove(
  transaction: Transaction,
  to: 'COMPLETED' | 'FAILED' | 'REJECTED',
  reason: string,
  failureReason?: FailureReason,
): TransactionMove {
  return {
    id: transaction.id,
    from: [transaction.status],
    to,
    reason,
    ...(to === 'FAILED' && { set: { failureReason: failureReason ?? 'OFFRAMP_FAILED' } }),
  };
}

/** The money of a payment that was sent to us: credited, or passed on to the account outside that it is for. */
export function arrivalJournals({ transaction, destination }: Incoming): Journal[] {
  const { id, receivedCurrency } = transaction;
  const amount = receivedAmount(transaction);
  if (!destination) throw new Error(`incoming transaction ${id} has no destination`);
  return destination.kind === 'INTERNAL'
    ? [deposit(destination.id, receivedCurrency, amount, id)]
    : passage(receivedCurrency, amount, id);
}

/** How much arrives, in smallest units. */
export function receivedAmount(transaction: Transaction): bigint {
  if (transaction.receivedAmount === null) throw new Error(`transaction ${transaction.id} has no received amount`);
  return transaction.receivedAmount;
}

/** Written when the payment was announced, in this form. */
export function requestedFields(transaction: Pick<Transaction, 'requestedInformation'>): readonly RequiredField[] {
  return trustedJson<readonly RequiredField[]>(transaction.requestedInformation ?? []);
}
