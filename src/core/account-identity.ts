import type { ExternalAccountType } from '../infra/database/generated/client/client.ts';
import { type AccountDetails, formOf } from './account-fields.ts';
import { type AccountType, accountTypes } from './account-types.ts';

/** The fields that identify an account among those of its type (decision 37), in canonical form. */
export interface AccountIdentity {
  readonly identifier: string;
  /** The code of its bank; null if the identifier is unique without it. */
  readonly bank: string | null;
}

/** Returns the identity of an account. Two accounts with the same identity are the same account. */
export function identityOf(type: ExternalAccountType, details: AccountDetails): AccountIdentity {
  const { fields, identifier, bank }: AccountType = accountTypes[type];
  const compared = (names: readonly string[]) =>
    names.flatMap((name) => {
      const value = details[name] ?? undefined;
      const field = fields[name];
      if (value === undefined || !field) return [];
      const canonical = formOf(field, details).canonical(value);
      return [field.compared?.(canonical) ?? canonical];
    });
  return { identifier: compared(identifier).join(' '), bank: bank ? compared(bank).join(' ') : null };
}
