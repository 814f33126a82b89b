import type { Currency } from '../../core/currencies.ts';
import {
  add,
  divide,
  multiply,
  parseDecimal,
  rateDigits,
  ratePlaces,
  roundUp,
  tenTo,
  toDecimal,
  whole,
} from '../../core/fraction.ts';
import type { RateTerms } from '../rail.ts';
import { type UpstreamClient, unlessRefused } from './upstream-client.ts';
import { rateList } from './upstream-records.ts';

/** The decimal places of a variable fee rate that is derived from amounts. */
const feePlaces = 6;

/** Reads the current terms of a conversion from upstream's rates; undefined if upstream does not convert the pair. */
export async function readTerms(
  client: UpstreamClient,
  sending: Currency,
  receiving: Currency,
): Promise<RateTerms | undefined> {
  const wanted = [...new Set([receiving.code, 'BTC'])].map((code) => `&destinationCurrency=${code}`).join('');
  const path = `/exchange-rates?sourceCurrency=${sending.code}${wanted}`;
  const { data } = await unlessRefused(client.get(path, rateList), { data: [] });
  const found = data.find(({ destinationCurrency }) => destinationCurrency.code === receiving.code);
  if (!found) return undefined;
  const bitcoin = data.find(({ destinationCurrency }) => destinationCurrency.code === 'BTC');
  const { fees, sendingAmount } = found;
  const charged = sendingAmount - fees.fixed;
  return {
    rate: decimalOf(found.exchangeRate),
    serviceFixedFee: BigInt(fees.fixed),
    serviceVariableFeeRate: charged > 0 ? shareOf(fees.total - fees.fixed, charged) : '0',
    counterpartyFixedFee: 0n,
    minSendingAmount: BigInt(found.minSendingAmount),
    maxSendingAmount: BigInt(found.maxSendingAmount),
    bridge: bitcoin ? decimalOf(bitcoin.exchangeRate) : '1',
  };
}

/** Returns a share as a decimal, rounded up, so that upstream never charges more than this gateway does. */
function shareOf(part: number, of: number): string {
  const share = divide(whole(BigInt(part)), whole(BigInt(of)));
  const units = roundUp(multiply(share, tenTo(feePlaces)));
  return toDecimal(multiply(whole(units), tenTo(-feePlaces)), rateDigits);
}

/** Formats a JSON number as a plain decimal: small numbers would have an exponent. */
export function decimalOf(value: number): string {
  const [digits = '0', exponent = '0'] = String(value).split('e');
  return toDecimal(multiply(add(parseDecimal(digits), whole(0n)), tenTo(Number(exponent))), rateDigits, ratePlaces);
}
