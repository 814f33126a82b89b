import { checkAll, type Expecting, type FieldPath, invalid, pathsIn } from '../../core/refusal.ts';
import { checkKey } from '../../core/texts.ts';
import { ExternalAccountStatus } from '../../infra/database/generated/client/client.ts';
import type { Caller } from '../access/caller.ts';
import { command, type Payments } from '../commands/command.ts';
import { checkMetadata, type Metadata } from '../commands/metadata.ts';
import { accountName, accountNotFound, readTransferParties } from '../commands/parties.ts';
import type { AccountMove } from '../ledger/plan.ts';

/** The input of updateExternalAccount. An absent field stays unchanged. */
export interface UpdateExternalAccount extends Expecting {
  readonly accountId: string;
  /** The platform's own id of the account; null removes it. */
  readonly platformAccountId?: string | null | undefined;
  readonly defaultUmaDepositAccount?: boolean | null | undefined;
  /** Replaces all metadata. */
  readonly metadata?: Metadata | null | undefined;
}

const at = pathsIn<UpdateExternalAccount>();
const anyStatus = Object.values(ExternalAccountStatus);
const conflict = { reason: 'the external account cannot be changed' };

/**
 * Changes the platform's own id of an external account, its metadata, and whether it is the default for its customer's
 * incoming UMA payments. A new default replaces the previous one. The details that identify the account at its bank
 * cannot change: that would be a different account.
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
 * payments still show it and continue; new ones cannot use it (decision 68). The same account can be registered again.
 * @throws Refusal ACCOUNT_NOT_FOUND, CONFLICT (deleted before), IDEMPOTENCY_MISMATCH
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

/**
 * Reads an external account that the caller may see. `path` is the path of the id in the input.
 * @throws Refusal ACCOUNT_NOT_FOUND
 */
export async function readExternal(payments: Payments, caller: Caller, accountId: string, path: FieldPath) {
  const named = accountName(accountId, path);
  const { source } = await readTransferParties(payments.database.pool, caller, { source: named, ids: 0 });
  return source?.kind === 'EXTERNAL' ? source : accountNotFound(path);
}
