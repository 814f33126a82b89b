import type { AccountDetails } from '../../core/account-fields.ts';
import { identityOf } from '../../core/account-types.ts';
import { boundedCache } from '../../core/bounded-cache.ts';
import { withoutNulls } from '../../core/json.ts';
import type { AccountCheck, AccountToCheck } from '../rail.ts';
import type { RailAccount } from '../rail-parts.ts';
import {
  type ExternalAccountRecord,
  externalAccountList,
  externalAccountRecord,
  internalAccountList,
  type UpstreamClient,
  UpstreamRefusal,
} from './upstream-client.ts';

const recheckMs = 5_000;

/** A platform's accounts at its upstream service: its own internal accounts, and external accounts registered there. */
export class UpstreamAccounts {
  readonly #client: UpstreamClient;
  /** Upstream's ids of external accounts, by currency, type and identity. They never change. */
  readonly #external = boundedCache<string>(10_000);
  readonly #internal = new Map<string, string>();

  constructor(client: UpstreamClient) {
    this.#client = client;
  }

  async balances(): Promise<ReadonlyMap<string, bigint>> {
    const { data } = await this.#client.get('/platform/internal-accounts', internalAccountList);
    return new Map(data.map(({ balance }) => [balance.currency.code, BigInt(balance.amount)]));
  }

  async internalId(currency: string): Promise<string> {
    const known = this.#internal.get(currency);
    if (known !== undefined) return known;
    const path = `/platform/internal-accounts?currency=${encodeURIComponent(currency)}`;
    const [account] = (await this.#client.get(path, internalAccountList)).data;
    if (!account) throw new UpstreamRefusal('ACCOUNT_NOT_FOUND', `the platform has no ${currency} account upstream`);
    this.#internal.set(currency, account.id);
    return account.id;
  }

  /** Returns the upstream id of an external account. @throws UpstreamRefusal if none is registered there */
  async externalId(account: RailAccount, currency: string): Promise<string> {
    const key = `${currency} ${identityKey(account.type, account.details)}`;
    const known = this.#external.get(key);
    if (known !== undefined) return known;
    const found = await this.#find(account, currency);
    if (!found) throw new UpstreamRefusal('ACCOUNT_NOT_FOUND', 'the account is not registered upstream');
    this.#external.set(key, found.id);
    return found.id;
  }

  /** Registers an external account upstream unless it already exists, and returns the result of upstream's check. */
  async check(account: AccountToCheck): Promise<AccountCheck> {
    const { id, type, currency, details, beneficiary } = account;
    const found = await this.#find(account, currency);
    if (found) return checkOf(found);
    const body = {
      currency,
      platformAccountId: id,
      accountInfo: { ...details, accountType: type, ...(beneficiary && { beneficiary: withoutNulls(beneficiary) }) },
    };
    try {
      const key = `account-${id}`;
      return checkOf(await this.#client.post('/platform/external-accounts', externalAccountRecord, { body, key }));
    } catch (error) {
      if (error instanceof UpstreamRefusal) return { accepted: false, explanation: error.message };
      throw error;
    }
  }

  /** Finds an account upstream. Upstream has it once per owner, spelled as first registered (decision 37). */
  async #find({ type, details }: RailAccount, currency: string): Promise<ExternalAccountRecord | undefined> {
    const path = `/platform/external-accounts?currency=${encodeURIComponent(currency)}`;
    const { data } = await this.#client.get(path, externalAccountList);
    const key = identityKey(type, details);
    const same = data.filter(({ accountInfo: { accountType, ...info } }) => {
      return accountType === type && identityKey(type, textsOf(info)) === key;
    });
    if (same.length > 1) throw new Error('upstream has this account several times');
    return same[0];
  }
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

function checkOf(record: ExternalAccountRecord): AccountCheck {
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
