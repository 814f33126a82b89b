import { accountTypes } from '../../core/account-types.ts';
import { accountPublicId } from '../../core/ids.ts';
import type { PaymentKind } from '../../infra/database/generated/client/client.ts';
import type { Account } from '../../infra/database/rows.ts';
import type { Caller } from '../access/caller.ts';
import type { Spend } from '../ledger/plan.ts';

interface Begun extends Pick<Spend, 'transactionId' | 'amount' | 'currency' | 'until'> {
  /** Null if the platform itself pays. */
  readonly customerId: string | null;
  readonly to: Account | null | undefined;
  readonly umaAddress?: string | null | undefined;
}

/** Describes a payment for the policies that limit it. Each command that begins a payment includes this in its plan. */
export function spendOf(caller: Caller, kind: PaymentKind, payment: Begun): Spend {
  const { transactionId, amount, currency, customerId, to, umaAddress = null, until } = payment;
  return {
    ...{ transactionId, kind, amount, currency, umaAddress, until },
    subjects: [caller.platformId, ...(customerId === null ? [] : [customerId]), ...caller.makers],
    accountId: to ? accountPublicId(to.kind, to.id) : null,
    country: to ? countryOf(to) : null,
  };
}

function countryOf({ accountType, identifier }: Account): string | null {
  if (accountType === null) return null;
  const { country } = accountTypes[accountType];
  return accountType === 'IBAN' ? (identifier?.slice(0, 2) ?? null) : (country ?? null);
}
