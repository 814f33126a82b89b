import { platformItself } from '../../access/platform-itself.ts';
import type { Tenant } from '../../core/tenant.ts';
import { decideUnlessDecided } from '../../payments/approvals/approvals.ts';
import type { Payments } from '../../payments/command.ts';
import { deferApproval } from '../../payments/orders/orders.ts';
import type { QuestionAnswer } from './approval.ts';

/**
 * Applies a platform's answer to the question about a payment. Does nothing to a payment that is decided already: by hand, by its
 * deadline, or by the same decision, which comes twice where a process died after the first time.
 * @param transactionId the bare uuid
 */
export async function applyAnswer(
  payments: Payments,
  tenant: Tenant,
  transactionId: string,
  answer: QuestionAnswer,
): Promise<void> {
  if (answer.kind === 'defer') return deferApproval(payments.database.pool, tenant.platformId, transactionId);
  await decideUnlessDecided(payments, platformItself(tenant), transactionId, answer);
}
