import type { PlanGroup } from '../../ledger/plan.ts';
import { announcedTransaction, receivedAmount, receiverFields } from '../approvals/incoming.ts';
import type { Payments } from '../command.ts';
import type { DueOrder, Receiver } from '../orders/orders.ts';
import { failed } from './outcomes.ts';

/** Tells the receiver's platform of a payment of this installation; the sender's order waits for what it decides. */
export function announcement(payments: Payments, order: DueOrder, receiver: Receiver): PlanGroup {
  const { transaction, sender } = order;
  const { depositAccountId } = receiver;
  if (!receiver.isReceiverActive || depositAccountId === undefined || sender.umaAddress === undefined) {
    return failed(order, { to: 'REJECTED', reason: 'the receiver cannot take this payment' });
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
    { platformId: receiver.platformId, plan: { insert: { transaction: [incoming], arrival: [arrival] } } },
    { platformId: order.platformId, plan: { orders: [{ id: order.id, dueInMs: payments.approvalMs }] } },
  ];
}
