import type { FieldPath, PathTable } from '../../core/refusal.ts';
import type { CreateExternalAccount } from '../../domain/accounts/external-accounts.ts';
import type { UpdateCustomer } from '../../domain/customers/customer-changes.ts';
import type { CreateCustomer } from '../../domain/customers/customers.ts';
import type { PlatformSettings } from '../../domain/platforms/platforms.ts';
import type { RatesQuery } from '../../domain/pricing/exchange-rates.ts';
import type { CreateQuote } from '../../domain/quotes/quote-input.ts';
import type { LookUpReceiver } from '../../domain/receivers/lookups.ts';
import type { Transfer } from '../../domain/transfers/transfer.ts';
import { ifMatch } from './context.ts';

// Tables that map the path of a field in a command's input to its path in the REST request: first the command's, then
// the request's. A field that is not listed has the same path in both.

/** The table of fields that are sent as headers, for every command. */
export const headerPaths: PathTable = [
  [['idempotencyKey'], ['Idempotency-Key']],
  [['expectedVersion'], [ifMatch]],
];

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

/** The table of parties that a quote takes from its lookup: a currency in the request selects the source account. */
export const lookupPartiesPaths: PathTable = [[['currency'], ['sendingCurrencyCode']]];

interface QuoteBody {
  readonly source?: { readonly currency?: string | undefined } | undefined;
  readonly destination?: { readonly currency?: string | undefined } | undefined;
  readonly receivingCurrencyCode?: string | undefined;
  readonly senderCustomerInfo?: object | undefined;
  readonly senderUserInfo?: object | undefined;
}

/** Returns the table of a quote request, which depends on its fields. */
export function quotePaths(body: QuoteBody): PathTable<CreateQuote> {
  const { source, destination, receivingCurrencyCode, senderCustomerInfo, senderUserInfo } = body;
  const table: (readonly [PathTable<CreateQuote>[number][0], FieldPath])[] = [];
  if (!source) table.push([['source'], ['sendingCurrencyCode']]);
  else if (source.currency === undefined) table.push([['source', 'currency'], ['sendingCurrencyCode']]);
  if (!destination) table.push([['destination', 'umaAddress'], ['lookupId']]);
  if (!destination || (receivingCurrencyCode !== undefined && destination.currency === undefined))
    table.push([['destination', 'currency'], ['receivingCurrencyCode']]);
  const field = !senderCustomerInfo && senderUserInfo ? 'senderUserInfo' : 'senderCustomerInfo';
  table.push([['senderCustomerInfo'], [field]]);
  // A fact is identified by name in an object, and by position in the command's list.
  for (const [position, name] of Object.keys(senderCustomerInfo ?? senderUserInfo ?? {}).entries()) {
    table.push([
      ['senderCustomerInfo', position],
      [field, name],
    ]);
  }
  return table;
}
