import { maxAmount } from '../../core/checks.ts';
import { isLess, larger, multiply, roundDown, smaller, whole } from '../../core/fraction.ts';
import { type PricingRequest, readTerms } from './pricing-terms.ts';

/** The minimum and maximum amounts that can arrive, in smallest units of the receiving currency. */
export interface ReceivingLimits {
  readonly min: bigint;
  readonly max: bigint;
}

/**
 * Returns the range of receiving amounts of a conversion: a quote that locks such an amount stays within the limits of
 * its sending side (priceQuote). Undefined if nothing can be received.
 * @throws RangeError as priceQuote does
 */
export function receivingLimits(request: Pick<PricingRequest, 'sending' | 'receiving' | 'rate' | 'platformFee'>) {
  const terms = readTerms({ ...request, lockedSide: 'RECEIVING', lockedAmount: 1n });
  const { fixedFees, shareAfterFee, unitsBought } = terms;
  if (!isLess(whole(0n), shareAfterFee)) return undefined;
  const { minSendingAmount, maxSendingAmount } = request.rate;
  /** Returns the unrounded receiving amount for an amount to send. (A quote computes the reverse, rounded up.) */
  const worth = (send: bigint) => multiply(multiply(whole(send - fixedFees), shareAfterFee), unitsBought);
  // A receiving amount whose exact cost is less than one unit below the minimum costs the minimum, since costs are
  // rounded up.
  const least = minSendingAmount - 1n;
  const min = least < fixedFees ? 1n : roundDown(worth(least)) + 1n;
  const most = smaller(maxSendingAmount, maxAmount);
  if (most <= fixedFees) return undefined;
  const max = smaller(roundDown(worth(most)), maxAmount);
  return min <= max ? { min, max } : undefined;
}

/** Returns the intersection of these limits, or undefined if it is empty. */
export function narrowest(all: readonly ReceivingLimits[]): ReceivingLimits | undefined {
  const [first, ...others] = all;
  if (!first) return undefined;
  const range = others.reduce((a, b) => ({ min: larger(a.min, b.min), max: smaller(a.max, b.max) }), first);
  return range.min <= range.max ? range : undefined;
}
