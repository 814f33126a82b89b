import { composeIBAN } from 'ibantools';
import { expect } from 'vitest';
import { basicAuthorization } from '../../src/domain/access/tokens/api-tokens.ts';
import { fieldsOf, idsIn, listed, mint, succeed } from './acts.ts';
import { connect, type TestGateway, type TestPlatform } from './gateway.ts';

/** What most tests need: a customer with money in USD and external accounts. Ids are public ids. */
export interface Scene {
  readonly customerId: string;
  readonly usd: string;
  readonly eur: string;
  readonly outsideUsd: string;
  readonly outsideEur: string;
}

let scenes = 0;
let customers = 0;

/** Creates a customer whose USD account holds `balance` (smallest units). */
export async function makeScene(platform: TestPlatform, balance = 1_000_000n, suffix = '000'): Promise<Scene> {
  scenes += 1;
  const number = String(1_000_000 + scenes);
  const customerId = await newCustomer(platform);
  const usd = await internalAccount(platform, customerId, 'USD');
  if (balance > 0n) await fund(platform, usd, balance);
  return {
    customerId,
    usd,
    eur: await internalAccount(platform, customerId, 'EUR'),
    outsideUsd: await externalAccount(platform, customerId, 'USD', usAccount(`${number}${suffix}`)),
    outsideEur: await externalAccount(platform, customerId, 'EUR', {
      iban: {
        iban: composeIBAN({ countryCode: 'DE', bban: `37040044${number}${suffix}` }),
        swiftBic: 'COBADEFF',
      },
    }),
  };
}

/** Creates a customer, and returns its id. */
export async function newCustomer(platform: TestPlatform, fullName = 'Grace Hopper'): Promise<string> {
  customers += 1;
  const input = { platformCustomerId: `customer-${customers}`, details: { individual: { fullName } } };
  return (await succeed(platform, 'createCustomer', input, 'customer { id }')).customer.id;
}

/** Returns the id of a customer's internal account in a currency. */
export async function internalAccount(platform: TestPlatform, customerId: string, currency: string): Promise<string> {
  const [id] = await idsIn(platform, 'accounts', { kind: 'INTERNAL', customerId, currency });
  return id ?? expect.fail(`no account in ${currency}`);
}

/** Returns the details of a US account. */
export const usAccount = (accountNumber: string, routingNumber = '021000021') => ({
  usAccount: { accountNumber, routingNumber, accountCategory: 'CHECKING' },
});

/** Registers an external account of a customer, or of the platform itself, and returns its id. */
export async function externalAccount(
  platform: TestPlatform,
  customerId: string | undefined,
  currency: string,
  accountInfo: object,
  rest: object = {},
): Promise<string> {
  const beneficiary = { individual: { fullName: 'Grace Hopper' } };
  const input = { customerId, currency, accountInfo, beneficiary, ...rest };
  return (await succeed(platform, 'createExternalAccount', input, 'account { id }')).account.id;
}

/** Returns the ids of a customer's external accounts that are its default for incoming UMA payments. */
export async function defaultAccounts(platform: TestPlatform, customerId: string): Promise<string[]> {
  const fields = 'id ... on ExternalAccount { defaultUmaDepositAccount }';
  const accounts = await listed(platform, 'accounts', { kind: 'EXTERNAL', customerId }, fields);
  return accounts.flatMap(({ id, defaultUmaDepositAccount }) => (defaultUmaDepositAccount ? [id] : []));
}

/** Credits money (smallest units) to an internal account. */
export async function fund(platform: TestPlatform, accountId: string, amount: bigint): Promise<void> {
  await succeed(platform, 'sandboxFundAccount', { accountId, amount });
}

/** Returns what an internal account can spend, in smallest units. */
export async function balanceOf(platform: TestPlatform, accountId: string): Promise<bigint> {
  const { balance } = await fieldsOf(platform, 'account', accountId, '... on InternalAccount { balance { amount } }');
  return BigInt(balance.amount);
}

/** Makes the platform charge fees on amounts sent in USD. */
export async function chargeFees(
  { gateway }: TestGateway,
  { platformId }: TestPlatform,
  fixedFee = 25n,
  variableFeeRate = '0',
): Promise<void> {
  const key = { platformId, sendingCurrency: 'USD' };
  const fees = { fixedFee, variableFeeRate };
  await gateway.payments.database.prisma.platformFee.upsert({
    where: { platformId_sendingCurrency: key },
    create: { ...key, ...fees },
    update: fees,
  });
}

/** Returns the id of the platform's own internal account in a currency. */
export async function ownAccount(platform: TestPlatform, currency: string): Promise<string> {
  const [id] = await idsIn(platform, 'accounts', { kind: 'INTERNAL', platformOwned: true, currency });
  return id ?? expect.fail(`no account in ${currency}`);
}

/** A platform that makes its calls with one of its tokens. */
export interface Bearer extends TestPlatform {
  readonly tokenId: string;
}

/** Creates an API token with these permissions. */
export async function serverOf(platform: TestPlatform, ...permissions: readonly string[]): Promise<Bearer> {
  const input = { name: 'made', permissions };
  const { apiToken, secret } = await succeed(platform, 'createApiToken', input, 'secret apiToken { id clientId }');
  const { id: tokenId, clientId } = apiToken;
  return { ...connect(platform.url, platform.platformId, basicAuthorization({ clientId, secret })), tokenId };
}

export async function appOf(platform: TestPlatform, input: object): Promise<Bearer> {
  const { token, tokenId } = await mint(platform, input);
  return { ...connect(platform.url, platform.platformId, `Bearer ${token}`), tokenId };
}

/** Creates the token of a paying app, bound to a customer or a payment. */
export const payingApp = (platform: TestPlatform, bound: object): Promise<Bearer> =>
  appOf(platform, { permissions: ['VIEW', 'TRANSACT'], ...bound });

/** Returns the platform with a new token that has just been used, so that a gateway caches it for a second. */
export async function withNewCredentials(platform: TestPlatform, url: string): Promise<TestPlatform> {
  const renewed = await serverOf({ ...platform, url }, 'VIEW', 'TRANSACT', 'MANAGE');
  await renewed.ask('{ viewer { kind } }');
  return renewed;
}
