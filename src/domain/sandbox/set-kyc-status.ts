import { type Expecting, pathsIn } from '../../core/refusal.ts';
import type { KycStatus } from '../../infra/database/generated/client/client.ts';
import { command, simulationOf } from '../commands/command.ts';
import { readCustomer } from '../customers/customer-changes.ts';

export interface SetKycStatus extends Expecting {
  readonly customerId: string;
  readonly kycStatus: KycStatus;
}

const at = pathsIn<SetKycStatus>();

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
