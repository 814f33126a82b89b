/** The methods of a rail for the webhooks of its provider. A rail has both of them, or neither. */
export interface RailWebhooks {
  /**
   * Checks that a webhook comes from the provider, and returns its id. Undefined if it does not: it is refused with
   * 401, and nothing is stored. An exception means that this is unknown: it is refused with 503, and the provider sends
   * it again. It changes nothing: an accepted webhook is stored and answered, and `readWebhook` gets it afterwards.
   */
  receiveWebhook?(webhook: RailWebhook): Promise<ReceivedWebhook | undefined>;

  /**
   * Returns the meaning of a stored webhook. It is called at least once for each, in any order, also after a crash. An
   * exception means that it is unknown, and it is called again later.
   */
  readWebhook?(body: Uint8Array): Promise<readonly RailNews[]>;
}

/** A webhook as it arrived, unverified. */
export interface RailWebhook {
  /** The header fields, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

/** A webhook that comes from the provider. */
export interface ReceivedWebhook {
  /** The provider's id of the webhook, the same at every attempt: it is processed once. */
  readonly id: string;
  /** The status that the provider gets: 200 by default, 202 for a question that is answered later. */
  readonly status?: 200 | 202 | undefined;
}

/** The content of a webhook. It is a hint and not an outcome: the gateway asks the provider. */
export type RailNews = OrderNews | DepositNews | IdentityNews;

/** Something has happened to an order of ours: it is asked about at once. */
export interface OrderNews {
  readonly kind: 'order';
  readonly orderId: string;
  /**
   * Whether its money may have come back. Otherwise a settled order is not asked about early: a late message that it
   * has settled is not news.
   */
  readonly mayHaveReturned: boolean;
}

/** A deposit has arrived or is on its way: the deposits are listed at once. */
export interface DepositNews {
  readonly kind: 'deposit';
}

/** The identity check of a customer has changed: it is repeated at once. */
export interface IdentityNews {
  readonly kind: 'identity';
  /** Our uuid of the customer. */
  readonly customerId: string;
}
