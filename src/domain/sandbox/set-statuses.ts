import { type Expecting, invalid, pathsIn } from '../../core/refusal.ts';
import { checkText, longest } from '../../core/texts.ts';
import type {
  BeneficiaryVerificationStatus,
  ExternalAccountStatus,
  KycStatus,
} from '../../infra/database/generated/client/client.ts';
import { reasonOf } from '../accounts/account-details.ts';
import { ownerOf, readExternal, statusOf, statusSources, verificationColumns } from '../accounts/external-accounts.ts';
import { command, simulationOf } from '../commands/command.ts';
import { readCustomer } from '../customers/customers.ts';
import type { AccountMove } from '../ledger/plan.ts';

interface SetExternalAccountStatus extends Expecting {
  readonly accountId: string;
  readonly status?: ExternalAccountStatus | null | undefined;
  readonly beneficiaryVerificationStatus?: BeneficiaryVerificationStatus | null | undefined;
  readonly reason?: string | null | undefined;
}

const at = pathsIn<SetExternalAccountStatus & SetKycStatus>();

/**
 * Sets the status or the owner verification of an external account, or both, as its bank or the rail would (sandbox
 * only). This also ends the sandbox's own check of the account.
 * @throws Refusal FORBIDDEN, ACCOUNT_NOT_FOUND, INVALID_INPUT, CONFLICT (its current status does not allow this, or the
 *   same account was registered again while it was INACTIVE), IDEMPOTENCY_MISMATCH
 */
export const setExternalAccountStatus = command((payments, caller, input: SetExternalAccountStatus) => ({
  operation: 'sandboxSetExternalAccountStatus',
  type: 'Account',
  plan: async () => {
    const simulation = simulationOf(payments, caller);
    const reason = checkText(input.reason, at('reason'), longest.memo) ?? 'set on request (sandbox)';
    const { status, beneficiaryVerificationStatus: verification } = input;
    if (!status && !verification) throw invalid("set the status, the owner's verification, or both", at('status'));
    const account = await readExternal(payments, caller, input.accountId, at('accountId'));
    const name = ownerOf(account);
    if (verification && name === undefined) {
      throw invalid('a wallet has no owner to verify', at('beneficiaryVerificationStatus'));
    }
    const verified = verification && simulation.accountVerification(name, verification);
    const said = { verification: null, verifiedName: null, ...verified, explanation: reason };
    const move: AccountMove = {
      id: account.id,
      from: status ? statusSources[status] : [statusOf(account)],
      to: status ?? statusOf(account),
      reason: reasonOf(said, name) ?? reason,
      ...(verified && { set: verificationColumns(verified) }),
    };
    return { accounts: [move], checks: [{ accountId: account.id, dueInMs: null }], result: account.id };
  },
  paths: { CONFLICT: at('status'), ACCOUNT_EXISTS: at('accountId') },
}));

export interface SetKycStatus extends Expecting {
  readonly customerId: string;
  readonly kycStatus: KycStatus;
}

/**
 * Concludes a customer's identity check, as its provider would (sandbox only). A new name starts another check.
 * @throws Refusal FORBIDDEN, USER_NOT_FOUND, CUSTOMER_DELETED, IDEMPOTENCY_MISMATCH
 */
export const setKycStatus = command((payments, caller, input: SetKycStatus) => ({
  operation: 'sandboxSetKycStatus',
  type: 'Customer',
  plan: async () => {
    simulationOf(payments, caller);
    const { id } = await readCustomer(payments, caller, input.customerId);
    return { customers: [{ id, set: { kycStatus: input.kycStatus } }], result: id };
  },
  paths: { CUSTOMER_DELETED: at('customerId') },
}));
