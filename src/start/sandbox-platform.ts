import type { Caller } from '../access/caller.ts';
import { platformItself } from '../access/platform-itself.ts';
import { accountPublicId, publicId } from '../core/ids.ts';
import { withAdvisoryLock } from '../database/advisory-lock.ts';
import type { SandboxPlatform } from '../pages/shown.ts';
import { createExternalAccount } from '../payments/accounts/external-accounts.ts';
import type { Payments } from '../payments/command.ts';
import { createCustomer } from '../payments/customers/customers.ts';
import { createPlatform, findPlatform } from '../payments/platforms/platforms.ts';
import { fundAccount } from '../payments/sandbox/sandbox.ts';

/** The fixed credentials of the local sandbox. They exist only with the embedded database, on the loopback interface. */
export const sandboxCredentials = { clientId: 'sandbox', secret: 'sandbox' } as const;

const name = 'sandbox';

/** The initial balance of each customer's account by currency, in smallest units. */
const balances: Readonly<Record<string, bigint>> = {
  USD: 25_000_00n,
  EUR: 10_000_00n,
  GBP: 5_000_00n,
  MXN: 100_000_00n,
  JPY: 1_000_000n,
  USDC: 10_000_000_000n,
  BTC: 50_000_000n,
};

/** The advisory lock of the process that prepares the sandbox ("sand" in ASCII). */
const PREPARATION_LOCK = 0x73616e64;

/**
 * Makes the platform of the local sandbox, unless it exists: two customers with money and external accounts to pay to. Of
 * several instances that start at once, one makes it and the others wait. An interrupted start continues at the next one,
 * since every step has an idempotency key.
 * @returns its credentials, and the accounts of a first payment
 */
export async function prepareSandboxPlatform(payments: Payments): Promise<SandboxPlatform> {
  const { platformId } = await withAdvisoryLock(payments.database.url, PREPARATION_LOCK, () => findOrCreate(payments));
  const person = await payments.database.prisma.customer.findFirstOrThrow({
    where: { platformId, platformCustomerId: personId },
    // Others may have been given the same id since.
    orderBy: { id: 'asc' },
    include: {
      accounts: {
        where: {
          OR: [
            { kind: 'INTERNAL', currency: 'USD' },
            { kind: 'EXTERNAL', currency: 'EUR' },
          ],
        },
      },
    },
  });
  const account = (kind: 'INTERNAL' | 'EXTERNAL') =>
    accountPublicId(kind, person.accounts.find((candidate) => candidate.kind === kind)?.id ?? '');
  return {
    credentials: sandboxCredentials,
    customerId: publicId('Customer', person.id),
    sourceAccountId: account('INTERNAL'),
    destinationAccountId: account('EXTERNAL'),
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
  if (!last) await seed(payments, caller);
  return caller;
}

const personId = 'individual-1';
/** The external account that is registered last: when it exists, the sandbox is complete. */
const lastAccount = 'business-usd';

async function seed(payments: Payments, caller: Caller): Promise<void> {
  const { platformId } = caller;
  const { prisma } = payments.database;
  const { umaDomain } = await prisma.platform.findFirstOrThrow({ where: { id: platformId } });
  const person = await createCustomer(
    payments,
    caller,
    {
      platformCustomerId: personId,
      umaAddress: `$person@${umaDomain}`,
      details: {
        customerType: 'INDIVIDUAL',
        fullName: 'Sample Person',
        birthDate: '1990-12-10',
        nationality: 'US',
        address: { line1: '1 Sample Street', city: 'San Francisco', state: 'CA', postalCode: '94105', country: 'US' },
      },
    },
    'seed-individual',
  );
  const company = await createCustomer(
    payments,
    caller,
    {
      platformCustomerId: 'business-1',
      umaAddress: `$company@${umaDomain}`,
      details: {
        customerType: 'BUSINESS',
        legalName: 'Sample Company Inc.',
        registrationNumber: 'SC-0001',
        taxId: '12-3456789',
        address: { line1: '2 Sample Street', city: 'New York', state: 'NY', postalCode: '10001', country: 'US' },
      },
    },
    'seed-business',
  );
  for (const customer of [person.row, company.row]) {
    const accounts = await prisma.account.findMany({
      where: { platformId, customerId: customer.id, kind: 'INTERNAL', currency: { in: Object.keys(balances) } },
    });
    for (const account of accounts) {
      const amount = balances[account.currency] ?? 0n;
      await fundAccount(
        payments,
        caller,
        { accountId: publicId('InternalAccount', account.id), amount },
        `seed-${account.id}`,
      );
    }
  }
  await registerAccounts(payments, caller, publicId('Customer', person.row.id), publicId('Customer', company.row.id));
}

async function registerAccounts(
  payments: Payments,
  caller: Caller,
  personId: string,
  companyId: string,
): Promise<void> {
  const accounts = [
    ...personAccounts.map((account) => ({ ...account, customerId: personId })),
    ...companyAccounts.map((account) => ({ ...account, customerId: companyId })),
  ];
  for (const { id, ...account } of accounts) {
    await createExternalAccount(
      payments,
      caller,
      { ...account, platformAccountId: id, defaultUmaDepositAccount: false },
      `seed-${id}`,
    );
  }
}

const person = {
  beneficiaryType: 'INDIVIDUAL',
  fullName: 'Sample Person',
  birthDate: '1990-12-10',
  nationality: 'US',
} as const;

/** The last one is the newest, which lists show first. */
const personAccounts = [
  {
    id: 'individual-usd',
    currency: 'USD',
    accountType: 'US_ACCOUNT',
    details: usDetails('1234567890'),
    beneficiary: person,
  },
  {
    id: 'individual-mxn',
    currency: 'MXN',
    accountType: 'CLABE',
    details: { clabeNumber: '032180000118359719' },
    beneficiary: person,
  },
  {
    id: 'individual-btc',
    currency: 'BTC',
    accountType: 'LIGHTNING',
    details: { lightningAddress: 'person@sandbox.uma.money' },
    beneficiary: null,
  },
  {
    id: 'individual-eur',
    currency: 'EUR',
    accountType: 'IBAN',
    details: { iban: 'DE89370400440532013000', swiftBic: 'COBADEFF' },
    beneficiary: person,
  },
] as const;

const company = { beneficiaryType: 'BUSINESS', legalName: 'Sample Company Inc.' } as const;

const companyAccounts = [
  {
    id: 'business-eur',
    currency: 'EUR',
    accountType: 'IBAN',
    details: { iban: 'FR1420041010050500013M02606', swiftBic: 'PSSTFRPP' },
    beneficiary: company,
  },
  {
    id: lastAccount,
    currency: 'USD',
    accountType: 'US_ACCOUNT',
    details: usDetails('9876543210'),
    beneficiary: company,
  },
] as const;

function usDetails(accountNumber: string) {
  return { accountNumber, routingNumber: '021000021', accountCategory: 'CHECKING', bankName: 'First Bank' };
}
