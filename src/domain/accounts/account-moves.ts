import type { ExternalAccountStatus } from '../../infra/database/generated/client/client.ts';
import {
  type Lease,
  type LeasedTable,
  leasing,
  postponing,
  retryMs,
  untilNext,
  workOnDue,
} from '../../infra/database/leases.ts';
import { type Account, trustedJson } from '../../infra/database/rows.ts';
import type { AccountCheck, AccountToCheck } from '../../rails/rail.ts';
import type { RailAccount } from '../../rails/rail-parts.ts';
import type { AccountVerification } from '../../rails/simulation.ts';
import { connectedRail, type Payments } from '../commands/command.ts';
import { toRailAccount } from '../commands/parties.ts';
import { commitPlan } from '../ledger/commit.ts';
import type { AccountMove, Plan } from '../ledger/plan.ts';
import { wholeMs } from '../orders/orders.ts';
import { railAnswer } from '../orders/rail-answer.ts';
import { type Beneficiary, carriedOwner, ownerName, reasonOf } from './beneficiary.ts';

/**
 * The lifecycle of an external account after registration (specification 3.3): the rail checks the account again or, if
 * the rail is simulated, a request changes it (src/domain/sandbox). A change does not stop a payment that has begun:
 * the account must be ACTIVE only when a payment begins.
 */

/**
 * For each status, the statuses from which an account may change to it. The database refuses all other changes
 * (status_moves).
 */
export const statusSources: Readonly<Record<ExternalAccountStatus, readonly ExternalAccountStatus[]>> = {
  PENDING: [],
  ACTIVE: ['PENDING', 'UNDER_REVIEW', 'INACTIVE'],
  UNDER_REVIEW: ['PENDING', 'ACTIVE'],
  INACTIVE: ['PENDING', 'ACTIVE', 'UNDER_REVIEW'],
};

interface DueCheck extends Lease {
  readonly account: Account;
  readonly ageMs: number;
  readonly attempts: number;
}

const checks: LeasedTable = { table: 'account_check', rows: 'account_checks', key: ['account_id', 'uuid'] };

export const leaseAccountChecks = leasing<DueCheck>(
  checks,
  {
    reads: `l.account_id, l.attempts, account_snapshot(a) as account,
     -- If the creation time is in the future, the clock has been set back since, and the age is unknown.
     case when a.created_at > clock_timestamp() + interval '1 second' then 86400000
       else (extract(epoch from clock_timestamp() - a.created_at) * 1000)::float8 end as age_ms`,
    joins: 'join account a on a.platform_id = l.platform_id and a.id = l.account_id',
  },
  { account: 'Account' },
);

const postpone = postponing(checks);

export const nextAccountCheck = untilNext(checks);

/**
 * Checks up to `limit` due accounts with the rails, and commits each result. A failed check is repeated later, as is
 * one whose account changed in the meantime.
 * @returns the number of accounts processed
 */
export function checkDueAccounts(payments: Payments, limit: number): Promise<number> {
  return workOnDue(payments, limit, {
    ...{ lease: leaseAccountChecks, postpone, failure: 'could not check an account' },
    about: ({ account }) => ({ account: account.id }),
    work: (due) => check(payments, due),
  });
}

async function check({ database, rails }: Payments, due: DueCheck): Promise<void> {
  const { platformId, environment, account, ageMs, attempts } = due;
  const railAccount = toRailAccount(account);
  const rail = connectedRail({ rails }, due);
  if (!rail?.checkAccount || !railAccount) throw new Error(`no rail can check accounts for ${environment}`);
  const asked = rail.checkAccount(accountToCheck(account, railAccount), ownerOf(account), ageMs);
  const outcome = await commitPlan(database, platformId, planCheck(account, await railAnswer(asked)));
  if (outcome.kind !== 'done') await postpone(database.pool, [{ lease: due, dueInMs: retryMs(attempts) }]);
}

/** Returns an account in the form that the rail checks, from the data that createExternalAccount stored. */
function accountToCheck(account: Account, railAccount: RailAccount): AccountToCheck {
  const beneficiary = trustedJson<Beneficiary | null>(account.beneficiary);
  return {
    ...railAccount,
    id: account.id,
    currency: account.currency,
    beneficiary: beneficiary && { ...beneficiary },
    carriedName: carriedOwner(railAccount.type, beneficiary),
  };
}

function planCheck(account: Account, check: AccountCheck): Plan {
  const reported = check.accepted ? check.status : 'INACTIVE';
  const status = statusOf(account);
  const to = reported !== status && statusSources[reported].includes(status) ? reported : status;
  const verification = check.accepted ? check.verification : account.beneficiaryVerificationStatus;
  const checkInMs = check.accepted ? check.checkInMs : undefined;
  const checks = [{ accountId: account.id, dueInMs: checkInMs === undefined ? null : wholeMs(checkInMs) }];
  if (to === status && verification === account.beneficiaryVerificationStatus) return { checks };
  const move: AccountMove = {
    id: account.id,
    from: [status],
    to,
    reason: (check.accepted ? reasonOf(check, ownerOf(account)) : check.explanation) ?? 'checked by the rail',
    ...(check.accepted && { set: verificationColumns(check) }),
  };
  return { accounts: [move], checks, expected: { type: 'Account', id: account.id, version: account.version } };
}

/** Returns the columns of an account that a verification sets. */
export function verificationColumns(check: AccountVerification) {
  return { beneficiaryVerificationStatus: check.verification, beneficiaryVerifiedName: check.verifiedName };
}

/** Returns the name of an external account's owner, to compare with its bank's record; undefined for a wallet. */
export function ownerOf(account: Account): string | undefined {
  // Stored in this form by createExternalAccount.
  return ownerName(trustedJson<Beneficiary | null>(account.beneficiary));
}

/**
 * Returns the status of an external account.
 * @throws Error for an internal one
 */
export function statusOf(account: Account): ExternalAccountStatus {
  if (account.status === null) throw new Error(`external account ${account.id} has no status`);
  return account.status;
}
