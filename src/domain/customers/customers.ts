import { publicId, uuidOf } from '../../core/ids.ts';
import { checkAll, type Expecting, invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import { checkKey, foldedText } from '../../core/texts.ts';
import { type Lease, type LeasedTable, leasing, postponing, workOnDue } from '../../infra/database/leases.ts';
import { retryLostRaces } from '../../infra/database/retry.ts';
import type { Customer } from '../../infra/database/rows.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import { inTransaction } from '../../infra/database/transaction.ts';
import type { IdentityAnswer, IdentityCheck, IdentityRequest } from '../../rails/rail-parts.ts';
import type { Caller } from '../access/caller.ts';
import { forCaller, visibleRow } from '../access/visible.ts';
import { newInternalAccounts } from '../accounts/internal-accounts.ts';
import { command, connectedRail, type Payments } from '../commands/command.ts';
import {
  type BusinessFacts,
  checkFacts,
  checkMetadata,
  type Metadata,
  type OwnerFacts,
  type PersonFacts,
} from '../commands/information.ts';
import { customerNotFound, idAt } from '../commands/parties.ts';
import { checkCustomerAddress } from '../commands/uma-addresses.ts';
import { commitPlanOn } from '../ledger/commit.ts';
import { neededOf, railAnswer, wholeMs } from '../orders/orders.ts';

/** The roles that a person can have in a company. */
export const individualTypes = {
  DIRECTOR: 'A director of the company.',
  CONTROL_PERSON: 'A person who controls the company.',
  BUSINESS_POINT_OF_CONTACT: "The company's contact person.",
  TRUSTEE: 'A trustee.',
  SETTLOR: 'A settlor.',
  GENERAL_PARTNER: 'A general partner.',
} as const;

export type IndividualType = keyof typeof individualTypes;

export interface BeneficialOwner extends OwnerFacts {
  readonly fullName: string;
  readonly individualType: IndividualType;
  readonly percentageOwnership?: number | null | undefined;
}

export type CustomerDetails =
  | ({ readonly customerType: 'INDIVIDUAL'; readonly fullName?: string | null | undefined } & PersonFacts)
  | ({
      readonly customerType: 'BUSINESS';
      /** Required for a new customer. */
      readonly legalName?: string | null | undefined;
      readonly beneficialOwners?: readonly BeneficialOwner[] | null | undefined;
    } & BusinessFacts);

export interface CreateCustomer {
  readonly platformCustomerId: string;
  readonly umaAddress?: string | null | undefined;
  readonly details: CustomerDetails;
  readonly metadata?: Metadata | null | undefined;
}

const at = pathsIn<CreateCustomer & UpdateCustomer>();

const profileStatement = statement<{ umaDomain: string; currencies: string[]; ids: string[]; now: Date }>(
  'platform_profile',
  `select uma_domain, currencies, clock_ms() as now, array(select uuid_v7() from generate_series(0, cardinality(currencies))) as ids
   from platform where id = $1`,
);

/** Reads a platform's defaults for new customers, with new ids for one customer and its accounts. */
export async function readProfile(on: Queryable, platformId: string) {
  const [profile] = await profileStatement(on, platformId);
  if (!profile) throw new Error(`no platform ${platformId}`);
  return profile;
}

/**
 * Creates a customer with an internal account for each of the platform's currencies.
 * @throws Refusal INVALID_INPUT, INVALID_UMA_ADDRESS, UMA_ADDRESS_EXISTS, IDEMPOTENCY_MISMATCH
 */
export const createCustomer = command((payments, caller, input: CreateCustomer) => ({
  operation: 'createCustomer',
  type: 'Customer',
  plan: async () => {
    const profile = await readProfile(payments.database.pool, caller.platformId);
    const id = idAt(profile, 0);
    const [platformCustomerId, details, umaAddress, metadata = null] = checkAll(
      () => checkKey(input.platformCustomerId, at('platformCustomerId')),
      () => detailColumns(withName(input.details), profile.now),
      () =>
        input.umaAddress == null
          ? `$${id.slice(-12)}@${profile.umaDomain}`
          : checkCustomerAddress(profile.umaDomain, input.umaAddress),
      () => checkMetadata(caller, input.metadata, at('metadata')),
    );
    const { platformId } = caller;
    const { customerType } = input.details;
    const identity = { customerId: id, customerType, name: details.name ?? null };
    const checked = await checkedIdentity(payments, caller, identity);
    const owner = { platformId, customerId: id };
    const accounts = newInternalAccounts(payments, caller, owner, profile.currencies, profile.ids.slice(1));
    const customer = {
      ...{ platformId, id, platformCustomerId, customerType, umaAddress, metadata },
      kycStatus: checked?.status ?? 'PENDING_REVIEW',
      isDeleted: false,
      beneficialOwners: [],
      ...details,
    };
    return {
      insert: {
        customer: [customer],
        account: await neededOf(payments, accounts),
        ...(checked && checked.checkInMs !== undefined && { identity_check: [nextCheck(id, checked)] }),
      },
      result: id,
    };
  },
  paths: { UMA_ADDRESS_EXISTS: at('umaAddress') },
}));

/** A business must have a name, so a missing name is replaced by an empty one, which validation refuses. */
function withName(details: CustomerDetails): CustomerDetails {
  return details.customerType === 'BUSINESS' ? { ...details, legalName: details.legalName ?? '' } : details;
}

/**
 * Validates a new or changed customer's details, and returns their column values. Omitted details are left out, and
 * null clears a column.
 * @throws Refusal INVALID_INPUT
 */
function detailColumns(details: CustomerDetails, now: Date): Partial<DetailColumns> {
  const path = at('details');
  if (details.customerType === 'INDIVIDUAL') {
    const { fullName, birthDate: day, nationality, address } = checkFacts(details, path, now);
    return definedColumns({ ...named(fullName), birthDate: day && new Date(day), nationality, address });
  }
  const { legalName, beneficialOwners } = details;
  // A business always has a name, so null leaves it unchanged.
  const facts = legalName === null ? { ...details, legalName: undefined } : details;
  const [checked, ...owners] = checkAll(
    () => checkFacts(facts, path, now),
    ...(beneficialOwners ?? []).map(
      (owner, position) => () =>
        checkFacts({ ...owner, address: owner.address ?? null }, at('details', 'beneficialOwners', position), now),
    ),
  );
  const { registrationNumber, taxId, address } = checked;
  return definedColumns({
    ...named(checked.legalName),
    ...{ registrationNumber, taxId, address },
    beneficialOwners: beneficialOwners === undefined ? undefined : owners,
  });
}

const named = (name: string | null | undefined) => ({ name, searchName: name && foldedText(name) });

type DetailColumns = Pick<
  Customer,
  'name' | 'searchName' | 'birthDate' | 'nationality' | 'registrationNumber' | 'taxId' | 'address' | 'beneficialOwners'
>;

function definedColumns(columns: { [Name in keyof DetailColumns]?: unknown }): Partial<DetailColumns> {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/**
 * Checks the identity of a new or renamed customer. Returns undefined if the rail cannot check identities.
 * @throws Refusal SERVICE_UNAVAILABLE
 */
async function checkedIdentity(payments: Payments, caller: Caller, customer: Omit<IdentityRequest, 'attempts'>) {
  const rail = connectedRail(payments, caller);
  return rail?.checkIdentity && checkOf(await neededOf(payments, rail.checkIdentity({ ...customer, attempts: 0 })));
}

/** Converts a rail's answer about an identity to an object, which may contain the time until the next check. */
function checkOf(answer: IdentityAnswer): IdentityCheck {
  return typeof answer === 'string' ? { status: answer } : answer;
}

/** Returns when to check a customer's identity next; null if it need not be checked again. */
function nextCheck(customerId: string, { checkInMs }: IdentityCheck) {
  return { customerId, dueInMs: checkInMs === undefined ? null : wholeMs(checkInMs) };
}

export interface UpdateCustomer extends Expecting {
  readonly customerId: string;
  readonly umaAddress?: string | null | undefined;
  /** The details to change; omitted fields stay unchanged. */
  readonly details?: CustomerDetails | null | undefined;
  /** Replaces all metadata. */
  readonly metadata?: Metadata | null | undefined;
}

/**
 * Changes a customer's details, but not its type. If the rail checks identities, a new name is checked just like a new
 * customer's name.
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
      () =>
        input.umaAddress == null ? undefined : checkCustomerAddress(umaDomain, input.umaAddress, customer?.umaAddress),
      () => checkMetadata(caller, input.metadata === null ? {} : input.metadata, at('metadata')),
    );
    if (!customer) customerNotFound(at('customerId'));
    if (details && details.customerType !== customer.customerType) {
      throw invalid(`the customer is of type ${customer.customerType}, which cannot change`, at('details'));
    }
    const renamed = typeof columns.name === 'string' && columns.name !== customer.name;
    const { id: customerId, customerType } = customer;
    const identity = { customerId, customerType, name: columns.name ?? null };
    const checked = renamed ? await checkedIdentity(payments, caller, identity) : undefined;
    const set = {
      ...columns,
      // A name equal to the current one is not set, because a concurrent request may have set a different name, with
      // its own identity check.
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
    if (!customer.isDeleted) return { result: customerId };
    const existingId = publicId('Customer', customerId);
    throw new Refusal('CUSTOMER_DELETED', 'the customer is deleted', { path: at('customerId'), existingId });
  },
  paths: { UMA_ADDRESS_EXISTS: at('umaAddress'), CUSTOMER_DELETED: at('customerId') },
}));

/**
 * Deletes a customer that holds no money and has no payment in flight. The customer's history is kept, but the customer
 * can no longer move money. Its UMA address becomes available again, and the client tokens for the customer, its quotes
 * and its transactions are revoked.
 * @throws Refusal USER_NOT_FOUND, CUSTOMER_DELETED (already deleted), CUSTOMER_IN_USE (with the balances
 *   and payments), CUSTOMER_FROZEN, IDEMPOTENCY_MISMATCH
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

/** Reads a customer (null if there is none), the UMA domain of the caller's platform, and the database's time. */
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

/** Pending identity checks. The rail is asked again at the time it specified, or when its webhook reports a change. */

interface DueCheck extends Lease {
  readonly customer: Customer;
  readonly attempts: number;
}

const checks: LeasedTable = { table: 'identity_check', rows: 'identity_checks', key: ['customer_id', 'uuid'] };

export const leaseIdentityChecks = leasing<DueCheck>(
  checks,
  {
    reads: 'l.customer_id, l.attempts, to_jsonb(c) as customer',
    joins: 'join customer c on c.platform_id = l.platform_id and c.id = l.customer_id',
  },
  { customer: 'Customer' },
);

const postpone = postponing(checks);

/** Locks the customer. The commands that change its name, and thereby restart its check, take the same lock. */
const lockStatement = statement<{ isDeleted: boolean }>(
  'lock_checked_customer',
  'select is_deleted from customer where platform_id = $1 and id = $2 for no key update',
);

const endStatement = statement<{ customerId: string }>(
  'end_identity_check',
  'delete from identity_check where platform_id = $1 and customer_id = $2 and due_at = $3::timestamptz returning customer_id',
);

/**
 * Makes a customer's check due now, even after a final answer, because the provider has reported a change. The
 * parameters are the platform and the customer.
 */
export const wakeIdentityCheck = statement<object>(
  'wake_identity_check',
  `insert into identity_check (platform_id, customer_id, due_at)
   select platform_id, id, clock_ms() from customer where platform_id = $1 and id = $2 and not is_deleted
   on conflict (platform_id, customer_id) do update set due_at = excluded.due_at`,
);

/**
 * Runs up to `limit` due identity checks with the rails, and commits the results. A customer is checked again if its
 * name has changed in the meantime, or if a webhook has made its check due.
 * @returns the number of customers processed
 */
export function checkDueIdentities(payments: Payments, limit: number): Promise<number> {
  return workOnDue(payments, limit, {
    ...{ lease: leaseIdentityChecks, postpone, failure: 'could not check an identity' },
    about: ({ customer }) => ({ customer: customer.id }),
    work: (due) => check(payments, due),
  });
}

async function check(payments: Payments, due: DueCheck): Promise<void> {
  const { platformId, customer, attempts } = due;
  const rail = connectedRail(payments, due);
  if (!rail?.checkIdentity) throw new Error(`the rail of platform ${platformId} does not support identity checks`);
  const { id: customerId, customerType, name } = customer;
  const answer = checkOf(await railAnswer(rail.checkIdentity({ customerId, customerType, name, attempts })));
  await retryLostRaces(() =>
    inTransaction(payments.database, async ({ client }) => {
      const [locked] = await lockStatement(client, platformId, customerId);
      const checkInMs = locked?.isDeleted ? undefined : answer.checkInMs;
      // Ends the lease, and schedules the next check, if any. Another worker may have taken the lease in the meantime.
      const [released] =
        checkInMs === undefined
          ? await endStatement(client, platformId, customerId, due.leasedUntil)
          : await postpone(client, [{ lease: due, dueInMs: wholeMs(checkInMs) }]);
      if (!released || locked?.isDeleted !== false || answer.status === customer.kycStatus) return;
      const plan = { customers: [{ id: customerId, set: { kycStatus: answer.status } }] };
      const { kind } = await commitPlanOn(client, platformId, plan);
      if (kind !== 'done') throw new Error(`the identity status of customer ${customerId} could not be stored`);
    }),
  );
}
