import { platformItself } from '../../access/platform-itself.ts';
import { publicId } from '../../core/ids.ts';
import { Refusal } from '../../core/refusal.ts';
import { decideIncoming, type Decision as PaymentDecision } from '../../payments/approvals/approvals.ts';
import type { Payments } from '../../payments/command.ts';
import type { Decide, Decision } from './approval.ts';

/**
 * Carries out what platforms answer to approval questions. A payment that was decided meanwhile, by hand or by its
 * deadline, is left as it is.
 */
export function carryOut(payments: Payments): Decide {
  return async ({ platformId, transactionId }, decision) => {
    const made = paymentDecision(decision);
    if (!made) return;
    const { environment } = await payments.database.prisma.platform.findUniqueOrThrow({ where: { id: platformId } });
    try {
      await decideIncoming(
        payments,
        platformItself({ platformId, environment }),
        publicId('Transaction', transactionId),
        made,
      );
    } catch (error) {
      const decided = error instanceof Refusal && error.code === 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL';
      if (!decided) throw error;
    }
  };
}

/** The domain's decision for an answer; undefined for silence, which the payment's own deadline decides. */
function paymentDecision(decision: Decision): PaymentDecision | undefined {
  switch (decision.kind) {
    case 'APPROVED': {
      const info = Object.entries(decision.receiverCustomerInfo).map(([name, value]) => ({ name, value }));
      return { kind: 'approve', receiverCustomerInfo: info };
    }
    case 'REJECTED':
      return { kind: 'reject', reason: decision.reason };
    case 'MORE_INFORMATION_NEEDED':
      return {
        kind: 'reject',
        reason: `the platform needs to know more of the sender: ${decision.requiredFields.join(', ')}`,
      };
    case 'FAILED':
      return decision.failureReason === 'PAYMENT_APPROVAL_WEBHOOK_ERROR'
        ? { kind: 'webhook-error', explanation: "the platform's answer to the approval question was an error" }
        : undefined;
  }
}
