import { invalid, Refusal } from '../../core/refusal.ts';
import { statement } from '../../infra/database/statement.ts';
import type { RateLock, UmaPayment } from '../../rails/rail-parts.ts';
import type { Caller } from '../access/caller.ts';
import { connectedRail, type Payments } from '../commands/command.ts';
import type { Information } from '../commands/information.ts';
import { idAt, type Parties } from '../commands/parties.ts';
import { orderIdOfKey, orderIdOfQuote } from '../orders/order-ids.ts';
import { neededOf } from '../orders/orders.ts';
import { amountToLock, checkLock, priceByLock } from '../pricing/locked-pricing.ts';
import type { Pricing, PricingRequest } from '../pricing/pricing.ts';
import { at, type CreateQuote, type Destination } from './quote-destination.ts';

export interface LockedPrice {
  readonly price: Pricing;
  readonly lock: RateLock;
  /** How long the lock is valid, in milliseconds from the creation of the quote. */
  readonly validMs: number;
}

interface ToLock {
  readonly parties: Parties;
  readonly to: Destination;
  readonly sender: Information;
  readonly request: PricingRequest;
  /** The price at the rail's indicative rates. */
  readonly listed: Pricing;
  readonly orderId: string;
}

/**
 * Locks a quote's rate with the rail, before the quote is stored (decision 83). No money moves, so there is nothing to
 * undo if the quote is then refused. Its lock expires unused.
 * @returns undefined for a quote without a lock: the rail does not lock rates, nothing is converted, or the money does
 *   not go from an internal account to an account that the rail knows
 * @throws Refusal AMOUNT_OUT_OF_RANGE, INVALID_BANK_ACCOUNT, INVALID_CURRENCY (the rail refuses), SERVICE_UNAVAILABLE
 */
export async function lockRate(payments: Payments, caller: Caller, quote: ToLock): Promise<LockedPrice | undefined> {
  const { request, parties, to, listed } = quote;
  const rail = connectedRail(payments, caller);
  const { sending, receiving, lockedSide } = request;
  if (!rail?.lockRate || !isLockable(quote)) return undefined;
  const id = idAt(parties, 0);
  const orderId = await freeOrderId(payments, caller.platformId, quote.orderId);
  const amount = amountToLock(request, listed);
  const asked = { id, orderId, sending, receiving, lockedSide, amount, account: to.target.account, uma: umaOf(quote) };
  const answer = await neededOf(
    payments,
    rail.lockRate(asked).then((given) => {
      if (given.kind === 'locked') checkLock(request, amount, given.lock, given.validMs);
      return given;
    }),
  );
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
 * Returns whether the rail locks a quote's rate. It does so for a conversion of money that goes from an internal
 * account to a known account, and for any payment to a UMA address that the rail has found.
 * @throws Refusal INVALID_INPUT for a UMA address that would be paid from an external account: a pull outlasts a lock
 */
function isLockable({ request, parties, to }: ToLock): boolean {
  const isFromHere = parties.source?.kind === 'INTERNAL';
  if (to.elsewhere === undefined) {
    return isFromHere && to.columns.destinationKind === 'ACCOUNT' && request.sending.code !== request.receiving.code;
  }
  if (isFromHere) return true;
  throw invalid('this UMA address can only be paid from an internal account', at('source'));
}

function umaOf({ to, parties, sender }: ToLock): UmaPayment | undefined {
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

async function freeOrderId({ database }: Payments, platformId: string, id: string): Promise<string> {
  const [free] = await freeStatement(database.pool, platformId, id);
  if (!free) throw new Error('free_order_id returned no row');
  return free.id;
}
