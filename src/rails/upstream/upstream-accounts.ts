import { hash } from 'node:crypto';
import type { z } from 'zod';
import type { AccountDetails } from '../../core/account-fields.ts';
import { identityOf } from '../../core/account-types.ts';
import type { boundedCache } from '../../core/bounded-cache.ts';
import { withoutNulls } from '../../core/json.ts';
import type { AccountCheck, AccountToCheck } from '../rail.ts';
import type { IdentityCheck, IdentityRequest, RailAccount } from '../rail-parts.ts';
import * as api from './upstream-client.ts';

/** A platform's connection to its upstream service. */
export interface Upstream {
  readonly client: api.UpstreamClient;
  readonly settings: z.infer<typeof api.upstreamSettings>;
  /** Upstream's ids of the platform's accounts and of newly created customers. They never change. */
  readonly ids: ReturnType<typeof boundedCache<string>>;
}

const recheckMs = 5_000;

/** Returns the balances of the platform's own accounts upstream, by currency. */
export async function balances({ client }: Upstream): Promise<ReadonlyMap<string, bigint>> {
  const { data } = await client.get('/platform/internal-accounts', api.internalAccountList);
  return new Map(data.map(({ balance }) => [balance.currency.code, BigInt(balance.amount)]));
}

/** Returns the upstream id of the platform's own account. @throws UpstreamRefusal if it has none in this currency */
export async function internalId({ client, ids }: Upstream, currency: string): Promise<string> {
  const known = ids.get(currency);
  if (known !== undefined) return known;
  const [account] = (await client.get('/platform/internal-accounts', api.internalAccountList, { currency })).data;
  if (!account) throw new api.UpstreamRefusal('ACCOUNT_NOT_FOUND', `the platform has no ${currency} account upstream`);
  ids.set(currency, account.id);
  return account.id;
}

/** Returns the upstream id of an external account. @throws UpstreamRefusal if none is registered there */
export async function externalId(upstream: Upstream, account: RailAccount, currency: string): Promise<string> {
  const key = `${currency} ${identityKey(account.type, account.details)}`;
  const known = upstream.ids.get(key);
  if (known !== undefined) return known;
  const found = await find(upstream, account, currency);
  if (!found) throw new api.UpstreamRefusal('ACCOUNT_NOT_FOUND', 'the account is not registered upstream');
  upstream.ids.set(key, found.id);
  return found.id;
}

/** Registers an external account upstream unless it already exists, and returns the result of upstream's check. */
export async function checkAccount(upstream: Upstream, account: AccountToCheck): Promise<AccountCheck> {
  const { id, type, currency, details, beneficiary } = account;
  const found = await find(upstream, account, currency);
  if (found) return checkOf(found);
  const body = {
    currency,
    platformAccountId: id,
    accountInfo: { ...details, accountType: type, ...(beneficiary && { beneficiary: withoutNulls(beneficiary) }) },
  };
  try {
    const command = { body, key: `account-${id}` };
    return checkOf(await upstream.client.post('/platform/external-accounts', api.externalAccountRecord, command));
  } catch (error) {
    if (error instanceof api.UpstreamRefusal) return { accepted: false, explanation: error.message };
    throw error;
  }
}

/** Finds an account upstream, where it exists once per owner, spelled as first registered (decision 37). */
async function find({ client }: Upstream, { type, details }: RailAccount, currency: string) {
  const { data } = await client.get('/platform/external-accounts', api.externalAccountList, { currency });
  const key = identityKey(type, details);
  const same = data.filter(({ accountInfo: { accountType, ...info } }) => {
    return accountType === type && identityKey(type, textsOf(info)) === key;
  });
  if (same.length > 1) throw new Error('upstream has this account several times');
  return same[0];
}

function identityKey(type: RailAccount['type'], details: AccountDetails): string {
  const { bank, identifier } = identityOf(type, details);
  return JSON.stringify([type, bank, identifier]);
}

function textsOf(info: Readonly<Record<string, unknown>>): AccountDetails {
  return Object.fromEntries(
    Object.entries(info).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

function checkOf(record: api.ExternalAccountRecord): AccountCheck {
  const verification = record.beneficiaryVerificationStatus ?? null;
  if (record.status === 'INACTIVE')
    return { accepted: false, explanation: 'the upstream service cannot use the account' };
  const isDecided = record.status === 'ACTIVE' && verification !== 'PENDING';
  return {
    accepted: true,
    status: record.status,
    verification,
    verifiedName: record.beneficiaryVerifiedData?.fullName ?? null,
    ...(!isDecided && { checkInMs: recheckMs }),
  };
}

/** Checks a customer's identity through a counterpart of the same name upstream. A new name gets a new counterpart. */
export async function checkIdentity(
  { client, settings: { identityMs: checkInMs } }: Upstream,
  customer: IdentityRequest,
): Promise<IdentityCheck & { readonly upstreamId: string }> {
  const known = customer.attempts > 0 ? await readCustomer(client, customer) : undefined;
  const { id, kycStatus: status } = known ?? (await makeCustomer(client, customer));
  return { upstreamId: id, status, ...(status === 'PENDING_REVIEW' && { checkInMs }) };
}

type Named = Omit<IdentityRequest, 'attempts'>;

/** Returns the upstream counterpart of a customer. Creates it if the customer is older than the rail's connection. */
export async function customerThere(client: api.UpstreamClient, customer: Named): Promise<{ readonly id: string }> {
  return (await readCustomer(client, customer)) ?? (await makeCustomer(client, customer));
}

/** Reads the counterpart that an earlier check created. Creating it again would return the original response. */
async function readCustomer(client: api.UpstreamClient, customer: Named) {
  const query = { platformCustomerId: nameThere(customer) };
  const [found, another] = (await client.get('/customers', api.customerPage, query)).data;
  if (another) throw new Error('upstream has several customers of the same name');
  return found;
}

function makeCustomer(client: api.UpstreamClient, customer: Named) {
  const { customerType, name } = customer;
  const platformCustomerId = nameThere(customer);
  const body = {
    platformCustomerId,
    customerType,
    ...(customerType === 'INDIVIDUAL'
      ? name !== null && { fullName: name }
      : { businessInfo: { legalName: name ?? '' } }),
  };
  return client.post('/customers', api.customerRecord, { body, key: `customer-${platformCustomerId}` });
}

/** Returns the `platformCustomerId` to use upstream: the gateway's uuid, and a suffix that changes with the name. */
function nameThere({ customerId, name }: Named): string {
  return `${customerId}-${hash('sha256', name ?? '').slice(0, 8)}`;
}

/** Returns our customer's id from its counterpart's `platformCustomerId`; undefined for any other customer. */
export function customerIn(platformCustomerId: string | null | undefined): string | undefined {
  return /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-[0-9a-f]{8}$/.exec(platformCustomerId ?? '')?.[1];
}
