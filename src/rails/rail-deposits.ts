/** The methods of a rail for deposits to the accounts of customers. A rail has both of them, or neither. */
export interface RailDeposits {
  /**
   * Lists deposits, also those under way, that began at a moment or later, by the provider's clock: oldest first, page
   * by page. Collections of our orders are not among them.
   */
  deposits?(request: DepositsRequest): Promise<DepositsPage>;

  /**
   * Creates a deposit available to the payments of the platform, such as by moving it to the account that they are paid
   * from. Called at least once, before the customer is credited: an implementation passes `id` to its provider as the
   * idempotency key. An exception means that the outcome is unknown, and it is called again.
   */
  takeDeposit?(deposit: DepositToTake): Promise<TakenDeposit>;
}

/** A request for deposits: from one moment on, after a cursor of the page before. */
export interface DepositsRequest {
  readonly from: Date;
  readonly cursor: string | undefined;
}

/** A page of deposits. Without `nextCursor` it is the last one. */
export interface DepositsPage {
  readonly deposits: readonly RailDeposit[];
  /** When the last examined movement began, even if it is not a deposit: the next query need not go further back. */
  readonly lookedUpTo?: Date | undefined;
  readonly nextCursor?: string | undefined;
}

/** An unsolicited deposit. */
export interface RailDeposit {
  /** The provider's own reference: always the same for the same deposit. */
  readonly reference: string;
  /** When it began, by the provider's clock. */
  readonly at: Date;
  /** A deposit is credited once it has settled. One that is under way is looked for again. */
  readonly state: 'UNDER_WAY' | 'SETTLED' | 'FAILED';
  readonly amount: bigint;
  readonly currency: string;
  /** The uuid of the customer; undefined if the provider does not say. */
  readonly customerId: string | undefined;
  /** The provider's account that holds it. */
  readonly heldAt: string;
  /** The UMA address of its payer, and what the payer wrote, where the provider knows them. */
  readonly payer?: string | undefined;
  readonly memo?: string | undefined;
}

/** A deposit to credit. */
export interface DepositToTake extends Pick<RailDeposit, 'reference' | 'amount' | 'currency' | 'heldAt'> {
  /** Our uuid of it, which derives from its reference. */
  readonly id: string;
}

/** The outcome of taking a deposit. `refused`: the provider will not do it, in words for an operator. */
export type TakenDeposit = { readonly kind: 'taken' } | { readonly kind: 'refused'; readonly explanation: string };
