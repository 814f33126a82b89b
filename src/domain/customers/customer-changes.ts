import { publicId, uuidOf } from '../../core/ids.ts';
import { checkAll, type Expecting, invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import type { Customer } from '../../infra/database/rows.ts';
import { statement } from '../../infra/database/statement.ts';
import type { Caller } from '../access/caller.ts';
import { forCaller, visibleRow } from '../access/visible.ts';
import { command, type Payments } from '../commands/command.ts';
import { checkMetadata, type Metadata } from '../commands/metadata.ts';
import { customerNotFound } from '../commands/parties.ts';
import { checkCustomerAddress } from '../commands/uma-addresses.ts';
import { type CustomerDetails, checkedIdentity, detailColumns, nextCheck } from './customers.ts';

export interface UpdateCustomer extends Expecting {
  readonly customerId: string;
  readonly umaAddress?: string | null | undefined;
  /** The details to change; omitted fields stay unchanged. */
  readonly details?: CustomerDetails | null | undefined;
  /** Replaces all metadata. */
  readonly metadata?: Metadata | null | undefined;
}

const at = pathsIn<UpdateCustomer>();

/**
 * Changes the details of a customer, but not its type. If the rail checks identities, a new name is checked like that
 * of a new customer.
 * @throws Refusal USER_NOT_FOUND, CUSTOMER_DELETED, INVALID_INPUT, INVALID_UMA_ADDRESS, UMA_ADDRESS_EXISTS,
 *   IDEMPOTENCY_MISMATCH
 */
export const updateCustomer = command((payments, caller, input: UpdateCustomer) => ({
  operation: 'updateCustomer',
  nullClears: true,
  type: 'Customer',
  plan: async () => {
    const { customer, umaDomain, now } = await findCustomer(payments, caller, input.customerId);
    const details = input.details ?? undefined;
    // As in all commands, the input is validated before the records that it names are checked.
    const [columns, umaAddress, metadata] = checkAll(
      () => (details ? detailColumns(details, now) : {}),
      () => input.umaAddress && checkCustomerAddress(umaDomain, input.umaAddress, customer?.umaAddress),
      () => checkMetadata(caller, input.metadata === null ? {} : input.metadata, at('metadata')),
    );
    if (!customer) customerNotFound(at('customerId'));
    if (details && details.customerType !== customer.customerType) {
      throw invalid(`the customer is of the type ${customer.customerType}, which cannot change`, at('details'));
    }
    const renamed = typeof columns.name === 'string' && columns.name !== customer.name;
    const { id: customerId, customerType } = customer;
    const identity = { customerId, customerType, name: columns.name ?? null, attempts: 0 };
    const checked = renamed ? await checkedIdentity(payments, caller, identity) : undefined;
    const set = {
      ...columns,
      // A name equal to the current one is not set: a concurrent request may have set another, with its own identity
      // check.
      ...(columns.name === customer.name && { name: undefined, searchName: undefined }),
      ...(umaAddress && { umaAddress }),
      ...(checked && { kycStatus: checked.status }),
      ...(metadata !== undefined && { metadata }),
    };
    if (Object.keys(set).length > 0) {
      return {
        ...(checked && { insert: { identity_check: [nextCheck(customerId, checked)] } }),
        customers: [{ id: customerId, set }],
        result: customerId,
      };
    }
    // Nothing changes, so there is no new version and no event. A deleted customer is still refused.
    if (customer.isDeleted) {
      const existingId = publicId('Customer', customerId);
      throw new Refusal('CUSTOMER_DELETED', 'the customer is deleted', { path: at('customerId'), existingId });
    }
    return { result: customerId };
  },
  paths: { UMA_ADDRESS_EXISTS: at('umaAddress'), CUSTOMER_DELETED: at('customerId') },
}));

/**
 * Deletes a customer who holds no money and has no payment under way (decision 36). Its history is kept, it can no
 * longer move money, and its UMA address becomes available again. The customer's client tokens are revoked, as are
 * those of its quotes and transactions.
 * @throws Refusal USER_NOT_FOUND, CUSTOMER_DELETED (deleted before), CUSTOMER_IN_USE (with the obstacles),
 *   CUSTOMER_FROZEN, IDEMPOTENCY_MISMATCH
 */
export const deleteCustomer = command((payments, caller, input: { readonly customerId: string } & Expecting) => ({
  operation: 'deleteCustomer',
  type: 'Customer',
  plan: async () => {
    const { id } = await readCustomer(payments, caller, input.customerId);
    return { customers: [{ id, set: { isDeleted: true } }], result: id };
  },
  path: at('customerId'),
}));

const customerStatement = forCaller(
  statement<{ customer: Customer | null; umaDomain: string; now: Date }>(
    'customer_to_change',
    `select to_jsonb(c) as customer, p.uma_domain, clock_ms() as now
     from platform p left join customer c on ${visibleRow('customer', 'c')} and c.id = $4 where p.id = $1`,
    { customer: 'Customer' },
  ),
);

/** Finds a customer (null if there is none), the UMA domain of the caller's platform, and the database's clock. */
async function findCustomer(payments: Payments, caller: Caller, customerId: string) {
  const uuid = uuidOf(customerId, 'Customer') ?? null;
  const [found] = await customerStatement(payments.database.pool, caller, uuid);
  if (!found) throw new Error(`no platform ${caller.platformId}`);
  return found;
}

/** Reads a customer. @throws Refusal USER_NOT_FOUND */
export async function readCustomer(payments: Payments, caller: Caller, customerId: string): Promise<Customer> {
  return (await findCustomer(payments, caller, customerId)).customer ?? customerNotFound(at('customerId'));
}
