import { type AccountType, accountTypes } from '../../core/account-types.ts';
import { carriedName } from '../../core/carried-text.ts';
import type { ExternalAccountType } from '../../infra/database/generated/client/client.ts';
import type { AccountCheck } from '../../rails/rail.ts';
import type { Address } from '../commands/people.ts';

export type Beneficiary =
  | {
      readonly beneficiaryType: 'INDIVIDUAL';
      readonly fullName: string;
      readonly birthDate?: string | null | undefined;
      readonly nationality?: string | null | undefined;
      readonly address?: Address | null | undefined;
    }
  | {
      readonly beneficiaryType: 'BUSINESS';
      readonly legalName: string;
      readonly registrationNumber?: string | null | undefined;
      readonly taxId?: string | null | undefined;
      readonly address?: Address | null | undefined;
    };

/** Returns the account owner's name in the characters that its rail transmits; undefined for a wallet. */
export function carriedOwner(type: ExternalAccountType, beneficiary: Beneficiary | null): string | undefined {
  const name = ownerName(beneficiary);
  const { characters }: AccountType = accountTypes[type];
  return name === undefined || !characters ? name : carriedName(name, characters).text;
}

/** Returns the account owner's name, to compare with its bank's record; undefined for a wallet. */
export function ownerName(beneficiary: Beneficiary | null): string | undefined {
  return beneficiary === null || beneficiary.beneficiaryType === 'INDIVIDUAL'
    ? beneficiary?.fullName
    : beneficiary.legalName;
}

type SaidOfOwner = Pick<
  Extract<AccountCheck, { readonly accepted: true }>,
  'explanation' | 'comparedName' | 'verification' | 'verifiedName'
>;

/**
 * Explains the status of an account: the rail's explanation, and the names if they differ; null if there is neither.
 */
export function reasonOf(check: SaidOfOwner, name: string | undefined): string | null {
  const { explanation, comparedName = name, verification, verifiedName } = check;
  const differs = verification === 'NOT_MATCHED' || verification === 'PARTIAL_MATCH';
  const atBank = verifiedName === null ? 'the name at the bank, which was not reported' : JSON.stringify(verifiedName);
  const compared =
    differs && comparedName !== undefined ? `compared ${JSON.stringify(comparedName)} with ${atBank}` : undefined;
  return [explanation, compared].filter((part) => part !== undefined).join(': ') || null;
}
