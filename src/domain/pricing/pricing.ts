import { maxAmount } from '../../core/checks.ts';
import { formatDecimal, formatMajor } from '../../core/currencies.ts';
import {
  type Fraction,
  larger,
  parseDecimal,
  rateDigits,
  rateFault,
  smaller,
  tenTo,
  variableFeeRateFault,
  whole,
} from '../../core/fraction.ts';
import {
  counterpartyFeeStep,
  formatExact,
  type PricingRequest,
  type PricingStep,
  type Rounded,
  receivingStep,
  roundedHalfUp,
  sendingStep,
  stepOf,
  type Terms,
} from './pricing-steps.ts';

/**
 * Prices quotes. A price is computed exactly, without side effects, and each conversion is rounded once.
 *
 * F is the sum of the fixed fees in the sending currency, v the sum of the variable fee rates, and k the number of
 * smallest units of the receiving currency that one smallest unit of the sending currency buys at the rate:
 *
 *     SENDING locked    receive = round half up ((send − F) × (1 − v) × k)
 *     RECEIVING locked  send    = round up (F + receive ÷ k ÷ (1 − v))
 *
 * Except for rounding, the amounts satisfy the rate law, (send − fees) × k = receive. With RECEIVING locked, or with
 * one variable fee, the error is at most one smallest unit of one of the two currencies. With SENDING locked and two
 * variable fees, each fee is rounded, and the error is at most half a receiving unit plus one sending unit.
 */

export interface Pricing {
  /** In the sending currency's smallest unit, fees included. */
  readonly totalSendingAmount: bigint;
  /** The exact amount that arrives, in the receiving currency's smallest unit. */
  readonly totalReceivingAmount: bigint;
  /** The rate used, as a plain decimal without trailing zeros. */
  readonly exchangeRate: string;
  /** All fees, including the platform's, in the sending currency's smallest unit. */
  readonly feesIncluded: bigint;
  /** F: the fixed part of feesIncluded, in the sending currency's smallest unit. */
  readonly fixedFees: bigint;
  /** The part of feesIncluded that the platform earns. */
  readonly platformFee: bigint;
  readonly rateDetails: RateDetails;
  /** All rounding steps, in order. They explain how each amount was computed. */
  readonly steps: readonly PricingStep[];
}

/**
 * The rate as two conversions, through bitcoin: receive = (send − fixed fees) × serviceApiMultiplier ×
 * counterpartyMultiplier. The multipliers are rounded to 15 significant digits.
 */
export interface RateDetails {
  /** Smallest units of the receiving currency per millisatoshi. */
  readonly counterpartyMultiplier: string;
  /** Smallest units of the receiving currency. */
  readonly counterpartyFixedFee: bigint;
  /** Millisatoshis per smallest unit of the sending currency, after all variable fees. */
  readonly serviceApiMultiplier: string;
  /** Smallest units of the sending currency. */
  readonly serviceApiFixedFee: bigint;
  /** A fraction of the sending amount. */
  readonly serviceApiVariableFeeRate: string;
  /** Smallest units of the sending currency. */
  readonly serviceApiVariableFeeAmount: bigint;
}

/** The reason why no price exists. */
export interface PricingRefusal {
  readonly code: 'INVALID_AMOUNT' | 'AMOUNT_OUT_OF_RANGE';
  readonly reason: string;
}

/**
 * Prices a quote, or returns the reason why no price exists.
 * @throws RangeError if the terms themselves are invalid, because of a fault in the rail or the fee settings
 */
export function priceQuote(request: PricingRequest): Pricing | PricingRefusal {
  const { lockedAmount } = request;
  if (lockedAmount < 1n) {
    return { code: 'INVALID_AMOUNT', reason: `the amount must be at least 1, not ${lockedAmount}` };
  }
  if (lockedAmount > maxAmount) return outOfRange(`the amount must be at most ${maxAmount}, not ${lockedAmount}`);

  const terms = readTerms(request);
  if (!nothing.isLessThan(terms.shareAfterFee)) {
    return outOfRange('the variable fees of the service and the platform together leave nothing to send');
  }
  return request.lockedSide === 'SENDING' ? priceFromSending(terms) : priceFromReceiving(terms);
}

const nothing = whole(0n);

function priceFromSending(terms: Terms): Pricing | PricingRefusal {
  const { request, fixedFees } = terms;
  const send = request.lockedAmount;
  if (send <= fixedFees) {
    return outOfRange(`the amount must be more than the fixed fees of ${formatMajor(fixedFees, request.sending)}`);
  }
  const receive = convertToReceiving(terms, send);
  return (
    sideOutOfRange(request, send, receive.amount) ??
    pricing(terms, send, receive.amount, variableFees(terms, send), receivingStep(terms, receive))
  );
}

function priceFromReceiving(terms: Terms): Pricing | PricingRefusal {
  const { request } = terms;
  const receive = request.lockedAmount;
  const send = convertToSending(terms, receive);
  const refused = sideOutOfRange(request, send.amount, receive);
  if (refused) return refused;
  const fees = withSurplus(terms, receive, variableFees(terms, send.amount));
  return pricing(terms, send.amount, receive, fees, sendingStep(terms, send));
}

function pricing(terms: Terms, send: bigint, receive: bigint, fees: VariableFees, step: PricingStep): Pricing {
  const { request } = terms;
  return {
    totalSendingAmount: send,
    totalReceivingAmount: receive,
    exchangeRate: terms.rate.toDecimal(rateDigits),
    feesIncluded: terms.fixedFees + fees.platform + fees.service,
    fixedFees: terms.fixedFees,
    platformFee: request.platformFee.fixedFee + fees.platform,
    rateDetails: rateDetails(request, terms, {
      counterpartyFixedFee: request.rate.counterpartyFixedFee,
      serviceApiFixedFee: request.rate.serviceFixedFee,
      serviceApiVariableFeeAmount: fees.service,
    }),
    steps: [...terms.steps, step, ...fees.steps],
  };
}

/** A quote's variable fees, in the sending currency's smallest unit. */
interface VariableFees {
  /** The amount that the fees are charged on: send − F. */
  readonly charged: bigint;
  readonly platform: bigint;
  readonly service: bigint;
  readonly steps: readonly PricingStep[];
}

function variableFees({ request, fixedFees, platformRate, serviceRate }: Terms, send: bigint): VariableFees {
  const charged = send - fixedFees;
  const feeOf = (rate: Fraction) => halfUp(whole(charged).times(rate));
  const [platform, service] = [feeOf(platformRate), feeOf(serviceRate)];
  const stepsOf = (name: PricingStep['step'], rate: Fraction, fee: Rounded) => {
    if (rate.numerator === 0n) return [];
    const text = `${charged} × ${formatExact(rate)} = ${roundedHalfUp(fee, request.sending)}`;
    return [stepOf(name, fee, request.sending, 'HALF_UP', text)];
  };
  const platformSteps = stepsOf('PLATFORM_VARIABLE_FEE', platformRate, platform);
  const steps = [...platformSteps, ...stepsOf('SERVICE_VARIABLE_FEE', serviceRate, service)];
  return { charged, platform: platform.amount, service: service.amount, steps };
}

/**
 * Adds a surplus unit to a variable fee if the rate law requires it. Rounding `send` up and the fees down can leave a
 * surplus of more than one smallest unit, which is neither a fee nor part of the converted amount. If the surplus is
 * also worth more than one receiving unit, and so breaks the rate law, one sending unit of it goes to the service's
 * variable fee, or to the platform's if only the platform charges one.
 */
function withSurplus(terms: Terms, receive: bigint, fees: VariableFees): VariableFees {
  const left = whole(fees.charged - fees.platform - fees.service);
  const worth = whole(receive).over(terms.unitsBought);
  const surplus = left.minus(worth);
  const isAboveOne = (value: Fraction) => everything.isLessThan(value);
  const keepsRateLaw = !isAboveOne(surplus) || !isAboveOne(surplus.times(terms.unitsBought));
  if (keepsRateLaw) return fees;

  const earner = terms.serviceRate.numerator > 0n ? 'service' : 'platform';
  const text = `${formatExact(left)} − ${formatExact(worth)} = ${formatExact(surplus)} left over, 1 of which is added to the ${earner}'s variable fee`;
  const unit = { exact: surplus, amount: 1n };
  const step = stepOf('ROUNDING_SURPLUS', unit, terms.request.sending, 'DOWN', text);
  return { ...fees, [earner]: fees[earner] + 1n, steps: [...fees.steps, step] };
}

/** Splits a rate at its bridge. */
export function rateDetails(
  { rate, sending }: PricingRequest,
  { shareAfterFee, unitsBought }: Pick<Terms, 'shareAfterFee' | 'unitsBought'>,
  fees: Pick<RateDetails, 'counterpartyFixedFee' | 'serviceApiFixedFee' | 'serviceApiVariableFeeAmount'>,
): RateDetails {
  const millisatoshi = tenTo(11 - sending.decimals).over(parseDecimal(rate.bridge));
  return {
    ...fees,
    counterpartyMultiplier: unitsBought.over(millisatoshi).toDecimal(rateDigits),
    serviceApiMultiplier: shareAfterFee.times(millisatoshi).toDecimal(rateDigits),
    serviceApiVariableFeeRate: parseDecimal(rate.serviceVariableFeeRate).toDecimal(rateDigits),
  };
}

function sideOutOfRange(request: PricingRequest, send: bigint, receive: bigint): PricingRefusal | undefined {
  const { sending, receiving, rate } = request;
  const pair = `from ${sending.code} to ${receiving.code}`;
  const maxSend = smaller(rate.maxSendingAmount, maxAmount);
  if (send < rate.minSendingAmount || send > maxSend) {
    const bounds = `${formatDecimal(rate.minSendingAmount, sending.decimals)} to ${formatMajor(maxSend, sending)}`;
    return outOfRange(`${pair} the sending amount must be ${bounds}, not ${formatMajor(send, sending)}`);
  }
  if (receive < 1n || receive > maxAmount) {
    const bounds = `${formatDecimal(1n, receiving.decimals)} to ${formatMajor(maxAmount, receiving)}`;
    return outOfRange(`${pair} the receiving amount must be ${bounds}, not ${formatMajor(receive, receiving)}`);
  }
  return undefined;
}

function outOfRange(reason: string): PricingRefusal {
  return { code: 'AMOUNT_OUT_OF_RANGE', reason };
}

const everything = whole(1n);

/** Reads a request's terms. @throws RangeError when the terms themselves are invalid */
export function readTerms(request: PricingRequest): Terms {
  const { sending, receiving, rate: railTerms, platformFee } = request;
  const faults = {
    rate: rateFault(railTerms.rate),
    bridge: rateFault(railTerms.bridge),
    'service variable fee rate': variableFeeRateFault(railTerms.serviceVariableFeeRate),
    'platform variable fee rate': variableFeeRateFault(platformFee.variableFeeRate),
    'service fixed fee': fixedFeeFault(railTerms.serviceFixedFee),
    'counterparty fixed fee': fixedFeeFault(railTerms.counterpartyFixedFee),
    'platform fixed fee': fixedFeeFault(platformFee.fixedFee),
  };
  for (const [name, fault] of Object.entries(faults)) if (fault !== undefined) throw new RangeError(`${name} ${fault}`);

  const rate = parseDecimal(railTerms.rate);
  const unitsBought = tenTo(receiving.decimals - sending.decimals).over(rate);
  const serviceRate = parseDecimal(railTerms.serviceVariableFeeRate);
  const platformRate = parseDecimal(platformFee.variableFeeRate);
  const counterpartyFee = halfUp(whole(railTerms.counterpartyFixedFee).over(unitsBought));
  return {
    request,
    rate,
    unitsBought,
    serviceRate,
    platformRate,
    shareAfterFee: everything.minus(serviceRate.plus(platformRate)),
    fixedFees: railTerms.serviceFixedFee + platformFee.fixedFee + counterpartyFee.amount,
    steps: railTerms.counterpartyFixedFee === 0n ? [] : [counterpartyFeeStep(request, counterpartyFee)],
  };
}

function halfUp(exact: Fraction): Rounded {
  return { exact, amount: exact.roundHalfUp() };
}

/** Computes the amount that arrives when `send` is sent. Only the result is rounded, half up. */
export function convertToReceiving({ fixedFees, shareAfterFee, unitsBought }: Terms, send: bigint): Rounded {
  return halfUp(
    whole(send - fixedFees)
      .times(shareAfterFee)
      .times(unitsBought),
  );
}

/** Computes the amount to send for `receive` to arrive, rounded up so that the receiver never gets less. */
function convertToSending({ fixedFees, shareAfterFee, unitsBought }: Terms, receive: bigint): Rounded {
  const exact = whole(fixedFees).plus(whole(receive).over(unitsBought).over(shareAfterFee));
  return { exact, amount: exact.roundUp() };
}

function fixedFeeFault(amount: bigint): string | undefined {
  return amount < 0n ? `must not be negative, but is ${amount}` : undefined;
}

/** The minimum and maximum amounts that can arrive, in the receiving currency's smallest unit. */
interface ReceivingLimits {
  readonly min: bigint;
  readonly max: bigint;
}

/**
 * Returns the range of amounts that a conversion can deliver within the limits on its sending side (see priceQuote), or
 * undefined if nothing can be received.
 * @throws RangeError as priceQuote does
 */
export function receivingLimits(request: Pick<PricingRequest, 'sending' | 'receiving' | 'rate' | 'platformFee'>) {
  const terms = readTerms({ ...request, lockedSide: 'RECEIVING', lockedAmount: 1n });
  const { fixedFees, shareAfterFee } = terms;
  if (!nothing.isLessThan(shareAfterFee)) return undefined;
  const { minSendingAmount, maxSendingAmount } = request.rate;
  /** Returns the unrounded receiving amount for an amount to send. (A quote computes the reverse, rounded up.) */
  const worth = (send: bigint) => convertToReceiving(terms, send).exact;
  // Costs are rounded up, so any exact cost above `least` is rounded to at least the minimum.
  const least = minSendingAmount - 1n;
  const min = least < fixedFees ? 1n : worth(least).roundDown() + 1n;
  const most = smaller(maxSendingAmount, maxAmount);
  if (most <= fixedFees) return undefined;
  const max = smaller(worth(most).roundDown(), maxAmount);
  return min <= max ? { min, max } : undefined;
}

/** Returns the intersection of the given limits, or undefined if it is empty. */
export function narrowest(all: readonly ReceivingLimits[]): ReceivingLimits | undefined {
  const [first, ...others] = all;
  if (!first) return undefined;
  const range = others.reduce((a, b) => ({ min: larger(a.min, b.min), max: smaller(a.max, b.max) }), first);
  return range.min <= range.max ? range : undefined;
}
