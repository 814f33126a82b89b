import type { SandboxPayer } from '../../api/pages/layout.ts';
import { accountPublicId, publicId } from '../../core/ids.ts';
import type { Caller } from '../../domain/access/caller.ts';
import { platformItself } from '../../domain/access/platform-itself.ts';
import { createExternalAccount } from '../../domain/accounts/external-accounts.ts';
import type { Payments } from '../../domain/commands/command.ts';
import { createCustomer } from '../../domain/customers/customers.ts';
import { createPlatform, findPlatform } from '../../domain/platforms/platforms.ts';
import { limitsOfPolicies } from '../../domain/policies/policies.ts';
import { fundAccount } from '../../domain/sandbox/sandbox.ts';
import { withAdvisoryLock } from '../../infra/database/advisory-lock.ts';
import { asPlatform } from '../../infra/database/connections/platform-scope.ts';

/** The local sandbox's fixed credentials, which exist only in the embedded database, on the loopback interface. */
export const sandboxCredentials = { clientId: 'sandbox', secret: 'sandbox' } as const;

const name = 'sandbox';

/** The initial balances of each customer's accounts, by currency, in the smallest unit. */
const balances: Readonly<Record<string, bigint>> = {
  USD: 25_000_00n,
  EUR: 10_000_00n,
  GBP: 5_000_00n,
  MXN: 100_000_00n,
  JPY: 1_000_000n,
  USDC: 10_000_000_000n,
  BTC: 50_000_000n,
};

/** The advisory lock ("sand" in ASCII) held while the sandbox is prepared or a sample person is found or added. */
const PREPARATION_LOCK = 0x73616e64;

export type LocalSandbox = Awaited<ReturnType<typeof prepareSandboxPlatform>>;

/** Creates the local sandbox's platform with two funded customers and external accounts to pay, unless it exists. */
export async function prepareSandboxPlatform(payments: Payments) {
  const caller = await withAdvisoryLock(payments.database.url, PREPARATION_LOCK, () => findOrCreate(payments));
  return {
    credentials: sandboxCredentials,
    payer: (serving: Payments) =>
      withAdvisoryLock(serving.database.url, PREPARATION_LOCK, () =>
        asPlatform(caller.platformId, () => findPayer(serving, caller)),
      ),
  };
}

/** Finds the first sample person who can pay, or creates a new one if none can. */
async function findPayer(payments: Payments, caller: Caller): Promise<SandboxPayer> {
  const found = await findAblePerson(payments, caller);
  if (found) return found;
  const { platformId } = caller;
  const persons = await payments.database.prisma.customer.count({
    where: { platformId, platformCustomerId: { startsWith: personPrefix } },
  });
  await seed(payments, caller, personOf(persons + 1));
  const made = await findAblePerson(payments, caller);
  if (!made) throw new Error('the new sample person cannot pay');
  return made;
}

const enough = 1_000_00n;

/** What must be left of a limit for a user's first steps: an amount in the smallest unit, or a number of payments. */
const room = { amount: 100_00n, payments: 5 };

async function limitedCustomers({ database }: Payments, platformId: string): Promise<string[]> {
  const policies = await database.prisma.policy.findMany({ where: { platformId, subjectType: 'Customer' } });
  const limits = await limitsOfPolicies(database, platformId);
  const stops = (policy: (typeof policies)[number]) =>
    [policy.kinds, policy.receiverAccountIds, policy.receiverCountries, policy.receiverUmaAddresses].flat().length >
      0 ||
    policy.hoursFrom !== null ||
    limits
      .get(policy.id)
      ?.some(({ leftAmount, leftPayments }) =>
        leftPayments === null ? BigInt(leftAmount ?? 0) < room.amount : leftPayments < room.payments,
      );
  return policies.filter(stops).map(({ subjectId }) => subjectId);
}

async function findAblePerson(payments: Payments, { platformId }: Caller): Promise<SandboxPayer | undefined> {
  const { database } = payments;
  const euros = {
    kind: 'EXTERNAL',
    status: 'ACTIVE',
    frozenAt: null,
    platformAccountId: { endsWith: '-eur' },
  } as const;
  const source = await database.prisma.account.findFirst({
    where: {
      ...{ platformId, kind: 'INTERNAL', currency: 'USD', frozenAt: null, posted: { gte: enough } },
      customer: {
        ...{ platformCustomerId: { startsWith: personPrefix }, isDeleted: false, frozenAt: null },
        ...{ kycStatus: 'APPROVED', id: { notIn: await limitedCustomers(payments, platformId) } },
        accounts: { some: euros },
      },
    },
    // A sample person has only one account in dollars.
    orderBy: { customerId: 'asc' },
    select: { id: true, customer: { select: { id: true, accounts: { where: euros, orderBy: { id: 'asc' } } } } },
  });
  const destination = source?.customer?.accounts[0];
  if (!source?.customer || !destination) return undefined;
  return {
    customerId: publicId('Customer', source.customer.id),
    sourceAccountId: accountPublicId('INTERNAL', source.id),
    destinationAccountId: accountPublicId('EXTERNAL', destination.id),
  };
}

async function findOrCreate(payments: Payments): Promise<Caller> {
  const caller = platformItself(
    (await findPlatform(payments.database, name)) ??
      (await createPlatform(payments, { name, environment: 'SANDBOX', credentials: sandboxCredentials })),
  );
  const last = await payments.database.prisma.account.findFirst({
    select: { id: true },
    where: { platformId: caller.platformId, platformAccountId: lastAccount },
  });
  if (last) return caller;
  const { umaDomain } = await payments.database.prisma.platform.findFirstOrThrow({ where: { id: caller.platformId } });
  await seed(payments, caller, { ...personOf(1), umaAddress: `$person@${umaDomain}` });
  await seed(payments, caller, { ...company, umaAddress: `$company@${umaDomain}` });
  return caller;
}

type Customer = Parameters<typeof createCustomer>[2];
type ExternalAccount = Parameters<typeof createExternalAccount>[2];

/** A sample customer. The `platformAccountId` of each of its external accounts begins with `name`. */
interface Sample extends Customer {
  readonly name: string;
  readonly accounts: readonly Pick<ExternalAccount, 'currency' | 'accountType' | 'details' | 'beneficiary'>[];
}

/** Creates a customer, funds its internal accounts and registers its external accounts, unless that is already done. */
async function seed(payments: Payments, caller: Caller, { name, accounts, ...customer }: Sample): Promise<void> {
  const { id: customerId } = (await createCustomer(payments, caller, customer, `seed-${name}`)).row;
  const internal = await payments.database.prisma.account.findMany({
    where: {
      ...{ platformId: caller.platformId, customerId, kind: 'INTERNAL' },
      currency: { in: Object.keys(balances) },
    },
  });
  for (const { id, currency } of internal) {
    const funding = { accountId: publicId('InternalAccount', id), amount: balances[currency] ?? 0n };
    await fundAccount(payments, caller, funding, `seed-${id}`);
  }
  for (const account of accounts) {
    const platformAccountId = `${name}-${account.currency.toLowerCase()}`;
    const owned = { customerId: publicId('Customer', customerId), platformAccountId, defaultUmaDepositAccount: false };
    await createExternalAccount(payments, caller, { ...account, ...owned }, `seed-${platformAccountId}`);
  }
}

const personPrefix = 'individual-';
/** The external account that is registered last. Once it exists, the sandbox is complete. */
const lastAccount = 'business-usd';

const inUsd = (accountNumber: string) => ({
  currency: 'USD',
  accountType: 'US_ACCOUNT' as const,
  details: { accountNumber, routingNumber: '021000021', accountCategory: 'CHECKING', bankName: 'First Bank' },
});
const inEur = (iban: string, swiftBic: string) => ({
  currency: 'EUR',
  accountType: 'IBAN' as const,
  details: { iban, swiftBic },
});

/** Returns a sample person. The last of the person's accounts is the newest, and therefore comes first in lists. */
function personOf(number: number): Sample {
  const fullName = 'Sample Person';
  const identity = { birthDate: '1990-12-10', nationality: 'US' };
  const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName, ...identity } as const;
  const lightning = { lightningAddress: 'person@sandbox.uma.money' };
  const name = `${personPrefix}${number}`;
  return {
    name,
    platformCustomerId: name,
    details: {
      customerType: 'INDIVIDUAL',
      fullName: number === 1 ? fullName : `${fullName} ${number}`,
      ...identity,
      address: { line1: '1 Sample Street', city: 'San Francisco', state: 'CA', postalCode: '94105', country: 'US' },
    },
    accounts: [
      { ...inUsd('1234567890'), beneficiary },
      { currency: 'MXN', accountType: 'CLABE', details: { clabeNumber: '032180000118359719' }, beneficiary },
      { currency: 'BTC', accountType: 'LIGHTNING', details: lightning, beneficiary: null },
      { ...inEur('DE89370400440532013000', 'COBADEFF'), beneficiary: { ...beneficiary, fullName: 'Sample Payee' } },
    ],
  };
}

const legalName = 'Sample Company Inc.';
const company: Sample = {
  name: 'business',
  platformCustomerId: 'business-1',
  details: {
    ...{ customerType: 'BUSINESS', legalName, registrationNumber: 'SC-0001', taxId: '12-3456789' },
    address: { line1: '2 Sample Street', city: 'New York', state: 'NY', postalCode: '10001', country: 'US' },
  },
  accounts: [
    { ...inEur('FR1420041010050500013M02606', 'PSSTFRPP'), beneficiary: { beneficiaryType: 'BUSINESS', legalName } },
    { ...inUsd('9876543210'), beneficiary: { beneficiaryType: 'BUSINESS', legalName } },
  ],
};
