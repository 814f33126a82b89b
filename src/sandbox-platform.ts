import { createPlatform, findPlatform } from './access/platforms.ts';
import type { Payments, Tenant } from './payments/command.ts';
import { createCustomer } from './payments/customers.ts';
import { createExternalAccount } from './payments/external-accounts.ts';
import { publicId } from './payments/ids.ts';
import { fundAccount } from './payments/sandbox.ts';

/** The fixed credentials of the local sandbox. They exist only with the embedded database, on the loopback interface. */
export const sandboxCredentials = { clientId: 'sandbox', secret: 'sandbox' } as const;

const name = 'sandbox';

/** What the first account of each currency is given, in smallest units. */
const balances: Readonly<Record<string, bigint>> = {
  USD: 25_000_00n,
  EUR: 10_000_00n,
  GBP: 5_000_00n,
  MXN: 100_000_00n,
  JPY: 1_000_000n,
  USDC: 10_000_000_000n,
  BTC: 50_000_000n,
};

/**
 * The platform that a newcomer finds: two customers with money and external accounts to pay to. Made once; a start that
 * was cut short in the middle goes on where it stopped, since every step has its key.
 */
export async function prepareSandboxPlatform(payments: Payments): Promise<Tenant> {
  const tenant =
    (await findPlatform(payments.database, name)) ??
    (await createPlatform(payments, { name, environment: 'SANDBOX', credentials: sandboxCredentials }));
  const { platformId } = tenant;
  const { prisma } = payments.database;
  if (await prisma.account.findFirst({ select: { id: true }, where: { platformId, platformAccountId: lastStep } }))
    return tenant;

  const ada = await createCustomer(
    payments,
    tenant,
    {
      platformCustomerId: 'individual-1',
      umaAddress: '$ada@sandbox.uma.money',
      details: {
        customerType: 'INDIVIDUAL',
        fullName: 'Ada Lovelace',
        birthDate: '1990-12-10',
        nationality: 'US',
        address: { line1: '12 Analytical Way', city: 'San Francisco', state: 'CA', postalCode: '94105', country: 'US' },
      },
    },
    'seed-individual',
  );
  const works = await createCustomer(
    payments,
    tenant,
    {
      platformCustomerId: 'business-1',
      umaAddress: '$difference.works@sandbox.uma.money',
      details: {
        customerType: 'BUSINESS',
        legalName: 'Difference Works Inc.',
        registrationNumber: 'DW-1834',
        taxId: '12-3456789',
        address: { line1: '1 Engine Street', city: 'New York', state: 'NY', postalCode: '10001', country: 'US' },
      },
    },
    'seed-business',
  );
  for (const customer of [ada.row, works.row]) {
    const accounts = await prisma.account.findMany({
      where: { platformId, customerId: customer.id, kind: 'INTERNAL', currency: { in: Object.keys(balances) } },
    });
    for (const account of accounts) {
      const amount = balances[account.currency] ?? 0n;
      await fundAccount(
        payments,
        tenant,
        { accountId: publicId('InternalAccount', account.id), amount },
        `seed-${account.id}`,
      );
    }
  }
  await registerAccounts(payments, tenant, publicId('Customer', ada.row.id), publicId('Customer', works.row.id));
  return tenant;
}

const lastStep = 'business-usd';

async function registerAccounts(payments: Payments, tenant: Tenant, ada: string, works: string): Promise<void> {
  const person = {
    beneficiaryType: 'INDIVIDUAL',
    fullName: 'Ada Lovelace',
    birthDate: '1990-12-10',
    nationality: 'US',
  } as const;
  const company = { beneficiaryType: 'BUSINESS', legalName: 'Difference Works Inc.' } as const;
  const us = (accountNumber: string) => ({
    accountNumber,
    routingNumber: '021000021',
    accountCategory: 'CHECKING',
    bankName: 'First Bank',
  });
  const accounts = [
    {
      id: 'individual-usd',
      customerId: ada,
      currency: 'USD',
      accountType: 'US_ACCOUNT',
      details: us('1234567890'),
      beneficiary: person,
    },
    {
      id: 'individual-eur',
      customerId: ada,
      currency: 'EUR',
      accountType: 'IBAN',
      details: { iban: 'DE89370400440532013000', swiftBic: 'COBADEFF' },
      beneficiary: person,
    },
    {
      id: 'individual-mxn',
      customerId: ada,
      currency: 'MXN',
      accountType: 'CLABE',
      details: { clabeNumber: '032180000118359719' },
      beneficiary: person,
    },
    {
      id: 'individual-btc',
      customerId: ada,
      currency: 'BTC',
      accountType: 'LIGHTNING',
      details: { lightningAddress: 'ada@sandbox.uma.money' },
      beneficiary: null,
    },
    {
      id: 'business-eur',
      customerId: works,
      currency: 'EUR',
      accountType: 'IBAN',
      details: { iban: 'FR1420041010050500013M02606', swiftBic: 'PSSTFRPP' },
      beneficiary: company,
    },
    {
      id: lastStep,
      customerId: works,
      currency: 'USD',
      accountType: 'US_ACCOUNT',
      details: us('9876543210'),
      beneficiary: company,
    },
  ] as const;
  for (const { id, ...account } of accounts) {
    await createExternalAccount(
      payments,
      tenant,
      { ...account, platformAccountId: id, defaultUmaDepositAccount: false },
      `seed-${id}`,
    );
  }
}
