import { maxAmount } from '../../core/checks.ts';
import { formatMajor } from '../../core/currencies.ts';
import {
  divide,
  multiply,
  parseDecimal,
  rateDigits,
  rateFault,
  roundHalfUp,
  subtract,
  tenTo,
  toDecimal,
  whole,
} from '../../core/fraction.ts';
import type { RateLock } from '../../rails/rail-parts.ts';
import { type Pricing, type PricingRefusal, type PricingRequest, rateDetails } from './pricing.ts';
import { type PricingStep, stepOf } from './pricing-steps.ts';

/**
 * The price of a quote whose rail has locked its rate (decision 83): the amounts that the rail takes and delivers, plus
 * the platform's share of the fees.
 *
 *     SENDING locked    the rail takes send − platform fee
 *     RECEIVING locked  send = amount taken by the rail + platform fee
 *
 * The platform's variable fee is charged on the amount sent minus all fixed fees, as in pricing.ts.
 */

/** Returns the amount to lock with the rail. `listed` is the price at the rail's indicative rates. */
export function amountToLock({ lockedSide, lockedAmount }: PricingRequest, listed: Pricing): bigint {
  return lockedSide === 'SENDING' ? lockedAmount - listed.platformFee : lockedAmount;
}

/** Checks that a rail's lock matches the request. @throws RangeError if it has not */
export function checkLock(request: PricingRequest, amount: bigint, lock: RateLock, validMs: number): void {
  const locked = request.lockedSide === 'SENDING' ? lock.sent : lock.received;
  if (locked !== amount) throw new RangeError(`the rail has locked ${locked}, not ${amount}`);
  if (lock.sent < 1n || lock.received < 1n) throw new RangeError('the rail has locked an amount of zero');
  if (lock.fees < 0n || lock.fees >= lock.sent) throw new RangeError(`the rail has locked fees of ${lock.fees}`);
  const fault = rateFault(lock.rate);
  if (fault !== undefined) throw new RangeError(`the locked rate ${fault}`);
  if (lock.reference === '') throw new RangeError('the lock has no reference');
  if (!(validMs > 0)) throw new RangeError(`the lock is valid for ${validMs} ms`);
}

/** Prices a request by the amounts that a rail has locked, with the platform's fee on top. */
export function priceByLock(request: PricingRequest, listed: Pricing, lock: RateLock): Pricing | PricingRefusal {
  const { sending, receiving } = request;
  const part = request.lockedSide === 'SENDING' ? { fee: listed.platformFee } : platformPart(request, lock);
  const send = lock.sent + part.fee;
  if (send > maxAmount || lock.received > maxAmount) {
    const [amount, currency] = send > maxAmount ? [send, sending] : [lock.received, receiving];
    const reason = `at most ${formatMajor(maxAmount, currency)} can be moved, not ${formatMajor(amount, currency)}`;
    return { code: 'AMOUNT_OUT_OF_RANGE', reason };
  }
  const listedFixedFee = request.rate.serviceFixedFee;
  const serviceFixedFee = lock.fees - (lock.fees > listedFixedFee ? lock.fees - listedFixedFee : 0n);
  const fixedFees = serviceFixedFee + request.platformFee.fixedFee;
  const feesIncluded = lock.fees + part.fee;
  const charged = send - fixedFees;
  const rate = {
    shareAfterFee: charged > 0n ? divide(whole(send - feesIncluded), whole(charged)) : whole(1n),
    unitsBought: divide(tenTo(receiving.decimals - sending.decimals), parseDecimal(lock.rate)),
  };
  const listedPart = listed.steps.filter(({ step }) => step === 'PLATFORM_VARIABLE_FEE');
  return {
    totalSendingAmount: send,
    totalReceivingAmount: lock.received,
    exchangeRate: toDecimal(parseDecimal(lock.rate), rateDigits),
    feesIncluded,
    fixedFees,
    platformFee: part.fee,
    rateDetails: rateDetails(request, rate, {
      counterpartyFixedFee: 0n,
      serviceApiFixedFee: serviceFixedFee,
      serviceApiVariableFeeAmount: lock.fees - serviceFixedFee,
    }),
    steps: [lockedStep(request, lock, send), ...(part.step ? [part.step] : listedPart)],
  };
}

/** Computes the platform's share of the fees, on top of the amount that the rail takes. */
function platformPart({ rate, platformFee, sending }: PricingRequest, { sent }: RateLock) {
  const variable = parseDecimal(platformFee.variableFeeRate);
  if (variable.numerator === 0n) return { fee: platformFee.fixedFee };
  const net = sent > rate.serviceFixedFee ? sent - rate.serviceFixedFee : 0n;
  const exact = divide(multiply(whole(net), variable), subtract(whole(1n), variable));
  const amount = roundHalfUp(exact);
  const formula = `${net} × ${platformFee.variableFeeRate} ÷ (1 − ${platformFee.variableFeeRate})`;
  const text = `${formula}, rounded half up to ${amount} (${formatMajor(amount, sending)})`;
  const step = stepOf('PLATFORM_VARIABLE_FEE', { exact, amount }, sending, 'HALF_UP', text);
  return { fee: platformFee.fixedFee + amount, step };
}

function lockedStep({ lockedSide, sending, receiving }: PricingRequest, lock: RateLock, send: bigint): PricingStep {
  const terms = `locked by the rail at ${lock.rate}, with fees of ${formatMajor(lock.fees, sending)}`;
  const named = (amount: bigint) => ({ exact: whole(amount), amount });
  const received = formatMajor(lock.received, receiving);
  if (lockedSide === 'SENDING') {
    const text = `${formatMajor(lock.sent, sending)} ${terms}: ${lock.received} (${received})`;
    return stepOf('TOTAL_RECEIVING_AMOUNT', named(lock.received), receiving, 'NONE', text);
  }
  const sum = `${lock.sent}, and ${send - lock.sent} for the platform: ${send} (${formatMajor(send, sending)})`;
  return stepOf('TOTAL_SENDING_AMOUNT', named(send), sending, 'NONE', `${received} ${terms}: ${sum}`);
}
