import type { PlanGroup } from '../../ledger/plan.ts';
import { announcedTransaction, receivedAmount, receiverFields } from '../approvals/incoming.ts';
import type { Payments } from '../command.ts';
import type { DueOrder, Receiver } from '../orders/orders.ts';
import { planFailure } from './outcomes.ts';

/**
 * Plans the announcement of a payment to the receiver's platform, when the receiver is a customer of this installation.
 * The sender's order waits for the decision of that platform.
 */
export function planAnnouncement(payments: Payments, order: DueOrder, receiver: Receiver): PlanGroup {
  const { transaction, sender } = order;
  const { depositAccountId } = receiver;
  if (!receiver.isReceiverActive || depositAccountId === undefined || sender.umaAddress === undefined) {
    return planFailure(order, { to: 'REJECTED', reason: 'the receiver cannot take this payment' });
  }
  const incoming = announcedTransaction(
    {
      platformId: receiver.platformId,
      id: order.newId,
      customerId: receiver.customerId,
      senderUmaAddress: sender.umaAddress,
      information: sender.information,
      requested: receiverFields,
      depositAccountId,
      currency: transaction.receivedCurrency,
      amount: receivedAmount(transaction),
      description: transaction.description,
    },
    payments.approvalMs,
  );
  const arrival = {
    platformId: receiver.platformId,
    transactionId: incoming.id,
    senderPlatformId: order.platformId,
    senderTransactionId: transaction.id,
  };
  return [
    {
      platformId: receiver.platformId,
      plan: {
        // It may have been deleted or frozen since the order was read.
        requireActive: { customers: [receiver.customerId], unfrozen: [depositAccountId] },
        insert: { transaction: [incoming], arrival: [arrival] },
      },
    },
    { platformId: order.platformId, plan: { orders: [{ id: order.id, dueInMs: payments.approvalMs }] } },
  ];
}
