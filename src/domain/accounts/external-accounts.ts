import type { AccountDetails } from '../../core/account-fields.ts';
import { accountTypes } from '../../core/account-types.ts';
import { publicId } from '../../core/ids.ts';
import { checkAll, type Expecting, type FieldPath, invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import { checkKey } from '../../core/texts.ts';
import { ExternalAccountStatus, type ExternalAccountType } from '../../infra/database/generated/client/client.ts';
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
import { readClock } from '../../infra/database/transaction.ts';
import type { AccountCheck, AccountToCheck } from '../../rails/rail.ts';
import type { AccountVerification, RailAccount } from '../../rails/rail-parts.ts';
import type { Caller } from '../access/caller.ts';
import { type CommandPlan, command, connectedRail, type Payments } from '../commands/command.ts';
import { checkFacts, checkMetadata, type Metadata } from '../commands/information.ts';
import {
  accountName,
  accountNotFound,
  customerNotFound,
  customerUuid,
  idAt,
  readParties,
  readTransferParties,
  toRailAccount,
} from '../commands/parties.ts';
import { commitPlan } from '../ledger/commit.ts';
import type { AccountMove, NewRow, Plan } from '../ledger/plan.ts';
import { neededOf, railAnswer, wholeMs } from '../orders/orders.ts';
import { type Beneficiary, carriedOwner, checkAccountInfo, nameFault, ownerName, reasonOf } from './account-details.ts';

export interface CreateExternalAccount {
  readonly currency: string;
  readonly accountType: ExternalAccountType;
  readonly details: AccountDetails;
  readonly beneficiary?: Beneficiary | null | undefined;
  /** The customer who owns the account; if omitted, the platform itself owns it. */
  readonly customerId?: string | null | undefined;
  readonly platformAccountId?: string | null | undefined;
  readonly defaultUmaDepositAccount: boolean;
  readonly metadata?: Metadata | null | undefined;
}

const at = pathsIn<CreateExternalAccount & UpdateExternalAccount>();

/**
 * Registers an external bank account or wallet. In the sandbox, it is ACTIVE immediately unless its suffix selects
 * another status. If the rail needs more time for its check, `checkDueAccounts` queries the rail again later.
 * @throws Refusal INVALID_BANK_ACCOUNT, INVALID_CURRENCY, INVALID_INPUT, USER_NOT_FOUND, CUSTOMER_DELETED (deleted in
 *   the meantime), CONFLICT (the account already exists), IDEMPOTENCY_MISMATCH
 */
export const createExternalAccount = command((payments, caller, input: CreateExternalAccount) => ({
  operation: 'createExternalAccount',
  type: 'Account',
  plan: () => planAccount(payments, caller, input),
  paths: { ACCOUNT_EXISTS: at('details'), CUSTOMER_FROZEN: at('customerId'), CUSTOMER_DELETED: at('customerId') },
}));

async function planAccount(payments: Payments, caller: Caller, given: CreateExternalAccount): Promise<CommandPlan> {
  const input = ofApp(caller, given);
  const born = input.beneficiary?.beneficiaryType === 'INDIVIDUAL' && input.beneficiary.birthDate;
  const isTimed = born || input.accountType === 'LIGHTNING';
  const { now } = isTimed ? await readClock(payments.database.pool) : { now: new Date(0) };
  const [{ info, identity }, beneficiary, platformAccountId = null, metadata = null] = checkAll(
    () => checkAccountInfo(input, caller.environment, now),
    () => checkBeneficiary(caller, input, now),
    () => checkKey(input.platformAccountId, at('platformAccountId')),
    () => checkMetadata(caller, input.metadata, at('metadata')),
  );
  const parties = await readOwner(payments, caller, input);
  const id = idAt(parties, 0);
  const railAccount = { type: input.accountType, identifier: identity.identifier, details: info };
  const toCheck = accountToCheck({ id, currency: input.currency, beneficiary }, railAccount);
  const check = await checkWithRail(payments, caller, toCheck, ownerName(beneficiary));
  const account: NewRow<Account> = {
    platformId: caller.platformId,
    id,
    kind: 'EXTERNAL',
    customerId: parties.customer?.id ?? null,
    currency: input.currency,
    posted: 0n,
    fundingInstructions: [],
    status: check.status,
    statusReason: reasonOf(check, ownerName(beneficiary)),
    accountType: input.accountType,
    accountInfo: info,
    ...identity,
    beneficiary,
    ...{ platformAccountId, metadata, defaultUmaDepositAccount: input.defaultUmaDepositAccount },
    isDeleted: false,
    ...verificationColumns(check),
  };
  const again = check.checkInMs !== undefined && [{ accountId: id, dueInMs: wholeMs(check.checkInMs) }];
  return { insert: { account: [account], ...(again && { account_check: again }) }, result: id };
}

async function readOwner(payments: Payments, caller: Caller, input: CreateExternalAccount) {
  const { customerId, defaultUmaDepositAccount } = input;
  const parties = await readParties(payments.database.pool, caller, {
    customer: customerId == null ? undefined : customerUuid(customerId, at('customerId')),
    ids: 1,
  });
  if (customerId != null && (!parties.customer || parties.customer.isDeleted)) customerNotFound(at('customerId'));
  if (defaultUmaDepositAccount && !parties.customer) {
    throw invalid("a platform's own account cannot receive UMA payments", at('defaultUmaDepositAccount'));
  }
  return parties;
}

/** Makes an app's customer the account's owner. @throws Refusal FORBIDDEN for a default deposit account */
function ofApp({ bound }: Caller, input: CreateExternalAccount): CreateExternalAccount {
  if (bound.kind !== 'CUSTOMER') return input;
  if (input.defaultUmaDepositAccount) {
    const message = 'a client token cannot set where incoming payments go';
    throw new Refusal('FORBIDDEN', message, at('defaultUmaDepositAccount'));
  }
  return { ...input, customerId: input.customerId ?? publicId('Customer', bound.customerId) };
}

/**
 * Checks an account with the rail. The account is PENDING if the rail does not check accounts.
 * @throws Refusal INVALID_BANK_ACCOUNT
 */
async function checkWithRail(
  payments: Payments,
  caller: Caller,
  account: AccountToCheck,
  name: string | undefined,
): Promise<Extract<AccountCheck, { accepted: true }>> {
  const rail = connectedRail(payments, caller);
  if (!rail?.checkAccount) {
    const verification = name === undefined ? null : 'PENDING';
    return { accepted: true, status: 'PENDING', verification, verifiedName: null };
  }
  const check = await neededOf(payments, rail.checkAccount(account, name, 0));
  if (check.accepted && check.status !== 'INACTIVE') return check;
  throw new Refusal('INVALID_BANK_ACCOUNT', check.explanation ?? 'the account cannot be used', at('details'));
}

function checkBeneficiary({ environment }: Caller, input: CreateExternalAccount, now: Date) {
  const { beneficiary, accountType } = input;
  const isOwned = accountTypes[accountType].beneficiary;
  if (isOwned !== Boolean(beneficiary)) {
    const words = isOwned ? 'needs a beneficiary' : 'cannot have a beneficiary';
    throw invalid(`an account of type ${accountType} ${words}`, at('beneficiary'));
  }
  if (!beneficiary) return null;
  const { address, ...checked } = checkFacts(beneficiary, at('beneficiary'), now);
  const owner = { ...checked, address: address ? { ...address } : null };
  const fault = nameFault({ accountType, beneficiary: owner });
  if (fault?.isRefused && environment === 'PRODUCTION') throw invalid(fault.field.message, fault.field.path);
  return owner;
}

/** The input of updateExternalAccount. An absent field stays unchanged. */
export interface UpdateExternalAccount extends Expecting {
  readonly accountId: string;
  /** The platform's own id for the account; null removes it. */
  readonly platformAccountId?: string | null | undefined;
  readonly defaultUmaDepositAccount?: boolean | null | undefined;
  /** Replaces all metadata. */
  readonly metadata?: Metadata | null | undefined;
}

const anyStatus = Object.values(ExternalAccountStatus);
const conflict = { reason: 'the external account cannot be changed' };

/**
 * Changes an external account's metadata, the platform's own id for it, or whether it is the customer's default for
 * incoming UMA payments. A new default replaces the previous one. The details that identify the account at its bank
 * cannot change, because that would make it a different account.
 * @throws Refusal ACCOUNT_NOT_FOUND, INVALID_INPUT, CONFLICT (it is deleted), IDEMPOTENCY_MISMATCH
 */
export const updateExternalAccount = command((payments, caller, input: UpdateExternalAccount) => ({
  operation: 'updateExternalAccount',
  nullClears: true,
  type: 'Account',
  plan: async () => {
    const { defaultUmaDepositAccount } = input;
    const [platformAccountId, metadata] = checkAll(
      () => checkKey(input.platformAccountId, at('platformAccountId')),
      () => checkMetadata(caller, input.metadata === null ? {} : input.metadata, at('metadata')),
    );
    const account = await readExternal(payments, caller, input.accountId, at('accountId'));
    if (defaultUmaDepositAccount && account.customerId === null) {
      throw invalid("a platform's own account cannot receive UMA payments", at('defaultUmaDepositAccount'));
    }
    const set: AccountMove['set'] = {
      ...(platformAccountId !== undefined && { platformAccountId }),
      ...(defaultUmaDepositAccount != null && { defaultUmaDepositAccount }),
      ...(metadata !== undefined && { metadata }),
    };
    return { accounts: [{ id: account.id, from: anyStatus, set }], result: account.id };
  },
  path: at('accountId'),
  conflict,
}));

/**
 * Deletes an external account: it becomes INACTIVE permanently, and is no longer its customer's default. Existing
 * payments still show it and continue, but new payments cannot use it. The same account can be registered again.
 * @throws Refusal ACCOUNT_NOT_FOUND, CONFLICT (already deleted), IDEMPOTENCY_MISMATCH
 */
export const deleteExternalAccount = command((payments, caller, input: { readonly accountId: string } & Expecting) => ({
  operation: 'deleteExternalAccount',
  type: 'Account',
  plan: async () => {
    const { id } = await readExternal(payments, caller, input.accountId, at('accountId'));
    const set = { isDeleted: true, defaultUmaDepositAccount: false };
    return {
      accounts: [{ id, from: anyStatus, to: 'INACTIVE', reason: 'deleted by the platform', set }],
      // The rail no longer needs to check it.
      checks: [{ accountId: id, dueInMs: null }],
      result: id,
    };
  },
  path: at('accountId'),
  conflict,
}));

/** Reads an external account that the caller may see. @throws Refusal ACCOUNT_NOT_FOUND */
async function readExternal(payments: Payments, caller: Caller, accountId: string, path: FieldPath) {
  const named = accountName(accountId, path);
  const { source } = await readTransferParties(payments.database.pool, caller, { source: named, ids: 0 });
  return source?.kind === 'EXTERNAL' ? source : accountNotFound(path);
}

// After registration, the rail may check an external account again and change its status. Payments that have already
// begun continue, because an account has to be ACTIVE only when a payment begins.

/** For each status, the statuses from which an account may change to it, as in the database's status_moves. */
const statusSources: Readonly<Record<ExternalAccountStatus, readonly ExternalAccountStatus[]>> = {
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
 * Runs up to `limit` due account checks with the rails, and commits each result. If a check fails, or its account
 * changes in the meantime, the check is repeated later.
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

/** Converts an account, as stored by createExternalAccount, to the form that rails expect when they check it. */
function accountToCheck(
  { id, currency, beneficiary: stored }: Pick<Account, 'id' | 'currency' | 'beneficiary'>,
  railAccount: RailAccount,
): AccountToCheck {
  const beneficiary = trustedJson<Beneficiary | null>(stored);
  const carriedName = carriedOwner(railAccount.type, beneficiary);
  return { ...railAccount, id, currency, beneficiary: beneficiary && { ...beneficiary }, carriedName };
}

function planCheck(account: Account, check: AccountCheck): Plan {
  const reported = check.accepted ? check.status : 'INACTIVE';
  const { status } = account;
  if (status === null) throw new Error(`external account ${account.id} has no status`);
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

function verificationColumns(check: AccountVerification) {
  return { beneficiaryVerificationStatus: check.verification, beneficiaryVerifiedName: check.verifiedName };
}

/** Returns the name of an external account's owner, for comparison with the bank's record; undefined for a wallet. */
function ownerOf(account: Account): string | undefined {
  // createExternalAccount stores the beneficiary in this form.
  return ownerName(trustedJson<Beneficiary | null>(account.beneficiary));
}
