import { hash } from 'node:crypto';
import type { KycStatus } from '../../infra/database/generated/client/client.ts';
import type { IdentityCheck, IdentityRequest } from '../rail-parts.ts';
import type { Upstream } from './upstream-accounts.ts';
import { customerPage, customerRecord, type UpstreamClient } from './upstream-client.ts';

/** Checks a customer's identity through a counterpart of the same name upstream. A new name gets a new counterpart. */
export async function checkIdentity(
  { client, settings: { identityMs: checkInMs } }: Upstream,
  customer: IdentityRequest,
): Promise<IdentityCheck & { readonly upstreamId: string }> {
  const known = customer.attempts > 0 ? await readCustomer(client, customer) : undefined;
  const { id, kycStatus } = known ?? (await makeCustomer(client, customer));
  const status = kycStatuses.find((known) => known === kycStatus) ?? 'PENDING_REVIEW';
  return { upstreamId: id, status, ...(status === 'PENDING_REVIEW' && { checkInMs }) };
}

type Named = Omit<IdentityRequest, 'attempts'>;

/** Returns the upstream counterpart of a customer. Creates it if the customer is older than the rail's connection. */
export async function customerThere(client: UpstreamClient, customer: Named): Promise<{ readonly id: string }> {
  return (await readCustomer(client, customer)) ?? (await makeCustomer(client, customer));
}

/** Reads the counterpart that an earlier check created. Creating it again would return the original response. */
async function readCustomer(client: UpstreamClient, customer: Named) {
  const query = { platformCustomerId: nameThere(customer) };
  const [found, another] = (await client.get('/customers', customerPage, query)).data;
  if (another) throw new Error('upstream has several customers of the same name');
  return found;
}

function makeCustomer(client: UpstreamClient, customer: Named) {
  const { customerType, name } = customer;
  const platformCustomerId = nameThere(customer);
  const body = {
    platformCustomerId,
    customerType,
    ...(customerType === 'INDIVIDUAL'
      ? name !== null && { fullName: name }
      : { businessInfo: { legalName: name ?? '' } }),
  };
  return client.post('/customers', customerRecord, { body, key: `customer-${platformCustomerId}` });
}

/** Returns the `platformCustomerId` to use upstream: the gateway's uuid, and a suffix that changes with the name. */
function nameThere({ customerId, name }: Named): string {
  return `${customerId}-${hash('sha256', name ?? '').slice(0, 8)}`;
}

/** Returns our customer's id from its counterpart's `platformCustomerId`; undefined for any other customer. */
export function customerIn(platformCustomerId: string | null | undefined): string | undefined {
  return /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-[0-9a-f]{8}$/.exec(platformCustomerId ?? '')?.[1];
}

const kycStatuses: readonly KycStatus[] = [
  ...(['APPROVED', 'REJECTED', 'PENDING_REVIEW', 'EXPIRED', 'CANCELED'] as const),
  ...(['MANUALLY_APPROVED', 'MANUALLY_REJECTED'] as const),
];
