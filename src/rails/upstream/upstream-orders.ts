import type { RailOrder, RailOutcome, UmaReceiver } from '../rail.ts';
import type { LockRequest, RailAccount, RateLock, UmaPayment } from '../rail-parts.ts';
import type { UpstreamAccounts } from './upstream-accounts.ts';
import {
  internalAccountList,
  paidFromQuote,
  quoteRecord,
  receiverRecord,
  type TransactionRecord,
  transactionPage,
  transactionRecord,
  type UpstreamClient,
  UpstreamFault,
  UpstreamRefusal,
  unlessRefused,
} from './upstream-client.ts';
import { customerThere } from './upstream-identity.ts';
import { hasBegun, memoOf } from './upstream-movements.ts';

/** The time settings of an upstream rail's orders, in milliseconds. */
export interface UpstreamTimes {
  /** The delay before an order in progress is queried again. */
  readonly pollMs: number;
  /** How long after settlement a payment may be returned; after that, it is queried once more. */
  readonly watchMs: number;
}

/** The maximum age at which an order is still sent, in ms. Upstream forgets idempotency keys after thirty days. */
const maxSendAgeMs = 25 * 86_400_000;

/** The maximum difference between upstream's clock and the gateway's, in milliseconds: an hour. */
const clocksDifferMs = 3_600_000;

/** Upstream's immediate response about a payment, which may omit the amount that it takes (specification 2.6). */
type Sent = Pick<TransactionRecord, 'id' | 'sentAmount'>;

/** Sends a platform's orders to its upstream service, and queries them. It keeps no state of its own. */
export class UpstreamOrders {
  readonly #client: UpstreamClient;
  readonly #accounts: UpstreamAccounts;
  readonly #uma: UpstreamUma;
  readonly #times: UpstreamTimes;

  constructor(client: UpstreamClient, accounts: UpstreamAccounts, uma: UpstreamUma, times: UpstreamTimes) {
    this.#client = client;
    this.#accounts = accounts;
    this.#uma = uma;
    this.#times = times;
  }

  /** Pays out of the platform's internal account upstream. Nothing moves upstream if the money stays here. */
  async payOut(order: RailOrder): Promise<RailOutcome> {
    const { account, lock } = order;
    if (lock && order.umaAddress !== undefined) return this.#payUma(order, lock);
    if (lock) return this.#perform(order, () => this.#execute(order, lock));
    if (!account) return order.umaAddress === undefined ? { kind: 'settled' } : noUma;
    return this.#perform(order, () => this.#transferOut(order, account, order.id, memoOf('order', order.id)));
  }

  /** Pays from the customer's upstream account, which is funded first. Unused money is moved back. */
  async #payUma(order: RailOrder, lock: RateLock): Promise<RailOutcome> {
    let isFunded = order.settled;
    const fund = async () => {
      await this.#uma.fund(order, lock);
      isFunded = true;
    };
    const outcome = await this.#perform(order, () => this.#execute(order, lock, fund));
    const hasFailed = outcome.kind === 'failed' && outcome.moneyStuck !== true;
    const isBack = hasFailed || outcome.kind === 'rejected' || outcome.kind === 'returned';
    if (isFunded && isBack) await this.#uma.takeBack(order, lock);
    return outcome;
  }

  /** Pulls the money into the platform's internal account at the upstream service. */
  async collect(order: RailOrder): Promise<RailOutcome> {
    const { account } = order;
    if (!account) return noUma;
    return this.#perform(order, async () => {
      const { currency, amount } = order;
      const from = await this.#accounts.externalId(account, currency);
      const to = await this.#accounts.internalId(currency);
      return this.#client.transfer('in', { from, to, amount, memo: memoOf('order', order.id), key: order.id });
    });
  }

  /** Finds an order among the payments upstream by its memo, without sending it; undefined if there is none. */
  async find(order: RailOrder): Promise<RailOutcome | undefined> {
    if (!order.account && !order.lock) return order.umaAddress === undefined ? { kind: 'settled' } : noUma;
    const found = await this.#findTransaction(order);
    return found && this.#outcomeOfOrder(order, found);
  }

  async #findTransaction(order: RailOrder): Promise<TransactionRecord | undefined> {
    const query = new URLSearchParams({
      type: order.kind === 'PAYOUT' ? 'OUTGOING' : 'INCOMING',
      ...(await this.#counterpartyOf(order)),
      // The two services' clocks may differ.
      startDate: new Date(Date.now() - order.ageMs - clocksDifferMs).toISOString(),
      // The payment for an old order is near the start of the list, and the payment for a new order near its end.
      sortOrder: order.ageMs > clocksDifferMs ? 'asc' : 'desc',
      limit: '100',
    });
    for (;;) {
      const { data, nextCursor } = await this.#client.get(`/transactions?${query}`, transactionPage);
      const found = data.find((one) => one.description === memoOf('order', order.id) && hasBegun(one));
      if (found) return found;
      if (nextCursor === undefined) return undefined;
      query.set('cursor', nextCursor);
    }
  }

  /** Returns the filter for the payments of an order's counterparty; for a conversion, the platform's own account. */
  async #counterpartyOf({ kind, account, umaAddress, currency }: RailOrder): Promise<Record<string, string>> {
    if (!account) return { receiverAccountIdentifier: umaAddress ?? (await this.#accounts.internalId(currency)) };
    const id = await unlessRefused(this.#accounts.externalId(account, currency), undefined);
    // Upstream no longer has the account, so search for the order among all payments.
    if (id === undefined) return {};
    return kind === 'PAYOUT' ? { receiverAccountIdentifier: id } : { senderAccountIdentifier: id };
  }

  async giveBack(order: RailOrder): Promise<void> {
    if (!order.account) throw new Error('only money that was pulled from an account can be returned');
    await this.#transferOut(order, order.account, `${order.id}-return`, memoOf('return of', order.id));
  }

  async #perform(order: RailOrder, send: () => Promise<Sent>): Promise<RailOutcome> {
    if (order.settled) return this.#lookAgain(order);
    if (order.ageMs > maxSendAgeMs)
      throw new Error('the order is too old to be sent again with its idempotency key: an operator must decide');
    try {
      // A repeated key returns the first response, so the current state is read separately.
      const { id, sentAmount } = await send();
      const transaction = await this.#client.get(`/transactions/${encodeURIComponent(id)}`, transactionRecord);
      return await this.#outcomeOfOrder(order, { sentAmount, ...transaction });
    } catch (error) {
      if (!(error instanceof UpstreamRefusal)) throw error;
      // Nothing was created under this key, and nothing ever will be, because the refusal is stored under it.
      const explanation = `refused by the upstream service: ${error.message} (${error.code})`;
      return { kind: 'failed', explanation, ...(error.code === 'QUOTE_EXPIRED' && { failureReason: 'QUOTE_EXPIRED' }) };
    }
  }

  /** Reads a settled order without sending it, because an upstream restored from a backup might pay it again. */
  async #lookAgain(order: RailOrder): Promise<RailOutcome> {
    const found = await this.#findTransaction(order);
    if (found) return this.#outcomeOfOrder(order, found);
    return { kind: 'contradiction', explanation: 'the upstream service no longer has this payment' };
  }

  async #execute(order: RailOrder, { reference }: RateLock, prepare?: () => Promise<void>): Promise<Sent> {
    try {
      await prepare?.();
      const path = `/quotes/${encodeURIComponent(reference)}/execute`;
      const quote = await this.#client.post(path, quoteRecord, { key: order.id });
      const { transactionId, totalSendingAmount, sendingCurrency } = quote;
      return { id: transactionId, sentAmount: { amount: totalSendingAmount, currency: sendingCurrency } };
    } catch (error) {
      const isUnknown = error instanceof UpstreamRefusal && error.code === 'QUOTE_NOT_FOUND';
      if (!isUnknown && !(error instanceof UpstreamFault && executedBefore.has(error.code))) throw error;
      // The order was already executed with another quote, before this gateway's database was restored from a backup.
      const found = await this.#findTransaction(order);
      if (found) return found;
      // Upstream was restored from a backup. It may already have paid, so this is not a refusal.
      if (isUnknown)
        throw new Error('the upstream service no longer knows the quote that it has locked: an operator must decide');
      throw error;
    }
  }

  async #outcomeOfOrder(order: RailOrder, transaction: TransactionRecord): Promise<RailOutcome> {
    const outcome = this.#outcomeOf(transaction, order);
    if (order.kind === 'COLLECTION' && outcome.kind === 'settled' && (await this.#wasGivenBack(order)))
      return { kind: 'failed', explanation: 'the money was returned to its source' };
    return outcome;
  }

  #outcomeOf(
    { status, receivedAmount, sentAmount, failureReason, refund }: TransactionRecord,
    { settled, lock, kind }: RailOrder,
  ): RailOutcome {
    const explanation = `${status} at the upstream service${failureReason === undefined ? '' : `: ${failureReason}`}`;
    switch (status) {
      case 'CREATED':
      case 'PENDING':
      case 'PROCESSING':
        return { kind: 'pending', checkInMs: this.#times.pollMs };
      case 'COMPLETED':
        return {
          kind: 'settled',
          watchMs: this.#times.watchMs,
          amount: BigInt(receivedAmount.amount),
          ...sentOf(kind, lock, sentAmount),
        };
      case 'REJECTED':
        return settled ? { kind: 'contradiction', explanation } : { kind: 'rejected', explanation };
      case 'REFUNDED':
        // If this gateway never saw the payment settle, it simply counts as failed.
        return settled ? { kind: 'returned', explanation } : { kind: 'failed', explanation };
      case 'FAILED':
      case 'EXPIRED':
        if (settled) return { kind: 'contradiction', explanation };
        // The money is stuck if upstream has neither delivered nor returned it.
        return { kind: 'failed', explanation, moneyStuck: refund !== undefined && !refund.settledAt };
    }
  }

  async #transferOut({ currency, amount }: RailOrder, account: RailAccount, key: string, memo: string) {
    const from = await this.#accounts.internalId(currency);
    const to = await this.#accounts.externalId(account, currency);
    return this.#client.transfer('out', { from, to, amount, memo, key });
  }

  /** Returns whether a collection was refunded, because the process that refunded it may have died right afterwards. */
  async #wasGivenBack(order: RailOrder): Promise<boolean> {
    if (order.settled || !order.account) return false;
    const account = await this.#accounts.externalId(order.account, order.currency);
    const path = `/transactions?type=OUTGOING&limit=100&receiverAccountIdentifier=${encodeURIComponent(account)}`;
    const { data } = await this.#client.get(path, transactionPage);
    return data.some(({ description }) => description === memoOf('return of', order.id));
  }
}

/** The codes for a key that was used to execute a different quote, and for a quote that has already been executed. */
const executedBefore: ReadonlySet<string> = new Set(['IDEMPOTENCY_MISMATCH', 'CONFLICT']);

/** Returns the amount that a payout took from the upstream account, if reported. A collection takes nothing there. */
function sentOf(kind: RailOrder['kind'], lock: RateLock | undefined, sentAmount: TransactionRecord['sentAmount']) {
  return (lock || kind === 'PAYOUT') && sentAmount && { sent: BigInt(sentAmount.amount) };
}

const noUma: RailOutcome = { kind: 'failed', explanation: 'the upstream rail does not pay to UMA addresses' };

/** Payments to UMA addresses (decision 92), each from the upstream account of the paying customer's counterpart. */
export class UpstreamUma {
  readonly #client: UpstreamClient;
  readonly #accounts: UpstreamAccounts;

  constructor(client: UpstreamClient, accounts: UpstreamAccounts) {
    this.#client = client;
    this.#accounts = accounts;
  }

  async lookUp(umaAddress: string): Promise<UmaReceiver | undefined> {
    const found = await unlessRefused(this.#receiver(umaAddress), undefined);
    if (!found) return undefined;
    return {
      vaspName: found.receiver.vaspName ?? umaAddress.replace(/^.*@/, ''),
      currencies: found.supportedCurrencies.map(({ code, min, max }) => {
        return { code, minAmount: BigInt(min), maxAmount: BigInt(max) };
      }),
      requiredFields: found.requiredPayerFields.map((name) => ({ name, mandatory: true })),
      information: {},
    };
  }

  /** Returns the parties to an upstream quote: the sender's counterpart, and the receiver, which is looked up again. */
  async parties({ address, sender }: UmaPayment, { sending, receiving }: Pick<LockRequest, 'sending' | 'receiving'>) {
    const { id: customerId } = await customerThere(this.#client, sender);
    const query = new URLSearchParams({ customerId, currency: sending.code });
    const [account] = (await this.#client.get(`/customers/internal-accounts?${query}`, internalAccountList)).data;
    if (!account) throw new UpstreamRefusal('INVALID_CURRENCY', `the customer has no ${sending.code} account upstream`);
    const lookup = await this.#receiver(address, customerId);
    return {
      source: { sourceType: 'ACCOUNT', accountId: account.id },
      destination: { destinationType: 'UMA_ADDRESS', umaAddress: address, currency: receiving.code },
      lookupId: lookup.id,
      senderCustomerInfo: sender.information,
    };
  }

  /** Moves the amount of an order, once, to the account from which its upstream quote is paid. */
  async fund(order: RailOrder, lock: RateLock): Promise<void> {
    const { own, customers } = await this.#accountsOf(lock);
    await this.#move(own, customers, lock.sent, memoOf('funding of', order.id));
  }

  /** Moves the unused money of an order back, once, after its upstream payment has ended. */
  async takeBack(order: RailOrder, lock: RateLock): Promise<void> {
    const { own, customers } = await this.#accountsOf(lock);
    await this.#move(customers, own, lock.sent, memoOf('unused of', order.id));
  }

  async #accountsOf({ reference }: RateLock) {
    const path = `/quotes/${encodeURIComponent(reference)}`;
    const { source, sendingCurrency } = await this.#client.get(path, paidFromQuote);
    return { own: await this.#accounts.internalId(sendingCurrency.code), customers: source.accountId };
  }

  #receiver(umaAddress: string, customerId?: string) {
    const query = customerId === undefined ? '' : `?customerId=${encodeURIComponent(customerId)}`;
    return this.#client.get(`/receiver/${encodeURIComponent(umaAddress)}${query}`, receiverRecord);
  }

  /** Moves money between two accounts upstream. The memo also serves as the idempotency key. */
  async #move(from: string, to: string, amount: bigint, memo: string): Promise<void> {
    await this.#client.transfer('internal', { from, to, amount, memo, key: memo.replaceAll(' ', '-') });
  }
}
