import type { Currency } from '../../core/currencies.ts';
import {
  add,
  divide,
  type Fraction,
  multiply,
  parseDecimal,
  rateFault,
  roundHalfUp,
  roundUp,
  subtract,
  tenTo,
  variableFeeRateFault,
  whole,
} from '../../core/fraction.ts';
import type { RateTerms } from '../../rails/rail.ts';
import type { PlatformFeeTerms } from '../commands/parties.ts';
import { counterpartyFeeStep, type PricingStep, type Rounded } from './pricing-steps.ts';

/** The terms of a conversion as exact numbers, and the conversions, each of which rounds once (pricing.ts). */

export interface PricingRequest {
  readonly sending: Currency;
  readonly receiving: Currency;
  readonly lockedSide: 'SENDING' | 'RECEIVING';
  /** Smallest units of the locked side's currency. */
  readonly lockedAmount: bigint;
  /** The terms of the rail; its rate is used unchanged. */
  readonly rate: RateTerms;
  readonly platformFee: PlatformFeeTerms;
}

const everything = whole(1n);

export interface Terms {
  readonly request: PricingRequest;
  readonly rate: Fraction;
  /** k: receiving smallest units per sending smallest unit. */
  readonly unitsBought: Fraction;
  readonly serviceRate: Fraction;
  readonly platformRate: Fraction;
  /** 1 − v: the share that remains after the variable fees. */
  readonly shareAfterFee: Fraction;
  /** F, in smallest units of the sending currency. */
  readonly fixedFees: bigint;
  readonly steps: readonly PricingStep[];
}

/** Reads the terms of a request. @throws RangeError when the terms themselves are invalid */
export function readTerms(request: PricingRequest): Terms {
  const { sending, receiving, rate: railTerms, platformFee } = request;
  assertSound('rate', rateFault(railTerms.rate));
  assertSound('bridge', rateFault(railTerms.bridge));
  assertSound('service variable fee rate', variableFeeRateFault(railTerms.serviceVariableFeeRate));
  assertSound('platform variable fee rate', variableFeeRateFault(platformFee.variableFeeRate));
  assertNotNegative('service fixed fee', railTerms.serviceFixedFee);
  assertNotNegative('counterparty fixed fee', railTerms.counterpartyFixedFee);
  assertNotNegative('platform fixed fee', platformFee.fixedFee);

  const rate = parseDecimal(railTerms.rate);
  const unitsBought = divide(tenTo(receiving.decimals - sending.decimals), rate);
  const serviceRate = parseDecimal(railTerms.serviceVariableFeeRate);
  const platformRate = parseDecimal(platformFee.variableFeeRate);
  const counterpartyFee = convertCounterpartyFee(railTerms.counterpartyFixedFee, unitsBought);
  return {
    request,
    rate,
    unitsBought,
    serviceRate,
    platformRate,
    shareAfterFee: subtract(everything, add(serviceRate, platformRate)),
    fixedFees: railTerms.serviceFixedFee + platformFee.fixedFee + counterpartyFee.amount,
    steps: railTerms.counterpartyFixedFee === 0n ? [] : [counterpartyFeeStep(request, counterpartyFee)],
  };
}

function convertCounterpartyFee(fee: bigint, unitsBought: Fraction): Rounded {
  const exact = divide(whole(fee), unitsBought);
  return { exact, amount: roundHalfUp(exact) };
}

/** Computes the amount that arrives when `send` is sent, rounded half up from the unrounded net amount. */
export function convertToReceiving({ fixedFees, shareAfterFee, unitsBought }: Terms, send: bigint): Rounded {
  const exact = multiply(multiply(whole(send - fixedFees), shareAfterFee), unitsBought);
  return { exact, amount: roundHalfUp(exact) };
}

/** Computes the amount to send for `receive` to arrive, rounded up so that the receiver never gets less. */
export function convertToSending({ fixedFees, shareAfterFee, unitsBought }: Terms, receive: bigint): Rounded {
  const exact = add(whole(fixedFees), divide(divide(whole(receive), unitsBought), shareAfterFee));
  return { exact, amount: roundUp(exact) };
}

/** Returns a fee that is a fraction of an amount in minor units, rounded half up. */
export function variableFee(charged: bigint, rate: Fraction): Rounded {
  const exact = multiply(whole(charged), rate);
  return { exact, amount: roundHalfUp(exact) };
}

function assertSound(name: string, fault: string | undefined): void {
  if (fault !== undefined) throw new RangeError(`${name} ${fault}`);
}

function assertNotNegative(name: string, amount: bigint): void {
  if (amount < 0n) throw new RangeError(`${name} must not be negative, but is ${amount}`);
}
