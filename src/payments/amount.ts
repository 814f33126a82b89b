import { currencyOf } from '../money/currencies.ts';

/** An amount as the specification writes it (2.1, 2.2): smallest units and the whole currency. */
export interface AmountRecord {
  readonly amount: number;
  readonly currency: {
    readonly code: string;
    readonly name: string;
    readonly symbol: string;
    readonly decimals: number;
  };
}

/**
 * An amount for JSON. Amounts stay within 9·10^15 and so are exact as JSON numbers.
 * @throws Error for a currency that the tables do not admit
 */
export function amountRecord(amount: bigint, code: string): AmountRecord {
  const currency = currencyOf(code);
  if (!currency) throw new Error(`unknown currency ${code}`);
  const { name, symbol, decimals } = currency;
  return { amount: Number(amount), currency: { code, name, symbol, decimals } };
}
