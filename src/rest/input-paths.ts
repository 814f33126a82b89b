import type { FieldPath, PathTable } from '../core/path.ts';
import type { CreateExternalAccount } from '../payments/accounts/external-accounts.ts';
import type { UpdateCustomer } from '../payments/customers/customer-changes.ts';
import type { CreateCustomer } from '../payments/customers/customers.ts';
import type { PlatformSettings } from '../payments/platforms/platform-config.ts';
import type { RatesQuery } from '../payments/pricing/exchange-rates.ts';
import type { CreateQuote } from '../payments/quotes/quote-input.ts';
import type { LookUpReceiver } from '../payments/receivers/lookups.ts';
import type { Transfer } from '../payments/transfers/transfer.ts';

/**
 * Where the requests of this API have what the inputs of commands have elsewhere. What is not named here is at the same path.
 */

/** The request has everything where the command has it. */
export const samePaths: PathTable = [];

/** Of every command. */
export const keyPaths: PathTable = [[['idempotencyKey'], ['Idempotency-Key']]];

export const transferPaths: PathTable<Transfer> = [
  [['sourceAccountId'], ['source', 'accountId']],
  [['destinationAccountId'], ['destination', 'accountId']],
];

export const externalAccountPaths: PathTable<CreateExternalAccount> = [
  [['details'], ['accountInfo']],
  [['accountType'], ['accountInfo', 'accountType']],
  [['beneficiary'], ['accountInfo', 'beneficiary']],
];

export const customerPaths: PathTable<CreateCustomer & UpdateCustomer> = [
  [['details'], ['customerType']],
  [['details', 'fullName'], ['fullName']],
  [['details', 'birthDate'], ['birthDate']],
  [['details', 'nationality'], ['nationality']],
  [['details', 'address'], ['address']],
  [
    ['details', 'legalName'],
    ['businessInfo', 'legalName'],
  ],
  [
    ['details', 'registrationNumber'],
    ['businessInfo', 'registrationNumber'],
  ],
  [
    ['details', 'taxId'],
    ['businessInfo', 'taxId'],
  ],
  [['details', 'beneficialOwners'], ['beneficialOwners']],
];

export const platformPaths: PathTable<PlatformSettings & { readonly url: string }> = [
  [['currencies'], ['supportedCurrencies']],
  [['url'], ['webhookEndpoint']],
];

export const ratesPaths: PathTable<RatesQuery> = [
  [['source'], ['sourceCurrency']],
  [['destinations'], ['destinationCurrency']],
];

export const lookupPaths: PathTable<LookUpReceiver> = [[['umaAddress'], ['receiverUmaAddress']]];

/** What a quote leaves to its lookup is named by the lookup, or by a currency beside it. */
export const lookupPartiesPaths: PathTable = [[['currency'], ['sendingCurrencyCode']]];

/** What a request for a quote says, as far as its paths hang on it. */
interface QuoteBody {
  readonly source?: { readonly currency?: string | undefined } | undefined;
  readonly destination?: { readonly currency?: string | undefined } | undefined;
  readonly receivingCurrencyCode?: string | undefined;
  readonly senderCustomerInfo?: object | undefined;
  readonly senderUserInfo?: object | undefined;
}

export function quotePaths(body: QuoteBody): PathTable<CreateQuote> {
  const { source, destination, receivingCurrencyCode, senderCustomerInfo, senderUserInfo } = body;
  const table: (readonly [PathTable<CreateQuote>[number][0], FieldPath])[] = [];
  if (!source) table.push([['source'], ['sendingCurrencyCode']]);
  else if (source.currency === undefined) table.push([['source', 'currency'], ['sendingCurrencyCode']]);
  if (!destination) table.push([['destination', 'umaAddress'], ['lookupId']]);
  if (!destination || (receivingCurrencyCode !== undefined && destination.currency === undefined))
    table.push([['destination', 'currency'], ['receivingCurrencyCode']]);
  if (!senderCustomerInfo && senderUserInfo) table.push([['senderCustomerInfo'], ['senderUserInfo']]);
  return table;
}
