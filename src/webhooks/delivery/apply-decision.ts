import { platformItself } from '../../access/platform-itself.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Tenant } from '../../core/tenant.ts';
import { type Decision, decideIncoming } from '../../payments/approvals/approvals.ts';
import type { Payments } from '../../payments/command.ts';

/**
 * Applies a platform's decision about a payment. Does nothing to a payment that is decided already: by hand, by its
 * deadline, or by the same decision, which comes twice where a process died after the first time.
 * @param transactionId the bare uuid
 */
export async function applyDecision(
  payments: Payments,
  tenant: Tenant,
  transactionId: string,
  decision: Decision,
): Promise<void> {
  try {
    await decideIncoming(payments, platformItself(tenant), transactionId, decision);
  } catch (error) {
    const isDecided = error instanceof Refusal && error.code === 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL';
    if (!isDecided) throw error;
  }
}
