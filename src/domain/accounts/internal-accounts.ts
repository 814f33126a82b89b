import { requiredCurrency } from '../../core/currencies.ts';
import { creationTime, paymentReference } from '../../core/ids.ts';
import type { Tenant } from '../../core/tenant.ts';
import type { Account } from '../../infra/database/rows.ts';
import { connectedRail, type Payments } from '../commands/command.ts';
import type { NewRow } from '../ledger/plan.ts';

/** Creates the rows for an owner's internal accounts, one per currency. Without a customer, the platform owns them. */
export async function newInternalAccounts(
  payments: Pick<Payments, 'rails'>,
  tenant: Tenant,
  owner: { readonly platformId: string; readonly customerId: string | null },
  currencies: readonly string[],
  ids: readonly string[],
): Promise<NewRow<Account>[]> {
  const rail = connectedRail(payments, tenant);
  return Promise.all(
    currencies.map(async (code, position) => {
      const id = ids[position];
      if (id === undefined) throw new Error(`no id for ${code}`);
      const reference = paymentReference(id).replace('PAY-', 'FUND-');
      const instructions = await rail?.paymentInstructions?.({
        ...{ owner: id, customerId: owner.customerId, reference, currency: requiredCurrency(code) },
        ...{ amount: undefined, createdAt: creationTime(id), expiresAt: undefined },
      });
      return {
        ...owner,
        id,
        kind: 'INTERNAL' as const,
        currency: code,
        posted: 0n,
        fundingInstructions: (instructions ?? []).map((instruction) => ({ ...instruction })),
        defaultUmaDepositAccount: false,
        isDeleted: false,
      };
    }),
  );
}
