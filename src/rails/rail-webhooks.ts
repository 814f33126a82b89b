/** The methods of a rail for its provider's webhooks. A rail has either both or neither. */
export interface RailWebhooks {
  /**
   * Checks that a webhook comes from the provider, and returns its id. Undefined if it does not: then it is refused
   * with 401, and nothing is stored. An exception means that this is unknown: then it is refused with 503, and the
   * provider sends it again. The method has no effects: an accepted webhook is stored and answered, and then passed to
   * `readWebhook`.
   */
  receiveWebhook?(webhook: RailWebhook): Promise<ReceivedWebhook | undefined>;

  /**
   * Returns the meaning of a stored webhook. Called at least once for each, in any order, even after a crash. An
   * exception means that the meaning is unknown, and the method is called again later.
   */
  readWebhook?(body: Uint8Array): Promise<readonly RailNews[]>;
}

/** A webhook as it arrived, unverified. */
export interface RailWebhook {
  /** The header fields, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

/** A webhook verified to come from the provider. */
export interface ReceivedWebhook {
  /** The id that the provider gave the webhook, the same for every attempt, so that it is processed once. */
  readonly id: string;
  /** The status of the response: 200 by default, 202 for a request that is decided later. */
  readonly status?: 200 | 202 | undefined;
}

/** The content of a webhook. It is a hint rather than an outcome: the gateway then queries the provider. */
export type RailNews = OrderNews | DepositNews | IdentityNews;

/** One of the gateway's orders has changed: the rail is queried for it at once. */
export interface OrderNews {
  readonly kind: 'order';
  readonly orderId: string;
  /**
   * Whether its money may have come back. Otherwise a settled order is not queried early, since a late message that it
   * has settled is not news.
   */
  readonly mayHaveReturned: boolean;
}

/** A deposit has arrived or is on its way: deposits are listed at once. */
export interface DepositNews {
  readonly kind: 'deposit';
}

/** A customer's identity check has changed: it is repeated at once. */
export interface IdentityNews {
  readonly kind: 'identity';
  /** The customer's uuid in the gateway. */
  readonly customerId: string;
}
