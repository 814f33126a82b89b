import type { Environment, ExternalAccountStatus } from '../../database/generated/client/client.ts';
import type { Account } from '../../database/rows.ts';
import { statement } from '../../database/statement.ts';
import { trustedJson } from '../../database/trusted-json.ts';
import { commitGroups } from '../../ledger/commit.ts';
import type { AccountMove, Plan } from '../../ledger/plan.ts';
import type { AccountCheck, AccountToCheck } from '../../rails/rail.ts';
import type { RailAccount } from '../../rails/rail-account.ts';
import type { AccountVerification } from '../../rails/simulation.ts';
import { connectedRail, type Payments } from '../command.ts';
import { wholeMs } from '../orders/orders.ts';
import { railAnswer } from '../orders/rail-answer.ts';
import { toRailAccount } from '../parties.ts';
import { type Beneficiary, ownerName } from './external-accounts.ts';

/**
 * The life of an external account after its registration (specification 3.3): the rail checks it again, or, where the
 * rail simulates, a request changes it (payments/sandbox). A change does not stop a payment that has begun: the account
 * must be ACTIVE only when a payment begins.
 */

/**
 * The statuses from which each status may be reached. The database has the same table (external_account_move) and
 * refuses all other changes.
 */
export const statusSources: Readonly<Record<ExternalAccountStatus, readonly ExternalAccountStatus[]>> = {
  PENDING: [],
  ACTIVE: ['PENDING', 'UNDER_REVIEW', 'INACTIVE'],
  UNDER_REVIEW: ['PENDING', 'ACTIVE'],
  INACTIVE: ['PENDING', 'ACTIVE', 'UNDER_REVIEW'],
};

const dueChecksStatement = statement<{
  platformId: string;
  environment: Environment;
  account: Account;
  ageMs: number;
  attempts: number;
}>(
  'lease_account_checks',
  `with due as (
     select platform_id, account_id from account_check where due_at <= clock_timestamp() order by due_at limit $1
     for update skip locked
   ), leased as (
     update account_check c set due_at = clock_ms() + interval '30 seconds', attempts = c.attempts + 1
     from due where c.platform_id = due.platform_id and c.account_id = due.account_id
     returning c.*
   )
   select l.platform_id, p.environment, l.attempts, account_snapshot(a) as account,
     -- An account created in the future was created before the clock was set back: its age is unknown.
     case when a.created_at > clock_timestamp() + interval '1 second' then 86400000
       else (extract(epoch from clock_timestamp() - a.created_at) * 1000)::float8 end as age_ms
   from leased l
   join platform p on p.id = l.platform_id
   join account a on a.platform_id = l.platform_id and a.id = l.account_id`,
  { account: 'Account' },
);

const nextCheckStatement = statement<{ waitMs: number }>(
  'next_account_check',
  `select greatest(0, extract(epoch from due_at - clock_timestamp()) * 1000)::float8 as wait_ms
   from account_check order by due_at limit 1`,
);

/** Returns the milliseconds until the next account must be checked, or undefined when none waits. */
export async function nextAccountCheck(payments: Payments): Promise<number | undefined> {
  const [row] = await nextCheckStatement(payments.database.pool);
  return row?.waitMs;
}

/**
 * Checks up to `limit` due accounts with the rails, and commits the result of each. A check that fails is repeated
 * later, and so is one whose account has changed meanwhile.
 * @returns the number of accounts taken
 */
export async function checkDueAccounts(payments: Payments, limit: number): Promise<number> {
  const due = await dueChecksStatement(payments.database.pool, limit);
  const groups = await Promise.all(
    due.map(async ({ platformId, environment, account, ageMs, attempts }) => {
      const railAccount = toRailAccount(account);
      const planAccountCheck = async (): Promise<Plan> => {
        const rail = connectedRail(payments, { platformId, environment });
        if (!rail?.checkAccount || !railAccount) throw new Error(`no rail checks accounts for ${environment}`);
        return planCheck(
          account,
          await railAnswer(rail.checkAccount(accountToCheck(account, railAccount), ownerOf(account), ageMs)),
        );
      };
      const plan = await planAccountCheck().catch((error: unknown) => {
        payments.log.error({ err: error, account: account.id }, 'an account could not be checked; it is tried again');
        return planRecheck(account.id, attempts);
      });
      return [{ platformId, plan }];
    }),
  );
  const logFailure = (error: unknown, position: number) =>
    payments.log.error(
      { err: error, account: due[position]?.account.id },
      'a check could not be written; it is made again',
    );
  const refusals = await commitGroups(payments.database, groups, logFailure);
  const outdated = due.filter((_check, position) => refusals[position]);
  const rechecks = outdated.map(({ platformId, account, attempts }) => [
    { platformId, plan: planRecheck(account.id, attempts) },
  ]);
  await commitGroups(payments.database, rechecks, logFailure);
  return due.length;
}

/** Returns an account as the rail checks it. createExternalAccount has stored this form. */
function accountToCheck(account: Account, railAccount: RailAccount): AccountToCheck {
  return {
    ...railAccount,
    id: account.id,
    currency: account.currency,
    beneficiary: trustedJson<Readonly<Record<string, unknown>> | null>(account.beneficiary),
  };
}

/** Plans to check an account again, later each time, at most an hour apart. */
function planRecheck(accountId: string, attempts: number): Plan {
  return { checks: [{ accountId, dueInMs: Math.min(3_600_000, 500 * 2 ** attempts) }] };
}

/** Plans the changes that follow from a check by the rail. */
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
    version: account.version,
    reason: check.explanation ?? 'checked by the rail',
    ...(check.accepted && { set: verificationColumns(check) }),
  };
  return { accounts: [move], checks };
}

/** Returns the columns of an account for a verification. */
export function verificationColumns(check: AccountVerification) {
  return { beneficiaryVerificationStatus: check.verification, beneficiaryVerifiedName: check.verifiedName };
}

/** Returns the name of the owner of an external account, to compare with what its bank has; undefined for a wallet. */
export function ownerOf(account: Account): string | undefined {
  // createExternalAccount has stored this form.
  return ownerName(trustedJson<Beneficiary | null>(account.beneficiary));
}

/** Returns the status of an external account, which always has one. */
export function statusOf(account: Account): ExternalAccountStatus {
  if (account.status === null) throw new Error(`external account ${account.id} has no status`);
  return account.status;
}
