import type { Environment, ExternalAccountStatus } from '../../database/generated/client/client.ts';
import type { Account } from '../../database/rows.ts';
import { statement } from '../../database/statement.ts';
import { trustedJson } from '../../database/trusted-json.ts';
import { commitGroups } from '../../ledger/commit.ts';
import type { AccountMove, Plan } from '../../ledger/plan.ts';
import type { AccountCheck } from '../../rails/rail.ts';
import type { AccountVerification } from '../../rails/simulation.ts';
import type { Payments } from '../command.ts';
import { wholeMs } from '../orders/orders.ts';
import { railAnswer } from '../orders/rail-answer.ts';
import { toRailAccount } from '../parties.ts';
import { type Beneficiary, ownerName } from './external-accounts.ts';

/**
 * What becomes of an external account after it was registered (specification 3.3): the rail goes on checking it, or, where
 * it simulates, somebody says what has become of it (payments/sandbox). A payment that has begun is not stopped by a move:
 * it must be ACTIVE where one begins.
 */

/** From where a status may be reached. The database keeps the same table (external_account_move) and refuses all else. */
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
     -- An account that was made later than now was made before the clock was set back: nobody knows its age.
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

/** How many milliseconds until an account is to be checked again; undefined when none waits. */
export async function nextAccountCheck(payments: Payments): Promise<number | undefined> {
  const [row] = await nextCheckStatement(payments.database.pool);
  return row?.waitMs;
}

/**
 * Asks the rails about up to `limit` accounts that are to be checked again, and commits what has become of each. A rail that
 * cannot be asked is asked later, and an account that somebody moved meanwhile is looked at anew.
 * @returns how many accounts were taken
 */
export async function checkDueAccounts(payments: Payments, limit: number): Promise<number> {
  const due = await dueChecksStatement(payments.database.pool, limit);
  const groups = await Promise.all(
    due.map(async ({ platformId, environment, account, ageMs, attempts }) => {
      const outside = toRailAccount(account);
      const planned = async (): Promise<Plan> => {
        const rail = payments.rails[environment];
        if (!rail || !outside) throw new Error(`no rail checks accounts for ${environment}`);
        return planCheck(account, await railAnswer(rail.checkAccount(outside, ownerOf(account), ageMs)));
      };
      const plan = await planned().catch((error: unknown) => {
        payments.log.error({ err: error, account: account.id }, 'an account could not be checked; it is tried again');
        return checkedLater(account.id, attempts);
      });
      return [{ platformId, plan }];
    }),
  );
  const failed = (error: unknown, position: number) =>
    payments.log.error(
      { err: error, account: due[position]?.account.id },
      'a check could not be written; it is made again',
    );
  const refusals = await commitGroups(payments.database, groups, failed);
  const moved = due.filter((_check, position) => refusals[position]);
  const again = moved.map(({ platformId, account, attempts }) => [
    { platformId, plan: checkedLater(account.id, attempts) },
  ]);
  await commitGroups(payments.database, again, failed);
  return due.length;
}

/** Later each time, at most an hour apart. */
function checkedLater(accountId: string, attempts: number): Plan {
  return { checks: [{ accountId, dueInMs: Math.min(3_600_000, 500 * 2 ** attempts) }] };
}

/** What the rail's word on an account changes. */
function planCheck(account: Account, check: AccountCheck): Plan {
  const said = check.accepted ? check.status : 'INACTIVE';
  const status = statusOf(account);
  const to = said !== status && statusSources[said].includes(status) ? said : status;
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

/** A verification as the account's columns. */
export function verificationColumns(check: AccountVerification) {
  return { beneficiaryVerificationStatus: check.verification, beneficiaryVerifiedName: check.verifiedName };
}

/** Who owns an external account, to be compared with what its bank says; undefined for a wallet. */
export function ownerOf(account: Account): string | undefined {
  // Written by createExternalAccount in this form.
  return ownerName(trustedJson<Beneficiary | null>(account.beneficiary));
}

/** The status of an external account, which always has one. */
export function statusOf(account: Account): ExternalAccountStatus {
  if (account.status === null) throw new Error(`external account ${account.id} has no status`);
  return account.status;
}
