import type { Period } from '../../core/checks.ts';
import { type FieldPath, invalid } from '../../core/refusal.ts';

/** Refuses a period that ends before it begins. @throws Refusal INVALID_INPUT */
export function checkPeriod({ from, to }: Period, path: FieldPath): void {
  if (to < from) throw invalid('the period must not end before it begins', path);
}

/** Returns the part of a period that was over when its statement was created: future balances are unknown. */
export function past({ from, to }: Period, { madeAt }: { readonly madeAt: Date }): Period {
  return { from: from < madeAt ? from : madeAt, to: to < madeAt ? to : madeAt };
}

/**
 * Returns SQL for the version of an internal account at a moment: earlier postings have versions up to this one. As a
 * subquery it is computed once, not for each row. `account` has the columns platform_id and id.
 */
export function versionBefore(account: string, moment: string): string {
  return `(select account_version_before(${account}.platform_id, ${account}.id, ${moment}))`;
}

/** Returns SQL for the balance of an internal account (with platform_id and id) at a version. */
export function balanceAt(account: string, version: string): string {
  return `coalesce((select p.balance_after from posting p where p.platform_id = ${account}.platform_id and p.account_id = ${account}.id
    and p.account_version <= ${version} order by p.account_version desc limit 1), 0)`;
}
