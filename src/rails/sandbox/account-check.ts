import type {
  BeneficiaryVerificationStatus,
  ExternalAccountStatus,
} from '../../infra/database/generated/client/client.ts';
import type { AccountCheck } from '../rail.ts';
import type { RailAccount } from '../rail-parts.ts';
import type { AccountVerification } from '../simulation.ts';

/** An account's first status and the one after a step. Without `later`, only a request changes the first one. */
interface Course<Status> {
  readonly first: Status;
  readonly later?: Status;
}

/**
 * The verification of an owner, by suffix of the identifier (decision 21). The delayed ones, 108 and 109, are additions
 * of this sandbox.
 */
const verifications: Readonly<Record<string, Course<BeneficiaryVerificationStatus>>> = {
  '102': { first: 'NOT_MATCHED' },
  '103': { first: 'PARTIAL_MATCH' },
  '104': { first: 'PENDING', later: 'MATCHED' },
  '106': { first: 'UNSUPPORTED' },
  '107': { first: 'CHECKED_BY_RECEIVING_FI' },
  '108': { first: 'PENDING', later: 'NOT_MATCHED' },
  '109': { first: 'PENDING', later: 'PARTIAL_MATCH' },
};

const refusedSuffix = '105';

/** The status of an account or wallet, by suffix of the identifier (defined here only); others are ACTIVE. */
const statuses: Readonly<Record<string, Course<ExternalAccountStatus>>> = {
  '201': { first: 'PENDING', later: 'ACTIVE' },
  '202': { first: 'PENDING', later: 'UNDER_REVIEW' },
  '203': { first: 'PENDING', later: 'INACTIVE' },
  '204': { first: 'PENDING' },
};

/**
 * Checks an account: it is ACTIVE at once and its owner matches, unless the suffix selects otherwise. The sandbox keeps
 * no state: the current status follows from the age of the account.
 */
export function checkSandboxAccount(
  account: RailAccount,
  ownerName: string | undefined,
  { ageMs, paceMs }: { readonly ageMs: number; readonly paceMs: number },
): AccountCheck {
  const suffix = suffixOf(account);
  if (suffix === refusedSuffix) {
    return { accepted: false, explanation: 'the bank does not know this account (sandbox suffix 105)' };
  }
  // A new account never counts as old, even with a pace of zero.
  const old = ageMs > 0 && ageMs >= paceMs;
  const statusCourse = statuses[suffix];
  const verificationCourse = ownerName === undefined ? undefined : verifications[suffix];
  const changes = (statusCourse?.later ?? verificationCourse?.later) !== undefined;
  return {
    accepted: true,
    status: statusAt(statusCourse, old) ?? 'ACTIVE',
    ...verificationOf(ownerName, statusAt(verificationCourse, old) ?? 'MATCHED'),
    ...((statusCourse ?? verificationCourse) && { explanation: `sandbox suffix ${suffix}` }),
    ...(changes && !old && { checkInMs: Math.max(1, Math.ceil(paceMs - ageMs)) }),
  };
}

function statusAt<Status>(course: Course<Status> | undefined, old: boolean): Status | undefined {
  return (old ? course?.later : undefined) ?? course?.first;
}

/** Returns a verification with the name at the bank: a different one for a partial match, none without a match. */
export function verificationOf(
  ownerName: string | undefined,
  verification: BeneficiaryVerificationStatus,
): AccountVerification {
  return ownerName === undefined
    ? { verification: null, verifiedName: null }
    : { verification, verifiedName: nameAtBank(verification, ownerName) };
}

function nameAtBank(verification: BeneficiaryVerificationStatus, ownerName: string): string | null {
  if (verification === 'MATCHED') return ownerName;
  if (verification !== 'PARTIAL_MATCH') return null;
  const [first = '', ...otherNames] = ownerName.split(' ');
  return [`${first.slice(0, 1)}.`, ...otherNames].join(' ');
}

/** Returns the last three characters of an account's identifier, before any @: they are the sandbox's magic values. */
export function suffixOf(account: RailAccount): string {
  return account.identifier.replace(/@.*$/s, '').slice(-3);
}
