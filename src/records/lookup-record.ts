import { publicId } from '../core/ids.ts';
import type { Lookup } from '../database/rows.ts';
import { lookupCurrencies, lookupFields } from '../payments/receivers/lookups.ts';
import {
  type AmountRecord,
  amountRecord,
  type CurrencyRecord,
  currencyRecord,
  jsonInteger,
  jsonNumber,
} from './numbers.ts';

/** A currency that a receiver accepts. `min` and `max` are in its smallest unit. */
export interface ReceiverCurrencyRecord extends CurrencyRecord {
  readonly estimatedExchangeRate?: number;
  readonly min: number;
  readonly max: number;
}

/** A lookup of what a receiver can be paid: the fields of specification 2.10, and those that decision 11 adds. */
export interface LookupRecord {
  readonly id: string;
  readonly lookupId: string;
  readonly receiverUmaAddress: string;
  readonly receiver: { readonly handle: string; readonly vaspName?: string; readonly network?: string };
  readonly supportedCurrencies: ReceiverCurrencyRecord[];
  readonly requiredPayerFields: string[];
  readonly constraints?: { readonly minAmount: AmountRecord; readonly maxAmount: AmountRecord };
  readonly createdAt: string;
}

/**
 * Converts a row to the record of a lookup. The constraints are those of the preferred currency.
 * @throws UnrepresentableAmount beyond 2^53
 */
export function lookupRecord(row: Lookup): LookupRecord {
  const currencies = lookupCurrencies(row);
  const [preferred] = currencies;
  const id = publicId('Lookup', row.id);
  return {
    id,
    lookupId: id,
    receiverUmaAddress: row.umaAddress,
    receiver: {
      handle: row.umaAddress,
      ...(row.vaspName !== null && { vaspName: row.vaspName }),
      ...(row.network !== null && { network: row.network }),
    },
    supportedCurrencies: currencies.map(({ code, estimatedExchangeRate: rate, minAmount, maxAmount }) => ({
      ...currencyRecord(code),
      ...(rate !== null && { estimatedExchangeRate: jsonNumber(rate) }),
      min: jsonInteger(BigInt(minAmount)),
      max: jsonInteger(BigInt(maxAmount)),
    })),
    requiredPayerFields: lookupFields(row).flatMap(({ name, mandatory }) => (mandatory ? [name] : [])),
    ...(preferred && {
      constraints: {
        minAmount: amountRecord(BigInt(preferred.minAmount), preferred.code),
        maxAmount: amountRecord(BigInt(preferred.maxAmount), preferred.code),
      },
    }),
    createdAt: row.createdAt.toISOString(),
  };
}
