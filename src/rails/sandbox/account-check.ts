import type { BeneficiaryVerificationStatus } from '../../database/generated/client/client.ts';
import type { AccountCheck, OutsideAccount } from '../rail.ts';
import { suffixOf } from './suffix.ts';

/** What the end of a bank account's identifier makes the sandbox say of its owner (domain-facts 6.8); others match. */
const verifications: Readonly<Record<string, BeneficiaryVerificationStatus>> = {
  '102': 'NOT_MATCHED',
  '103': 'PARTIAL_MATCH',
  '104': 'PENDING',
  '106': 'UNSUPPORTED',
  '107': 'CHECKED_BY_RECEIVING_FI',
};

const refusedSuffix = '105';

/** The sandbox's check of an account: ACTIVE at once, the owner's verification by the suffix, 105 refused. */
export function checkSandboxAccount(account: OutsideAccount, ownerName: string | undefined): AccountCheck {
  const suffix = suffixOf(account);
  if (suffix === refusedSuffix) {
    return { accepted: false, explanation: 'the bank knows no such account (sandbox suffix 105)' };
  }
  if (ownerName === undefined) return { accepted: true, status: 'ACTIVE', verification: null, verifiedName: null };
  const verification = verifications[suffix] ?? 'MATCHED';
  return { accepted: true, status: 'ACTIVE', verification, verifiedName: nameAtBank(verification, ownerName) };
}

/** A bank that finds a near match tells the name it has; one that finds none does not. */
function nameAtBank(verification: BeneficiaryVerificationStatus, ownerName: string): string | null {
  if (verification === 'MATCHED') return ownerName;
  if (verification !== 'PARTIAL_MATCH') return null;
  const [first = '', ...others] = ownerName.split(' ');
  return [`${first.slice(0, 1)}.`, ...others].join(' ');
}
