import type { TestGateway, TestPlatform } from './gateway.ts';

/** What most tests need: a customer with external accounts and money in USD. All ids are public ids. */
export interface Scene {
  readonly customerId: string;
  readonly usd: string;
  readonly eur: string;
  readonly outsideUsd: string;
  readonly outsideEur: string;
}

/** Returns the details of a US account. */
export const usAccount = (accountNumber: string, routingNumber = '021000021') => ({
  usAccount: { accountNumber, routingNumber, accountCategory: 'CHECKING' },
});

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

/** Returns the platform with a new token, which the gateway has just verified and will keep cached for a second. */
export async function withNewCredentials(platform: TestPlatform, url: string): Promise<TestPlatform> {
  const renewed = await platform.at(url).serverOf('VIEW', 'TRANSACT', 'MANAGE');
  await renewed.ask('{ viewer { kind } }');
  return renewed;
}

export type { Bearer } from './platform.ts';
