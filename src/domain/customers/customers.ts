import { checkAll, pathsIn } from '../../core/refusal.ts';
import { checkKey, foldedText } from '../../core/texts.ts';
import type { Customer } from '../../infra/database/rows.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import type { IdentityAnswer, IdentityCheck, IdentityRequest } from '../../rails/rail-parts.ts';
import type { Caller } from '../access/caller.ts';
import { newInternalAccounts } from '../accounts/internal-accounts.ts';
import { command, connectedRail, type Payments } from '../commands/command.ts';
import { checkMetadata, type Metadata } from '../commands/metadata.ts';
import { type Address, checkFacts } from '../commands/people.ts';
import { checkCustomerAddress } from '../commands/uma-addresses.ts';
import { wholeMs } from '../orders/orders.ts';
import { neededOf } from '../orders/rail-answer.ts';

export interface BeneficialOwner {
  readonly fullName: string;
  readonly individualType: string;
  readonly emailAddress?: string | null | undefined;
  readonly phoneNumber?: string | null | undefined;
  readonly taxId?: string | null | undefined;
  readonly birthDate?: string | null | undefined;
  readonly nationality?: string | null | undefined;
  readonly address?: Address | null | undefined;
  readonly percentageOwnership?: number | null | undefined;
  readonly title?: string | null | undefined;
}

export type CustomerDetails =
  | {
      readonly customerType: 'INDIVIDUAL';
      readonly fullName?: string | null | undefined;
      /** YYYY-MM-DD. */
      readonly birthDate?: string | null | undefined;
      readonly nationality?: string | null | undefined;
      readonly address?: Address | null | undefined;
    }
  | {
      readonly customerType: 'BUSINESS';
      /** Required for a new customer. */
      readonly legalName?: string | null | undefined;
      readonly registrationNumber?: string | null | undefined;
      readonly taxId?: string | null | undefined;
      readonly address?: Address | null | undefined;
      readonly beneficialOwners?: readonly BeneficialOwner[] | null | undefined;
    };

export interface CreateCustomer {
  readonly platformCustomerId: string;
  readonly umaAddress?: string | null | undefined;
  readonly details: CustomerDetails;
  readonly metadata?: Metadata | null | undefined;
}

const at = pathsIn<CreateCustomer>();

const profileStatement = statement<{ umaDomain: string; currencies: string[]; ids: string[]; now: Date }>(
  'platform_profile',
  `select uma_domain, currencies, clock_ms() as now, array(select uuid_v7() from generate_series(0, cardinality(currencies))) as ids
   from platform where id = $1`,
);

/**
 * Reads a platform's defaults for new customers: its UMA domain and currencies, with new ids for the customer and each
 * account.
 */
export async function readProfile(on: Queryable, platformId: string) {
  const [profile] = await profileStatement(on, platformId);
  if (!profile) throw new Error(`no platform ${platformId}`);
  return profile;
}

/**
 * Creates a customer with one internal account per currency of the platform (specification 2.8).
 * @throws Refusal INVALID_INPUT, INVALID_UMA_ADDRESS, UMA_ADDRESS_EXISTS, IDEMPOTENCY_MISMATCH
 */
export const createCustomer = command((payments, caller, input: CreateCustomer) => ({
  operation: 'createCustomer',
  type: 'Customer',
  plan: async () => {
    const profile = await readProfile(payments.database.pool, caller.platformId);
    const [id, ...accountIds] = profile.ids;
    if (id === undefined) throw new Error('the profile has no ids');
    const [platformCustomerId, details, umaAddress, metadata = null] = checkAll(
      () => checkKey(input.platformCustomerId, at('platformCustomerId')),
      () => detailColumns(withName(input.details), profile.now),
      () =>
        input.umaAddress
          ? checkCustomerAddress(profile.umaDomain, input.umaAddress)
          : `$${id.slice(-12)}@${profile.umaDomain}`,
      () => checkMetadata(caller, input.metadata, at('metadata')),
    );
    const owner = { platformId: caller.platformId, customerId: id };
    const { customerType } = input.details;
    const identity = { customerId: id, customerType, name: details.name ?? null, attempts: 0 };
    const checked = await checkedIdentity(payments, caller, identity);
    const accounts = newInternalAccounts(payments, caller, owner, profile.currencies, accountIds);
    const customer = {
      platformId: caller.platformId,
      id,
      platformCustomerId,
      customerType,
      umaAddress,
      kycStatus: checked?.status ?? 'PENDING_REVIEW',
      isDeleted: false,
      beneficialOwners: [],
      metadata,
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

/** Gives a business without a name an empty one, which is then refused, since a business must have a name. */
function withName(details: CustomerDetails): CustomerDetails {
  return details.customerType === 'BUSINESS' ? { ...details, legalName: details.legalName ?? '' } : details;
}

/**
 * Validates all details of a customer, and returns their columns. Only given details have a column, so this works for
 * new and for changed customers. Null clears a column.
 * @throws Refusal INVALID_INPUT
 */
export function detailColumns(details: CustomerDetails, now: Date): Partial<DetailColumns> {
  const path = at('details');
  if (details.customerType === 'INDIVIDUAL') {
    const { fullName, birthDate: day, nationality, address } = checkFacts(details, path, now);
    return definedColumns({ ...named(fullName), birthDate: day && new Date(day), nationality, address });
  }
  const { legalName, beneficialOwners } = details;
  // The name can be changed, but not removed.
  const facts = legalName === null ? { ...details, legalName: '' } : details;
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
 * Returns the result of the rail's identity check of a customer who is new or has a new name; undefined if the rail
 * does not check identities.
 * @throws Refusal SERVICE_UNAVAILABLE
 */
export async function checkedIdentity(
  payments: Payments,
  caller: Caller,
  customer: IdentityRequest,
): Promise<IdentityCheck | undefined> {
  const rail = connectedRail(payments, caller);
  return rail?.checkIdentity && checkOf(await neededOf(payments, rail.checkIdentity(customer)));
}

/** Returns a rail's answer about an identity in its long form, which has the time of the next check. */
export function checkOf(answer: IdentityAnswer): IdentityCheck {
  return typeof answer === 'string' ? { status: answer } : answer;
}

/** Returns when to check a customer's identity next; null if it need not be checked. */
export function nextCheck(customerId: string, { checkInMs }: IdentityCheck) {
  return { customerId, dueInMs: checkInMs === undefined ? null : wholeMs(checkInMs) };
}
