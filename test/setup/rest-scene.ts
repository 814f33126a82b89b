import { composeIBAN } from 'ibantools';
import type { Data } from './gateway.ts';
import type { RestClient } from './rest.ts';

/** A customer created over REST alone, with internal and external accounts. */
export type RestScene = Awaited<ReturnType<typeof restScene>>;

let made = 0;

/** Returns account details that no other account has. */
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

/**
 * Builds the body of a quote between two accounts: this amount is sent (smallest units), unless `rest` says otherwise.
 */
export const restQuote = (from: string, to: string, lockedCurrencyAmount: number, rest: object = {}) => ({
  source: { sourceType: 'ACCOUNT', accountId: from },
  destination: { destinationType: 'ACCOUNT', accountId: to },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount,
  ...rest,
});

/** Builds the body of a transfer between two accounts (smallest units). */
export const restTransfer = (from: string, to: string, amount: number) => ({
  source: { accountId: from },
  destination: { accountId: to },
  amount,
});

/** Creates a customer whose USD account holds `balance` (smallest units). */
export async function restScene(rest: RestClient, balance = 1_000_000, fullName = 'Grace Hopper') {
  made += 1;
  const customer = await rest.make('/customers', {
    customerType: 'INDIVIDUAL',
    platformCustomerId: `scene-${made}`,
    fullName,
    birthDate: '1906-12-09',
  });
  const usd = await restAccount(rest, customer.id, 'USD');
  if (balance > 0) await rest.ask('POST', `/sandbox/internal-accounts/${usd.id}/fund`, { amount: balance });
  const external = (currency: string, accountInfo: object) =>
    rest.make('/customers/external-accounts', { currency, customerId: customer.id, accountInfo });
  return {
    customer,
    usd: await restAccount(rest, customer.id, 'USD'),
    eur: await restAccount(rest, customer.id, 'EUR'),
    outsideUsd: await external('USD', usAccount()),
    outsideEur: await external('EUR', {
      accountType: 'IBAN',
      iban: composeIBAN({ countryCode: 'DE', bban: `37040044${3_000_000 + made}000` }),
      swiftBic: 'COBADEFF',
      beneficiary: {
        beneficiaryType: 'BUSINESS',
        legalName: 'Acme GmbH',
        address: { line1: 'Weg 1', postalCode: '10115', country: 'DE' },
      },
    }),
  };
}

/** Reads a customer's internal account in a currency. */
export async function restAccount(rest: RestClient, customerId: string, currency: string): Promise<Data> {
  const page = await rest.ask('GET', `/customers/internal-accounts?customerId=${customerId}&currency=${currency}`);
  return page.data[0];
}
