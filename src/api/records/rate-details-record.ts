import { trustedJson } from '../../infra/database/rows.ts';
import { jsonInteger, jsonNumber } from './numbers.ts';

/** The parts of a price (specification 2.5). */
export interface RateDetailsRecord {
  readonly counterpartyMultiplier?: number;
  readonly counterpartyFixedFee?: number;
  readonly serviceApiMultiplier?: number;
  readonly serviceApiFixedFee?: number;
  readonly serviceApiVariableFeeRate?: number;
  readonly serviceApiVariableFeeAmount?: number;
}

const decimals = ['counterpartyMultiplier', 'serviceApiMultiplier', 'serviceApiVariableFeeRate'] as const;
const amounts = ['counterpartyFixedFee', 'serviceApiFixedFee', 'serviceApiVariableFeeAmount'] as const;

/** Converts rate details as createQuote stored them: decimals and amounts are strings of digits. */
export function rateDetailsRecord(column: unknown): RateDetailsRecord | undefined {
  if (typeof column !== 'object' || column === null) return undefined;
  const values = trustedJson<Readonly<Record<string, string | null | undefined>>>(column);
  const fields = [
    ...decimals.map((name) => [name, values[name] == null ? undefined : jsonNumber(values[name])] as const),
    ...amounts.map((name) => [name, values[name] == null ? undefined : jsonInteger(BigInt(values[name]))] as const),
  ];
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}
