import type { BeneficiaryVerificationStatus, ExternalAccountStatus } from '../../database/generated/client/client.ts';
import type { AccountCheck, OutsideAccount } from '../rail.ts';
import type { AccountVerification } from '../simulation.ts';
import { suffixOf } from './suffix.ts';

/** What an account is at first, and what it becomes after one step; no `later`: nothing, until somebody says so. */
interface Course<Status> {
  readonly first: Status;
  readonly later?: Status;
}

/**
 * What the end of a bank account's identifier makes the sandbox say of its owner (decision 21); others match. 108 and
 * 109 are ours, for verifications that take a while and do not end well.
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

/** What the end of an account's or wallet's identifier makes of its status (ours: no source has any); others are ACTIVE. */
const statuses: Readonly<Record<string, Course<ExternalAccountStatus>>> = {
  '201': { first: 'PENDING', later: 'ACTIVE' },
  '202': { first: 'PENDING', later: 'UNDER_REVIEW' },
  '203': { first: 'PENDING', later: 'INACTIVE' },
  '204': { first: 'PENDING' },
};

/**
 * The sandbox's check of an account: ACTIVE at once and its owner matched, unless its suffix says otherwise. It keeps no
 * state: what an account has become follows from its age.
 */
export function checkSandboxAccount(
  account: OutsideAccount,
  ownerName: string | undefined,
  { ageMs, paceMs }: { readonly ageMs: number; readonly paceMs: number },
): AccountCheck {
  const suffix = suffixOf(account);
  if (suffix === refusedSuffix) {
    return { accepted: false, explanation: 'the bank knows no such account (sandbox suffix 105)' };
  }
  // What has just been made is young, whatever the pace.
  const old = ageMs > 0 && ageMs >= paceMs;
  const statusCourse = statuses[suffix];
  const verificationCourse = ownerName === undefined ? undefined : verifications[suffix];
  const changes = (statusCourse?.later ?? verificationCourse?.later) !== undefined;
  return {
    accepted: true,
    status: at(statusCourse, old) ?? 'ACTIVE',
    ...verificationOf(ownerName, at(verificationCourse, old) ?? 'MATCHED'),
    ...((statusCourse ?? verificationCourse) && { explanation: `sandbox suffix ${suffix}` }),
    ...(changes && !old && { checkInMs: Math.max(1, Math.ceil(paceMs - ageMs)) }),
  };
}

function at<Status>(course: Course<Status> | undefined, old: boolean): Status | undefined {
  return (old ? course?.later : undefined) ?? course?.first;
}

/** A verification with what the bank tells: its name for the owner when it finds a near match, none when it finds none. */
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
  const [first = '', ...others] = ownerName.split(' ');
  return [`${first.slice(0, 1)}.`, ...others].join(' ');
}
