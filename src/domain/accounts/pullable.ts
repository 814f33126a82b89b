import { accountTypes } from '../../core/account-types.ts';
import { type FieldPath, invalid } from '../../core/refusal.ts';
import type { Account } from '../../infra/database/rows.ts';

/**
 * Refuses an external source that cannot be pulled from: only bank accounts can be debited on request.
 * @throws Refusal INVALID_INPUT
 */
export function checkPullable(account: Account, path: FieldPath): void {
  if (account.accountType !== null && accountTypes[account.accountType].beneficiary) return;
  const message =
    'money cannot be pulled from a wallet: send it from the wallet, using a payment instruction of an internal account or of a real-time funded quote';
  throw invalid(message, path);
}
