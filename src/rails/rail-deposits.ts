/** The methods of a rail for deposits to customers' accounts. A rail has either both or neither. */
export interface RailDeposits {
  /**
   * Lists deposits that began at or after a moment by the provider's clock, including those under way: oldest first,
   * page by page. Collections of the gateway's orders are excluded.
   */
  deposits?(request: DepositsRequest): Promise<DepositsPage>;

  /**
   * Makes a deposit available for the platform's payments, perhaps by moving it to the account from which they are
   * paid. Called at least once, before the customer is credited, so an implementation passes `id` to its provider as
   * the idempotency key. An exception means that the outcome is unknown, and the method is called again.
   */
  takeDeposit?(deposit: DepositToTake): Promise<TakenDeposit>;
}

/** A request for deposits: from a moment on, after the cursor of the previous page. */
export interface DepositsRequest {
  readonly from: Date;
  readonly cursor: string | undefined;
}

/** A page of deposits. Without `nextCursor` it is the last one. */
export interface DepositsPage {
  readonly deposits: readonly RailDeposit[];
  /** When the last examined movement began, even if it is not a deposit: the next query need not go back further. */
  readonly lookedUpTo?: Date | undefined;
  readonly nextCursor?: string | undefined;
}

/** Money that has arrived, or is arriving, at the provider without an order of the gateway. */
export interface RailDeposit {
  /** The provider's own reference, which never changes for a deposit. */
  readonly reference: string;
  /** When it began, by the provider's clock. */
  readonly at: Date;
  /** A deposit is credited once it has settled. As long as it is under way, it is queried again. */
  readonly state: 'UNDER_WAY' | 'SETTLED' | 'FAILED';
  readonly amount: bigint;
  readonly currency: string;
  /** The uuid of the customer; undefined if the provider does not report it. */
  readonly customerId: string | undefined;
  /** The provider's account that holds it. */
  readonly heldAt: string;
  /** The payer's UMA address and message, if the provider knows them. */
  readonly payer?: string | undefined;
  readonly memo?: string | undefined;
}

export interface DepositToTake extends Pick<RailDeposit, 'reference' | 'amount' | 'currency' | 'heldAt'> {
  /** The deposit's uuid in the gateway, derived from its reference. */
  readonly id: string;
}

/** The outcome of taking a deposit. `refused`: the provider will not do it, with an explanation for the operator. */
export type TakenDeposit = { readonly kind: 'taken' } | { readonly kind: 'refused'; readonly explanation: string };
