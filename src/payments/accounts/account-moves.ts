import type { Caller } from '../../access/caller.ts';
import { checkText } from '../../core/checks.ts';
import { uuidOf } from '../../core/ids.ts';
import { Refusal } from '../../core/refusal.ts';
import type {
  BeneficiaryVerificationStatus,
  Environment,
  ExternalAccountStatus,
} from '../../database/generated/client/client.ts';
import { type Account, rowFromSnapshot } from '../../database/rows.ts';
import { statement } from '../../database/statement.ts';
import { stored } from '../../database/stored.ts';
import { commitGroups } from '../../ledger/commit.ts';
import type { AccountMove, Plan } from '../../ledger/plan.ts';
import type { AccountCheck } from '../../rails/rail.ts';
import { verificationOf } from '../../rails/sandbox/account-check.ts';
import { type Done, type Payments, run } from '../command.ts';
import { wholeMs } from '../orders/orders.ts';
import { railAnswer } from '../orders/rail-answer.ts';
import { accountNotFound, outsideOf, readParties } from '../parties.ts';
import { type Beneficiary, ownerName } from './external-accounts.ts';

/**
 * What becomes of an external account after it was registered (specification 3.3): the rail goes on checking it, or, in the
 * sandbox, somebody says what has become of it. A payment that has begun is not stopped by a move: it must be ACTIVE where
 * one begins.
 */

/** From where a status may be reached. The database keeps the same table (external_account_move) and refuses all else. */
const sources: Readonly<Record<ExternalAccountStatus, readonly ExternalAccountStatus[]>> = {
  PENDING: [],
  ACTIVE: ['PENDING', 'UNDER_REVIEW', 'INACTIVE'],
  UNDER_REVIEW: ['PENDING', 'ACTIVE'],
  INACTIVE: ['PENDING', 'ACTIVE', 'UNDER_REVIEW'],
};

export interface SetExternalAccountStatus {
  readonly accountId: string;
  readonly status?: ExternalAccountStatus | null | undefined;
  readonly beneficiaryVerificationStatus?: BeneficiaryVerificationStatus | null | undefined;
  readonly reason?: string | null | undefined;
}

/**
 * Sandbox only: moves the status or the beneficiary verification of an external account, or both at once, as its bank or
 * the rail would. What is said here stands: the sandbox's own check of the account is over.
 * @throws Refusal FORBIDDEN, ACCOUNT_NOT_FOUND, INVALID_INPUT, CONFLICT (no such move from its present status, or the same
 *   account was registered anew while it was INACTIVE), IDEMPOTENCY_MISMATCH
 */
export function setExternalAccountStatus(
  payments: Payments,
  caller: Caller,
  input: SetExternalAccountStatus,
  idempotencyKey?: string | null,
): Promise<Done<Account>> {
  return run(payments, caller, {
    operation: 'sandboxSetExternalAccountStatus',
    type: 'Account',
    input,
    idempotencyKey,
    plan: async () => {
      if (caller.environment !== 'SANDBOX') {
        throw new Refusal('FORBIDDEN', 'only sandbox platforms can simulate the world outside');
      }
      checkText(input.reason, 'reason');
      const { status, beneficiaryVerificationStatus: verification } = input;
      if (!status && !verification) {
        throw new Refusal('INVALID_INPUT', 'say what moves: status, beneficiaryVerificationStatus or both', {
          field: 'status',
        });
      }
      const account = await readExternal(payments, caller, input.accountId);
      const name = ownerOf(account);
      if (verification && name === undefined) {
        throw new Refusal('INVALID_INPUT', 'a wallet has no owner to compare', {
          field: 'beneficiaryVerificationStatus',
        });
      }
      const move: AccountMove = {
        id: account.id,
        from: status ? sources[status] : [statusOf(account)],
        to: status ?? statusOf(account),
        reason: input.reason ?? 'set on request (sandbox)',
        ...(verification && { set: asColumns(verificationOf(name, verification)) }),
      };
      return { accounts: [move], checks: [{ accountId: account.id, dueInMs: null }], result: account.id };
    },
    fields: { CONFLICT: 'status', ACCOUNT_EXISTS: 'accountId' },
  });
}

async function readExternal(payments: Payments, caller: Caller, id: string): Promise<Account> {
  const uuid = uuidOf(id, 'ExternalAccount') ?? accountNotFound('accountId');
  const { source } = await readParties(payments.database.pool, caller, { source: uuid, ids: 0 });
  return source?.kind === 'EXTERNAL' ? source : accountNotFound('accountId');
}

const dueChecksStatement = statement<{
  platform_id: string;
  environment: Environment;
  account: Record<string, unknown>;
  age_ms: number;
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
);

const nextCheckStatement = statement<{ wait_ms: number }>(
  'next_account_check',
  `select greatest(0, extract(epoch from due_at - clock_timestamp()) * 1000)::float8 as wait_ms
   from account_check order by due_at limit 1`,
);

/** How many milliseconds until an account is to be checked again; undefined when none waits. */
export async function nextAccountCheck(payments: Payments): Promise<number | undefined> {
  const [row] = await nextCheckStatement(payments.database.pool);
  return row?.wait_ms;
}

/**
 * Asks the rails about up to `limit` accounts that are to be checked again, and commits what has become of each. A rail that
 * cannot be asked is asked later, and an account that somebody moved meanwhile is looked at anew.
 * @returns how many accounts were taken
 */
export async function checkDueAccounts(payments: Payments, limit: number): Promise<number> {
  const due = await dueChecksStatement(payments.database.pool, limit);
  const groups = await Promise.all(
    due.map(async ({ platform_id: platformId, environment, account: snapshot, age_ms: ageMs, attempts }) => {
      const account = rowFromSnapshot('Account', snapshot);
      const outside = outsideOf(account);
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
  const again = moved.map(({ platform_id: platformId, account, attempts }) => [
    { platformId, plan: checkedLater(String(account.id), attempts) },
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
  const to = said !== status && sources[said].includes(status) ? said : status;
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
    ...(check.accepted && { set: asColumns(check) }),
  };
  return { accounts: [move], checks };
}

function asColumns(check: { verification: BeneficiaryVerificationStatus | null; verifiedName: string | null }) {
  return { beneficiaryVerificationStatus: check.verification, beneficiaryVerifiedName: check.verifiedName };
}

function ownerOf(account: Account): string | undefined {
  // Written by createExternalAccount in this form.
  return ownerName(stored<Beneficiary | null>(account.beneficiary));
}

function statusOf(account: Account): ExternalAccountStatus {
  if (account.status === null) throw new Error(`external account ${account.id} has no status`);
  return account.status;
}
