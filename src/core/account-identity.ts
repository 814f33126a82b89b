import type { ExternalAccountType } from '../infra/database/generated/client/client.ts';
import type { AccountDetails } from './account-fields.ts';
import { type AccountType, accountTypes } from './account-types.ts';

/** What identifies an account among those of its type (decision 37), in canonical form. */
export interface AccountIdentity {
  readonly identifier: string;
  /** The code of its bank; null where the identifier is unique by itself. */
  readonly bank: string | null;
}

/** Returns what identifies an account, from its details. */
export function identityOf(type: ExternalAccountType, details: AccountDetails): AccountIdentity {
  const { fields, identifier, bank }: AccountType = accountTypes[type];
  const canonical = (names: readonly string[]) =>
    names.flatMap((name) => {
      const value = details[name] ?? undefined;
      return value === undefined ? [] : (fields[name]?.spellings?.canonical(value, details) ?? value);
    });
  return { identifier: canonical(identifier).join(' '), bank: bank ? canonical(bank).join(' ') : null };
}
