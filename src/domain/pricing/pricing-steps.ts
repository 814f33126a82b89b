import { type Currency, formatMajor } from '../../core/currencies.ts';
import { type Fraction, rateDigits, tenTo } from '../../core/fraction.ts';
import type { RateTerms } from '../../rails/rail.ts';
import type { PlatformFeeTerms } from '../commands/parties.ts';

export interface PricingRequest {
  readonly sending: Currency;
  readonly receiving: Currency;
  readonly lockedSide: 'SENDING' | 'RECEIVING';
  /** The amount in the smallest unit of the locked side's currency. */
  readonly lockedAmount: bigint;
  /** The rail's terms, whose rate is used unchanged. */
  readonly rate: RateTerms;
  readonly platformFee: PlatformFeeTerms;
}

export interface Terms {
  readonly request: PricingRequest;
  readonly rate: Fraction;
  /** k: how many smallest units are received per smallest unit sent. */
  readonly unitsBought: Fraction;
  readonly serviceRate: Fraction;
  readonly platformRate: Fraction;
  /** 1 − v: the share that remains after the variable fees. */
  readonly shareAfterFee: Fraction;
  /** F, in the sending currency's smallest unit. */
  readonly fixedFees: bigint;
  readonly steps: readonly PricingStep[];
}

/** A rounding step in a quote's calculation. Stored with the quote, so that every unit can be accounted for. */
export interface PricingStep {
  readonly step:
    | 'COUNTERPARTY_FIXED_FEE'
    | 'TOTAL_SENDING_AMOUNT'
    | 'TOTAL_RECEIVING_AMOUNT'
    | 'PLATFORM_VARIABLE_FEE'
    | 'SERVICE_VARIABLE_FEE'
    | 'ROUNDING_SURPLUS';
  /** The exact value in the currency's smallest unit; a nonterminating decimal is rounded to 30 digits. */
  readonly before: string;
  /** The rounded value, in the currency's smallest unit. */
  readonly after: bigint;
  /** The currency code of both values. */
  readonly currency: string;
  /** NONE if the amount was set by a provider. */
  readonly rounding: 'HALF_UP' | 'UP' | 'DOWN' | 'NONE';
  /** The whole step as text, such as "950 × 0.003 = 2.85, rounded half up to 3 (0.03 USD)". */
  readonly text: string;
}

/** Creates a step from the values before and after its rounding. */
export function stepOf(
  step: PricingStep['step'],
  { exact, amount }: Rounded,
  { code }: Currency,
  rounding: PricingStep['rounding'],
  text: string,
): PricingStep {
  const before = exact.toExactDecimal() ?? exact.toDecimal(30);
  return { step, before, after: amount, currency: code, rounding, text };
}

/** A rounded amount in the currency's smallest unit, with its value before rounding. */
export interface Rounded {
  readonly exact: Fraction;
  readonly amount: bigint;
}

export function counterpartyFeeStep({ sending, receiving, rate }: PricingRequest, fee: Rounded): PricingStep {
  const formula = `${rate.counterpartyFixedFee} × ${rate.rate}${shift(sending.decimals - receiving.decimals)}`;
  return stepOf('COUNTERPARTY_FIXED_FEE', fee, sending, 'HALF_UP', `${formula} = ${roundedHalfUp(fee, sending)}`);
}

/** Explains the receiving amount of a quote that locks the sending amount. */
export function receivingStep({ request, fixedFees, shareAfterFee, rate }: Terms, receive: Rounded): PricingStep {
  const { sending, receiving, lockedAmount } = request;
  const net = `(${lockedAmount} − ${fixedFees}) × ${formatExact(shareAfterFee)}`;
  const formula = `${net} ÷ ${formatExact(rate)}${shift(receiving.decimals - sending.decimals)}`;
  const text = `${formula} = ${roundedHalfUp(receive, receiving)}`;
  return stepOf('TOTAL_RECEIVING_AMOUNT', receive, receiving, 'HALF_UP', text);
}

/** Explains the sending amount of a quote that locks the receiving amount. */
export function sendingStep({ request, fixedFees, shareAfterFee, rate }: Terms, send: Rounded): PricingStep {
  const { sending, receiving, lockedAmount } = request;
  const gross = `${lockedAmount} × ${formatExact(rate)}${shift(sending.decimals - receiving.decimals)} ÷ ${formatExact(shareAfterFee)}`;
  const text = `${fixedFees} + ${gross} = ${formatExact(send.exact)}, rounded up to ${send.amount} (${formatMajor(send.amount, sending)})`;
  return stepOf('TOTAL_SENDING_AMOUNT', send, sending, 'UP', text);
}

export function roundedHalfUp({ exact, amount }: Rounded, currency: Currency): string {
  return `${formatExact(exact)}, rounded half up to ${amount} (${formatMajor(amount, currency)})`;
}

function shift(decimals: number): string {
  if (decimals === 0) return '';
  return decimals > 0 ? ` × ${formatExact(tenTo(decimals))}` : ` ÷ ${formatExact(tenTo(-decimals))}`;
}

/** Formats an exact value as a decimal if it terminates, otherwise as a ratio followed by a rounded decimal. */
export function formatExact(value: Fraction): string {
  return value.toExactDecimal() ?? `${value.toRatio()} (about ${value.toDecimal(rateDigits)})`;
}
