import { type Currency, formatMajor } from '../../core/currencies.ts';
import { type Fraction, rateDigits, tenTo, toDecimal, toExactDecimal, toRatio } from '../../core/fraction.ts';
import type { RateTerms } from '../../rails/rail.ts';

/** The roundings behind the amounts of a quote, in words. They are stored with the quote, to explain every unit. */

/** One rounding, as text. */
export interface PricingStep {
  /** The amount that was rounded. */
  readonly step:
    | 'counterpartyFixedFee'
    | 'totalSendingAmount'
    | 'totalReceivingAmount'
    | 'platformVariableFee'
    | 'serviceVariableFee'
    | 'roundingSurplus';
  /** The exact value and the rounded one, in smallest units: "950 × 0.003 = 2.85, rounded half up to 3 (0.03 USD)". */
  readonly value: string;
}

/** An amount in whole smallest units, with its value before the rounding. */
export interface Rounded {
  readonly exact: Fraction;
  readonly amount: bigint;
}

interface CurrencyPair {
  readonly sending: Currency;
  readonly receiving: Currency;
}

/** The numbers behind one side of a quote: the terms of pricing-terms.ts. */
interface Computation {
  readonly request: CurrencyPair & { readonly lockedAmount: bigint };
  readonly fixedFees: bigint;
  readonly shareAfterFee: Fraction;
  readonly rate: Fraction;
}

/** Describes how the counterparty's fixed fee was converted to the sending currency. */
export function counterpartyFeeStep(
  { sending, receiving, rate }: CurrencyPair & { readonly rate: Pick<RateTerms, 'counterpartyFixedFee' | 'rate'> },
  fee: Rounded,
): PricingStep {
  const formula = `${rate.counterpartyFixedFee} × ${rate.rate}${shift(sending.decimals - receiving.decimals)}`;
  return { step: 'counterpartyFixedFee', value: `${formula} = ${roundedHalfUp(fee, sending)}` };
}

/** Describes how the receiving side was computed from the locked sending side. */
export function receivingStep({ request, fixedFees, shareAfterFee, rate }: Computation, receive: Rounded): PricingStep {
  const { sending, receiving, lockedAmount } = request;
  const net = `(${lockedAmount} − ${fixedFees}) × ${formatExact(shareAfterFee)}`;
  const formula = `${net} ÷ ${formatExact(rate)}${shift(receiving.decimals - sending.decimals)}`;
  return { step: 'totalReceivingAmount', value: `${formula} = ${roundedHalfUp(receive, receiving)}` };
}

/** Describes how the sending side was computed from the locked receiving side. */
export function sendingStep({ request, fixedFees, shareAfterFee, rate }: Computation, send: Rounded): PricingStep {
  const { sending, receiving, lockedAmount } = request;
  const gross = `${lockedAmount} × ${formatExact(rate)}${shift(sending.decimals - receiving.decimals)} ÷ ${formatExact(shareAfterFee)}`;
  const value = `${fixedFees} + ${gross} = ${formatExact(send.exact)}, rounded up to ${send.amount} (${formatMajor(send.amount, sending)})`;
  return { step: 'totalSendingAmount', value };
}

/** Describes a value that was rounded half up. */
export function roundedHalfUp({ exact, amount }: Rounded, currency: Currency): string {
  return `${formatExact(exact)}, rounded half up to ${amount} (${formatMajor(amount, currency)})`;
}

/** Describes the factor between the smallest units of two currencies. */
function shift(decimals: number): string {
  if (decimals === 0) return '';
  return decimals > 0 ? ` × ${formatExact(tenTo(decimals))}` : ` ÷ ${formatExact(tenTo(-decimals))}`;
}

/** Formats an exact value: as a decimal where its digits end, else as a ratio with a rounded decimal. */
export function formatExact(value: Fraction): string {
  return toExactDecimal(value) ?? `${toRatio(value)} (about ${toDecimal(value, rateDigits)})`;
}
