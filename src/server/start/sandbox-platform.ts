import type { SandboxPlatform } from '../../api/pages/layout.ts';
import { accountPublicId, publicId } from '../../core/ids.ts';
import type { Caller } from '../../domain/access/caller.ts';
import { platformItself } from '../../domain/access/platform-itself.ts';
import { createExternalAccount } from '../../domain/accounts/external-accounts.ts';
import type { Payments } from '../../domain/commands/command.ts';
import { createCustomer } from '../../domain/customers/customers.ts';
import { createPlatform, findPlatform } from '../../domain/platforms/platforms.ts';
import { fundAccount } from '../../domain/sandbox/sandbox.ts';
import { withAdvisoryLock } from '../../infra/database/advisory-lock.ts';

/** The fixed credentials of the local sandbox, which exist only on the embedded database (loopback interface). */
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
 * Creates the platform of the local sandbox, unless it exists: two customers with money and external accounts to pay
 * to. Of several instances that start together, one creates it and the others wait. An interrupted start is continued
 * by the next one, since every step has an idempotency key.
 * @returns its credentials, and the accounts for a first payment
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
/** The external account that is registered last: once it exists, the sandbox is complete. */
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
  const owners = { person: publicId('Customer', person.row.id), company: publicId('Customer', company.row.id) };
  for (const { id, of, ...account } of externalAccounts) {
    const given = { customerId: owners[of], platformAccountId: id, defaultUmaDepositAccount: false };
    await createExternalAccount(payments, caller, { ...account, ...given }, `seed-${id}`);
  }
}

const person = {
  beneficiaryType: 'INDIVIDUAL',
  fullName: 'Sample Person',
  birthDate: '1990-12-10',
  nationality: 'US',
} as const;
const company = { beneficiaryType: 'BUSINESS', legalName: 'Sample Company Inc.' } as const;

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

/** Each owner's last account is the newest, which lists show first. */
const externalAccounts = [
  { id: 'individual-usd', of: 'person', ...inUsd('1234567890'), beneficiary: person },
  {
    id: 'individual-mxn',
    of: 'person',
    currency: 'MXN',
    accountType: 'CLABE',
    details: { clabeNumber: '032180000118359719' },
    beneficiary: person,
  },
  {
    id: 'individual-btc',
    of: 'person',
    currency: 'BTC',
    accountType: 'LIGHTNING',
    details: { lightningAddress: 'person@sandbox.uma.money' },
    beneficiary: null,
  },
  { id: 'individual-eur', of: 'person', ...inEur('DE89370400440532013000', 'COBADEFF'), beneficiary: person },
  { id: 'business-eur', of: 'company', ...inEur('FR1420041010050500013M02606', 'PSSTFRPP'), beneficiary: company },
  { id: lastAccount, of: 'company', ...inUsd('9876543210'), beneficiary: company },
] as const;
