import type { AccountDetails } from '../../core/account-fields.ts';
import { accountTypes } from '../../core/account-types.ts';
import { publicId } from '../../core/ids.ts';
import { checkAll, invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import { checkKey } from '../../core/texts.ts';
import type { ExternalAccountType } from '../../infra/database/generated/client/client.ts';
import type { Account } from '../../infra/database/rows.ts';
import { readClock } from '../../infra/database/transaction.ts';
import type { AccountCheck, AccountToCheck } from '../../rails/rail.ts';
import type { Caller } from '../access/caller.ts';
import { type CommandPlan, command, connectedRail, type Payments } from '../commands/command.ts';
import { checkMetadata, type Metadata } from '../commands/metadata.ts';
import { customerNotFound, customerUuid, idAt, readParties } from '../commands/parties.ts';
import { checkFacts } from '../commands/people.ts';
import type { NewRow } from '../ledger/plan.ts';
import { wholeMs } from '../orders/orders.ts';
import { neededOf } from '../orders/rail-answer.ts';
import { checkAccountInfo, nameFault } from './account-details.ts';
import { verificationColumns } from './account-moves.ts';
import { type Beneficiary, carriedOwner, ownerName, reasonOf } from './beneficiary.ts';

export interface CreateExternalAccount {
  readonly currency: string;
  readonly accountType: ExternalAccountType;
  readonly details: AccountDetails;
  readonly beneficiary?: Beneficiary | null | undefined;
  /** The customer who owns it; the platform itself if omitted. */
  readonly customerId?: string | null | undefined;
  readonly platformAccountId?: string | null | undefined;
  readonly defaultUmaDepositAccount: boolean;
  readonly metadata?: Metadata | null | undefined;
}

const at = pathsIn<CreateExternalAccount>();

/**
 * Registers an external bank account or wallet (specification 4.8). In the sandbox it is ACTIVE at once unless its
 * suffix selects another status. If the rail needs time for its check, the check is repeated (account-moves.ts).
 * @throws Refusal INVALID_BANK_ACCOUNT, INVALID_CURRENCY, INVALID_INPUT, USER_NOT_FOUND, CONFLICT (it exists),
 *   IDEMPOTENCY_MISMATCH
 */
export const createExternalAccount = command((payments, caller, input: CreateExternalAccount) => ({
  operation: 'createExternalAccount',
  type: 'Account',
  plan: () => planAccount(payments, caller, input),
  paths: { ACCOUNT_EXISTS: at('details'), CUSTOMER_FROZEN: at('customerId') },
}));

/** Plans the registration of an account that the rail has checked. */
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
  const toCheck = {
    ...{ type: input.accountType, identifier: identity.identifier, id, currency: input.currency },
    details: info,
    beneficiary: beneficiary && { ...beneficiary },
    carriedName: carriedOwner(input.accountType, beneficiary),
  };
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
    customer: customerId ? customerUuid(customerId, at('customerId')) : undefined,
    ids: 1,
  });
  if (customerId && (!parties.customer || parties.customer.isDeleted)) customerNotFound(at('customerId'));
  if (defaultUmaDepositAccount && !parties.customer) {
    throw invalid("a platform's own account cannot receive UMA payments", at('defaultUmaDepositAccount'));
  }
  return parties;
}

/**
 * Returns an app's input with its customer as the owner. Only the platform decides where incoming payments go.
 * @throws Refusal FORBIDDEN
 */
function ofApp({ bound }: Caller, input: CreateExternalAccount): CreateExternalAccount {
  if (bound.kind !== 'CUSTOMER') return input;
  if (input.defaultUmaDepositAccount) {
    const message = 'only platforms may set where incoming payments go, not client tokens';
    throw new Refusal('FORBIDDEN', message, at('defaultUmaDepositAccount'));
  }
  return { ...input, customerId: input.customerId ?? publicId('Customer', bound.customerId) };
}

type AcceptedAccount = Extract<AccountCheck, { accepted: true }>;

/**
 * Checks an account with the rail. If the rail does not check accounts, the account is PENDING.
 * @throws Refusal INVALID_BANK_ACCOUNT
 */
async function checkWithRail(
  payments: Payments,
  caller: Caller,
  account: AccountToCheck,
  name: string | undefined,
): Promise<AcceptedAccount> {
  const rail = connectedRail(payments, caller);
  if (!rail?.checkAccount) {
    const verification = name === undefined ? null : 'PENDING';
    return { accepted: true, status: 'PENDING', verification, verifiedName: null };
  }
  const check = await neededOf(payments, rail.checkAccount(account, name, 0));
  if (!check.accepted || check.status === 'INACTIVE') {
    const reason = check.explanation ?? 'the account cannot be used';
    throw new Refusal('INVALID_BANK_ACCOUNT', reason, at('details'));
  }
  return check;
}

function checkBeneficiary({ environment }: Caller, input: CreateExternalAccount, now: Date) {
  const { beneficiary, accountType } = input;
  if (!accountTypes[accountType].beneficiary) {
    if (beneficiary) throw invalid(`an account of the type ${accountType} has no beneficiary`, at('beneficiary'));
    return null;
  }
  if (!beneficiary) throw invalid(`an account of the type ${accountType} needs a beneficiary`, at('beneficiary'));
  const { address, ...checked } = checkFacts(beneficiary, at('beneficiary'), now);
  const owner = { ...checked, address: address ? { ...address } : null };
  const fault = nameFault({ accountType, beneficiary: owner });
  if (fault?.isRefused && environment === 'PRODUCTION') throw invalid(fault.field.message, fault.field.path);
  return owner;
}
