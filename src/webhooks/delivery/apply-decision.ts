import { platformItself } from '../../access/platform-itself.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Tenant } from '../../core/tenant.ts';
import { type Decision, decideIncoming } from '../../payments/approvals/approvals.ts';
import type { Payments } from '../../payments/command.ts';

/**
 * Applies what a platform answered to an approval question. It may come twice, where a process died after the first time:
 * a payment that was decided meanwhile, by hand, by its deadline or by this, is left as it is.
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
    const decided = error instanceof Refusal && error.code === 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL';
    if (!decided) throw error;
  }
}
