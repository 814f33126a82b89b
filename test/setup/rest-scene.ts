import type { Data } from './gateway.ts';
import type { RestClient } from './rest.ts';

/** A customer made over REST alone, with accounts here and outside. */
export type RestScene = Awaited<ReturnType<typeof restScene>>;

let made = 0;

/** Account details that no other account has. */
export function usAccount(suffix = '000') {
  made += 1;
  return {
    accountType: 'US_ACCOUNT',
    accountNumber: `${3_000_000 + made}${suffix}`,
    routingNumber: '021000021',
    accountCategory: 'CHECKING',
    bankName: 'A Bank',
    beneficiary: {
      beneficiaryType: 'INDIVIDUAL',
      fullName: 'Grace Hopper',
      birthDate: '1906-12-09',
      nationality: 'US',
    },
  };
}

/** Makes a customer whose USD account holds `balance` (smallest units). */
export async function restScene(rest: RestClient, balance = 1_000_000, fullName = 'Grace Hopper') {
  made += 1;
  const customer = await rest.ask(
    'POST',
    '/customers',
    { customerType: 'INDIVIDUAL', platformCustomerId: `scene-${made}`, fullName, birthDate: '1906-12-09' },
    201,
  );
  const usd = await restAccount(rest, customer.id, 'USD');
  if (balance > 0) await rest.ask('POST', `/sandbox/internal-accounts/${usd.id}/fund`, { amount: balance });
  const external = (currency: string, accountInfo: object) =>
    rest.ask('POST', '/customers/external-accounts', { currency, customerId: customer.id, accountInfo }, 201);
  return {
    customer,
    usd: await restAccount(rest, customer.id, 'USD'),
    eur: await restAccount(rest, customer.id, 'EUR'),
    outsideUsd: await external('USD', usAccount()),
    outsideEur: await external('EUR', {
      accountType: 'IBAN',
      iban: `DE893704004405${3_000_000 + made}0`,
      swiftBic: 'COBADEFF',
      beneficiary: {
        beneficiaryType: 'BUSINESS',
        legalName: 'Acme GmbH',
        address: { line1: 'Weg 1', postalCode: '10115', country: 'DE' },
      },
    }),
  };
}

/** A customer's internal account in a currency, as it is now. */
export async function restAccount(rest: RestClient, customerId: string, currency: string): Promise<Data> {
  const page = await rest.ask('GET', `/customers/internal-accounts?customerId=${customerId}&currency=${currency}`);
  return page.data[0];
}
