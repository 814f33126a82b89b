import { publicId } from '../../core/ids.ts';
import { lookupCurrencies, lookupFields } from '../../domain/receivers/lookups.ts';
import type { Lookup } from '../../infra/database/rows.ts';
import { amountRecord, currencyRecord, jsonInteger, jsonNumber } from './fields.ts';

/**
 * Converts a row to the record of a lookup: the fields of specification 2.10, and those added by decision 11. The
 * constraints are those of the preferred currency; `min` and `max` are in its smallest unit.
 * @throws UnrepresentableAmount beyond 2^53
 */
export function lookupRecord(row: Lookup) {
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

/**
 * Adds the fields that clients of the older request form read to the record of a lookup: each currency as `currency`,
 * and every field that the receiver requests, with whether it is required (decision 11).
 * @throws UnrepresentableAmount beyond 2^53
 */
export function umaLookupRecord(row: Lookup) {
  const { supportedCurrencies, ...record } = lookupRecord(row);
  return {
    ...record,
    supportedCurrencies: supportedCurrencies.map((one) => ({ ...one, currency: currencyRecord(one.code) })),
    requiredPayerDataFields: lookupFields(row).map(({ name, mandatory }) => ({ name, mandatory })),
  };
}
