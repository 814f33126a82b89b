import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { currencyOf } from '../../src/core/currencies.ts';
import { toExactDecimal } from '../../src/core/fraction.ts';
import type { PricingRequest, priceQuote } from '../../src/domain/pricing/pricing.ts';
import type { Value } from './smt.ts';
import { pricingModel, type Satisfiable, solve } from './solver.ts';
import { pricingFile, type QuoteTheorem, quotes, type WrongRounding } from './theorems.ts';

/**
 * Wrong roundings. The solver finds a quote that shows the fault, and the source with the same fault then computes that
 * quote.
 */

type PriceQuote = typeof priceQuote;

/** Returns the theorem that a wrong rounding breaks. */
export function brokenBy({ breaks }: WrongRounding): QuoteTheorem {
  const theorem = quotes.find(({ name }) => name === breaks);
  if (!theorem) throw new Error(`there is no theorem ${breaks}`);
  return theorem;
}

/** Makes the solver find a quote for which the theorem is false, with rates that a rail could give, in thousandths. */
export function counterexampleOf(bug: WrongRounding): Promise<Satisfiable> {
  const theorem = brokenBy(bug);
  const amounts = theorem.real.filter((name) => !['units_bought', 'platform', 'service'].includes(name));
  const whole = [...theorem.whole, ...amounts, 'rate_thousandths', 'platform_thousandths', 'service_thousandths'];
  const real = ['units_bought', 'platform', 'service'];
  return solve(
    { ...theorem, whole: [...new Set(whole)], real },
    [
      // Large enough that the correct rounding also yields a price.
      '(and (<= fixed 5) (<= send 200) (>= receive 2))',
      '(and (>= rate_thousandths 1) (<= rate_thousandths 4000) (= (* units_bought rate_thousandths) 1000))',
      ...['platform', 'service'].map((name) => `(= (* 1000 ${name}) ${name}_thousandths)`),
      `(not ${theorem.claim})`,
    ],
    { model: pricingModel.replace(bug.find, bug.put), values: true },
  );
}

/** Builds the request for a quote that the solver has found. */
export function requestOf({ locked }: QuoteTheorem, values: Readonly<Record<string, Value>>): PricingRequest {
  const number = (name: string) => {
    const value = values[name];
    if (value === undefined || typeof value === 'boolean') throw new Error(`${name} is not a number`);
    return value;
  };
  const amount = (name: string) => number(name).numerator / number(name).denominator;
  const decimal = (name: string) =>
    toExactDecimal({ numerator: amount(name), denominator: 1_000n }) ?? `${name} is not a decimal`;
  const [usd, eur] = [currencyOf('USD'), currencyOf('EUR')];
  if (!usd || !eur) throw new Error('the currencies are known');
  return {
    sending: usd,
    receiving: eur,
    lockedSide: locked,
    lockedAmount: amount(locked === 'SENDING' ? 'send' : 'receive'),
    rate: {
      rate: decimal('rate_thousandths'),
      serviceFixedFee: amount('fixed'),
      serviceVariableFeeRate: decimal('service_thousandths'),
      counterpartyFixedFee: 0n,
      minSendingAmount: 1n,
      maxSendingAmount: 9_000_000_000_000_000n,
      bridge: '100000',
    },
    platformFee: { fixedFee: 0n, variableFeeRate: decimal('platform_thousandths') },
  };
}

/** Calls `use` with the priceQuote of a copy of the source that has the wrong rounding. */
export async function withWrongSource<T>(
  { source: { find, put } }: WrongRounding,
  use: (wrong: PriceQuote) => T,
): Promise<T> {
  const copy = mkdtempSync(join(tmpdir(), 'wrong-rounding-'));
  try {
    for (const folder of ['core', 'domain/pricing', 'infra/database'])
      cpSync(join('src', folder), join(copy, 'src', folder), { recursive: true });
    writeFileSync(join(copy, pricingFile), readFileSync(pricingFile, 'utf8').replace(find, put));
    const { priceQuote } = await import(join(copy, 'src/domain/pricing/pricing.ts'));
    return use(priceQuote);
  } finally {
    rmSync(copy, { recursive: true });
  }
}
