import type { RailOrder, UmaReceiver } from '../rail.ts';
import type { LockRequest, RateLock, UmaPayment } from '../rate-lock.ts';
import type { UpstreamAccounts } from './upstream-accounts.ts';
import { type UpstreamClient, UpstreamRefusal, unlessRefused } from './upstream-client.ts';
import { customerThere } from './upstream-identity.ts';
import { fundingMemo, unusedMemo } from './upstream-movements.ts';
import { internalAccountList, paidFromQuote, receiverRecord } from './upstream-records.ts';

/** Payments to UMA addresses through upstream (decision 92), each from the account of its customer's counterpart. */
export class UpstreamUma {
  readonly #client: UpstreamClient;
  readonly #accounts: UpstreamAccounts;

  constructor(client: UpstreamClient, accounts: UpstreamAccounts) {
    this.#client = client;
    this.#accounts = accounts;
  }

  /** Looks up a receiver upstream. Undefined if the address has none. */
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

  /**
   * Returns the parties of an upstream quote to a UMA address: the sender's counterpart, and the receiver, which is
   * looked up again.
   */
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
    await this.#move(own, customers, lock.sent, fundingMemo(order.id));
  }

  /** Moves back, once, the unused money of an order whose upstream payment has ended. */
  async takeBack(order: RailOrder, lock: RateLock): Promise<void> {
    const { own, customers } = await this.#accountsOf(lock);
    await this.#move(customers, own, lock.sent, unusedMemo(order.id));
  }

  /** Returns the account that pays an upstream quote, and the platform's own account in the same currency. */
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
