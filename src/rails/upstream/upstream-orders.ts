import type { RailOrder, RailOutcome } from '../rail.ts';
import type { RailAccount, RateLock } from '../rail-parts.ts';
import { externalId, hasBegun, internalId, memoOf, type Upstream } from './upstream-accounts.ts';
import * as api from './upstream-client.ts';

// Sends a platform's orders to its upstream service and queries them there, without keeping any state.

/** The maximum age at which an order is still sent. Idempotency keys are forgotten upstream after thirty days. */
const maxSendAgeMs = 25 * 86_400_000;

/** The maximum difference between the gateway's clock and the upstream service's: one hour. */
const clocksDifferMs = 3_600_000;

/** The immediate response to a payment, which may omit the amount sent. */
type Sent = Pick<api.TransactionRecord, 'id' | 'sentAmount'>;

const noUma: RailOutcome = { kind: 'failed', explanation: 'the upstream rail does not pay to UMA addresses' };

/** Pays from the platform's internal upstream account. If the money stays in the gateway, nothing moves upstream. */
export async function payOut(upstream: Upstream, order: RailOrder): Promise<RailOutcome> {
  const { account, lock, umaAddress } = order;
  if (lock && umaAddress !== undefined) return payUma(upstream, order, lock);
  if (lock) return perform(upstream, order, () => execute(upstream, order, lock));
  if (!account) return umaAddress === undefined ? { kind: 'settled' } : noUma;
  return perform(upstream, order, () => transfer(upstream, order, account));
}

/** Pays from the customer's upstream account, which is funded first. Unused money is moved back. */
async function payUma(upstream: Upstream, order: RailOrder, lock: RateLock): Promise<RailOutcome> {
  let isFunded = order.settled;
  const fund = async () => {
    await moveForUma(upstream, order, lock, 'funding of');
    isFunded = true;
  };
  const outcome = await perform(upstream, order, () => execute(upstream, order, lock, fund));
  const hasFailed = outcome.kind === 'failed' && outcome.moneyStuck !== true;
  const isBack = hasFailed || outcome.kind === 'rejected' || outcome.kind === 'returned';
  if (isFunded && isBack) await moveForUma(upstream, order, lock, 'unused of');
  return outcome;
}

/** Moves the locked amount, at most once, between the platform's own account and the account that pays the quote. */
async function moveForUma(
  upstream: Upstream,
  { id }: RailOrder,
  { reference, sent: amount }: RateLock,
  what: 'funding of' | 'unused of',
): Promise<void> {
  const path = `/quotes/${encodeURIComponent(reference)}`;
  const { source, sendingCurrency } = await upstream.client.get(path, api.paidFromQuote);
  const own = await internalId(upstream, sendingCurrency.code);
  const [from, to] = what === 'funding of' ? [own, source.accountId] : [source.accountId, own];
  const memo = memoOf(what, id);
  await upstream.client.transfer('internal', { from, to, amount, memo, key: memo.replaceAll(' ', '-') });
}

/** Pulls the money into the platform's internal account at the upstream service. */
export async function collect(upstream: Upstream, order: RailOrder): Promise<RailOutcome> {
  const { account } = order;
  return account ? perform(upstream, order, () => transfer(upstream, order, account)) : noUma;
}

export async function giveBack(upstream: Upstream, order: RailOrder): Promise<void> {
  if (!order.account) throw new Error('only money that was pulled from an account can be returned');
  await transfer(upstream, order, order.account, true);
}

/** Moves an order's money to or from an external account. With `isReturn`, returns a collection. */
async function transfer(upstream: Upstream, order: RailOrder, account: RailAccount, isReturn = false) {
  const { id, kind, amount, currency } = order;
  const own = await internalId(upstream, currency);
  const outside = await externalId(upstream, account, currency);
  const isIn = kind === 'COLLECTION' && !isReturn;
  const [from, to] = isIn ? [outside, own] : [own, outside];
  const [memo, key] = isReturn ? [memoOf('return of', id), `${id}-return`] : [memoOf('order', id), id];
  return upstream.client.transfer(isIn ? 'in' : 'out', { from, to, amount, memo, key });
}

/** Finds an order among the upstream payments by its memo, without sending it. Returns undefined if there is none. */
export async function findOrder(upstream: Upstream, order: RailOrder): Promise<RailOutcome | undefined> {
  if (!order.account && !order.lock) return order.umaAddress === undefined ? { kind: 'settled' } : noUma;
  const found = await findTransaction(upstream, order);
  return found && outcomeOfOrder(upstream, order, found);
}

async function findTransaction(upstream: Upstream, order: RailOrder): Promise<api.TransactionRecord | undefined> {
  const query = {
    type: order.kind === 'PAYOUT' ? 'OUTGOING' : 'INCOMING',
    ...(await counterpartyOf(upstream, order)),
    // The clocks of the two services may differ.
    startDate: new Date(Date.now() - order.ageMs - clocksDifferMs).toISOString(),
    // The payment for an old order is near the start of the list, and the payment for a new order near its end.
    sortOrder: order.ageMs > clocksDifferMs ? 'asc' : 'desc',
    limit: '100',
  };
  for (let cursor: string | undefined; ; ) {
    const { data, nextCursor } = await upstream.client.get('/transactions', api.transactionPage, { ...query, cursor });
    const found = data.find((one) => one.description === memoOf('order', order.id) && hasBegun(one));
    if (found || nextCursor === undefined) return found;
    cursor = nextCursor;
  }
}

/** Returns a filter for payments with an order's counterparty. For a conversion, that is the platform's own account. */
async function counterpartyOf(upstream: Upstream, { kind, account, umaAddress, currency }: RailOrder) {
  if (!account) return { receiverAccountIdentifier: umaAddress ?? (await internalId(upstream, currency)) };
  // If the account no longer exists upstream, search for the order among all payments.
  const id = await api.unlessRefused(externalId(upstream, account, currency), undefined);
  return kind === 'PAYOUT' ? { receiverAccountIdentifier: id } : { senderAccountIdentifier: id };
}

async function perform(upstream: Upstream, order: RailOrder, send: () => Promise<Sent>): Promise<RailOutcome> {
  if (order.settled) return lookAgain(upstream, order);
  if (order.ageMs > maxSendAgeMs)
    throw new Error('the order is too old to be sent again with its idempotency key: an operator must decide');
  try {
    // A repeated key returns the original response, so the current state is read separately.
    const { id, sentAmount } = await send();
    const transaction = await upstream.client.get(`/transactions/${encodeURIComponent(id)}`, api.transactionRecord);
    return await outcomeOfOrder(upstream, order, { sentAmount, ...transaction });
  } catch (error) {
    if (!(error instanceof api.UpstreamRefusal)) throw error;
    // The refusal is final: it is stored under this key, so the key will never create a payment.
    const explanation = `refused by the upstream service: ${error.message} (${error.code})`;
    return { kind: 'failed', explanation, ...(error.code === 'QUOTE_EXPIRED' && { failureReason: 'QUOTE_EXPIRED' }) };
  }
}

/** Reads a settled order without sending it again: an upstream service restored from a backup might pay twice. */
async function lookAgain(upstream: Upstream, order: RailOrder): Promise<RailOutcome> {
  const found = await findTransaction(upstream, order);
  if (found) return outcomeOfOrder(upstream, order, found);
  return { kind: 'contradiction', explanation: 'the upstream service no longer has this payment' };
}

async function execute(upstream: Upstream, order: RailOrder, { reference }: RateLock, prepare?: () => Promise<void>) {
  try {
    await prepare?.();
    const path = `/quotes/${encodeURIComponent(reference)}/execute`;
    const quote = await upstream.client.post(path, api.quoteRecord, { key: order.id });
    const { transactionId, totalSendingAmount, sendingCurrency } = quote;
    return { id: transactionId, sentAmount: { amount: totalSendingAmount, currency: sendingCurrency } };
  } catch (error) {
    const isUnknown = error instanceof api.UpstreamRefusal && error.code === 'QUOTE_NOT_FOUND';
    if (!isUnknown && !(error instanceof api.UpstreamFault && executedBefore.has(error.code))) throw error;
    // The order may have been executed with another quote before this gateway's database was restored from a backup.
    const found = await findTransaction(upstream, order);
    if (found) return found;
    // The quote was lost in an upstream restore. It may already have been executed, so this is not a refusal.
    if (isUnknown)
      throw new Error('the upstream service no longer has the quote that it locked: an operator must decide');
    throw error;
  }
}

/** The codes of two refusals: the key was used to execute a different quote, or the quote has already been executed. */
const executedBefore: ReadonlySet<string> = new Set(['IDEMPOTENCY_MISMATCH', 'CONFLICT']);

async function outcomeOfOrder(
  upstream: Upstream,
  order: RailOrder,
  transaction: api.TransactionRecord,
): Promise<RailOutcome> {
  const outcome = outcomeOf(upstream, order, transaction);
  if (order.kind === 'COLLECTION' && outcome.kind === 'settled' && (await wasGivenBack(upstream, order)))
    return { kind: 'failed', explanation: 'the money was returned to its source' };
  return outcome;
}

function outcomeOf(
  { settings: { pollMs, watchMs } }: Upstream,
  { settled, lock, kind }: RailOrder,
  { status, receivedAmount, sentAmount, failureReason, refund }: api.TransactionRecord,
): RailOutcome {
  const explanation = `${status} at the upstream service${failureReason === undefined ? '' : `: ${failureReason}`}`;
  switch (status) {
    case 'CREATED':
    case 'PENDING':
    case 'PROCESSING':
      return { kind: 'pending', checkInMs: pollMs };
    case 'COMPLETED': {
      // Nothing was sent for a collection, because it takes no money from the upstream account.
      const sent = (lock || kind === 'PAYOUT') && sentAmount && { sent: BigInt(sentAmount.amount) };
      return { kind: 'settled', watchMs, amount: BigInt(receivedAmount.amount), ...sent };
    }
    case 'REJECTED':
      return settled ? { kind: 'contradiction', explanation } : { kind: 'rejected', explanation };
    case 'REFUNDED':
      // If this gateway never saw the payment settle, report it as failed.
      return settled ? { kind: 'returned', explanation } : { kind: 'failed', explanation };
    case 'FAILED':
    case 'EXPIRED':
      if (settled) return { kind: 'contradiction', explanation };
      // The money is stuck if it was neither delivered nor returned.
      return { kind: 'failed', explanation, moneyStuck: refund !== undefined && !refund.settledAt };
  }
}

/** Returns whether a collection has already been refunded, perhaps by a process that died right afterwards. */
async function wasGivenBack(upstream: Upstream, order: RailOrder): Promise<boolean> {
  if (order.settled || !order.account) return false;
  const receiverAccountIdentifier = await externalId(upstream, order.account, order.currency);
  const query = { type: 'OUTGOING', limit: '100', receiverAccountIdentifier };
  const { data } = await upstream.client.get('/transactions', api.transactionPage, query);
  return data.some(({ description }) => description === memoOf('return of', order.id));
}
