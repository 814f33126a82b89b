import { maxAmount } from '../../core/checks.ts';
import { formatMajor } from '../../core/currencies.ts';
import { parseDecimal, rateDigits, rateFault, tenTo, whole } from '../../core/fraction.ts';
import { invalid, Refusal } from '../../core/refusal.ts';
import { statement } from '../../infra/database/statement.ts';
import type { RateLock, UmaPayment } from '../../rails/rail-parts.ts';
import type { Caller } from '../access/caller.ts';
import { connectedRail } from '../commands/command.ts';
import { idAt, type Parties } from '../commands/parties.ts';
import { orderIdOfKey, orderIdOfQuote } from '../orders/order-ids.ts';
import { neededOf } from '../orders/orders.ts';
import { type Pricing, type PricingRefusal, rateDetails } from '../pricing/pricing.ts';
import { type PricingRequest, type PricingStep, stepOf } from '../pricing/pricing-steps.ts';
import { at, type CreateQuote, type Draft } from './quote-destination.ts';

export interface LockedPrice {
  readonly price: Pricing;
  readonly lock: RateLock;
  /** How long the lock is valid, in milliseconds from the creation of the quote. */
  readonly validMs: number;
}

/**
 * Locks a quote's rate with the rail, before the quote is stored. No money moves, so there is nothing to undo if the
 * quote is then refused: its lock expires unused.
 * @param listed the price at the rail's indicative rates
 * @returns undefined if no rate is locked: the rail does not lock rates, nothing is converted, or the money does not go
 *   from an internal account to an account that the rail knows
 * @throws Refusal AMOUNT_OUT_OF_RANGE, INVALID_BANK_ACCOUNT, INVALID_CURRENCY (the rail refuses), SERVICE_UNAVAILABLE
 */
export async function lockRate(
  draft: Draft,
  request: PricingRequest,
  listed: Pricing,
): Promise<LockedPrice | undefined> {
  const { payments, caller, parties, to } = draft;
  const rail = connectedRail(payments, caller);
  const { sending, receiving, lockedSide } = request;
  if (!rail?.lockRate || !isLockable(draft)) return undefined;
  const id = idAt(parties, 0);
  const { pool } = payments.database;
  const [{ id: orderId } = { id: draft.orderId }] = await freeStatement(pool, caller.platformId, draft.orderId);
  const amount = amountToLock(request, listed);
  const asked = { id, orderId, sending, receiving, lockedSide, amount, account: to.target.account, uma: umaOf(draft) };
  const locking = rail.lockRate(asked).then((given) => {
    if (given.kind === 'locked') checkLock(request, amount, given.lock, given.validMs);
    return given;
  });
  const answer = await neededOf(payments, locking);
  const path = at('lockedCurrencyAmount');
  const value = String(amount);
  if (answer.kind === 'refused') {
    const refusals = {
      AMOUNT: ['AMOUNT_OUT_OF_RANGE', { path, value }],
      ACCOUNT: ['INVALID_BANK_ACCOUNT', at('destination', 'accountId')],
      PAIR: ['INVALID_CURRENCY', to.path],
      RECEIVER: ['INVALID_UMA_ADDRESS', at('destination', 'umaAddress')],
      SENDER: ['INVALID_INPUT', at('senderCustomerInfo')],
    } as const;
    const [code, details] = refusals[answer.because];
    throw new Refusal(code, answer.explanation, details);
  }
  const price = priceByLock(request, listed, answer.lock);
  if ('code' in price) throw new Refusal(price.code, price.reason, { path, value });
  return { price, lock: answer.lock, validMs: answer.validMs };
}

/**
 * Returns whether the rail locks a quote's rate. It does so when an internal account pays a known account in another
 * currency, and for any payment to a UMA address that the rail has found.
 * @throws Refusal INVALID_INPUT for a UMA address paid from an external account: the lock would expire during the pull
 */
function isLockable({ parties, sending, to }: Draft): boolean {
  const isFromHere = parties.source?.kind === 'INTERNAL';
  if (to.elsewhere === undefined)
    return isFromHere && to.columns.destinationKind === 'ACCOUNT' && sending.code !== to.receiving.code;
  if (isFromHere) return true;
  throw invalid('this UMA address can only be paid from an internal account', at('source'));
}

function umaOf({ to, parties, sender }: Draft): UmaPayment | undefined {
  const { customer } = parties;
  if (to.elsewhere === undefined || !customer) return undefined;
  const { id: customerId, customerType, name } = customer;
  return { address: to.elsewhere, sender: { customerId, customerType, name, information: sender } };
}

/** Returns the id of the order that will execute a quote. The rail's lock refers to it. */
export function orderOfQuote(
  caller: Caller,
  { immediatelyExecute }: CreateQuote,
  parties: Parties,
  idempotencyKey: string | null | undefined,
): string {
  return immediatelyExecute
    ? orderIdOfKey(caller, { operation: 'createQuote', idempotencyKey }, idAt(parties, 2))
    : orderIdOfQuote({ platformId: caller.platformId, id: idAt(parties, 0) });
}

const freeStatement = statement<{ id: string }>('free_order_id', 'select free_order_id($1, $2) as id');

/**
 * When the rail has locked a quote's rate, the price consists of the amounts that the rail takes and delivers, plus the
 * platform's share of the fees.
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

/** Checks that a rail's lock matches the request. @throws RangeError if it does not */
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

/** Prices a request from the amounts that a rail has locked, with the platform's fee on top. */
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
    shareAfterFee: charged > 0n ? whole(send - feesIncluded).over(whole(charged)) : whole(1n),
    unitsBought: tenTo(receiving.decimals - sending.decimals).over(parseDecimal(lock.rate)),
  };
  const listedPart = listed.steps.filter(({ step }) => step === 'PLATFORM_VARIABLE_FEE');
  return {
    totalSendingAmount: send,
    totalReceivingAmount: lock.received,
    exchangeRate: parseDecimal(lock.rate).toDecimal(rateDigits),
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

/** Computes the platform's fees, which are added to the amount that the rail takes. */
function platformPart({ rate, platformFee, sending }: PricingRequest, { sent }: RateLock) {
  const variable = parseDecimal(platformFee.variableFeeRate);
  if (variable.numerator === 0n) return { fee: platformFee.fixedFee };
  const net = sent > rate.serviceFixedFee ? sent - rate.serviceFixedFee : 0n;
  const exact = whole(net).times(variable).over(whole(1n).minus(variable));
  const amount = exact.roundHalfUp();
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
