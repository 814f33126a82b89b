/** The methods of a rail for reconciliation. */
export interface RailBooks {
  /** Lists what the provider has moved for the platform in a period by the provider's clock, page by page. */
  movements?(request: MovementsRequest): Promise<MovementsPage>;

  /** Returns the platform's current balances at the provider, in smallest units by the code of the currency. */
  balances?(): Promise<ReadonlyMap<string, bigint>>;
}

/** A request for what a provider has moved: from one moment up to another, after a cursor of the page before. */
export interface MovementsRequest {
  readonly from: Date;
  readonly to: Date;
  readonly cursor: string | undefined;
}

/** A page of what a provider has moved. Without `nextCursor` it is the last one. */
export interface MovementsPage {
  readonly movements: readonly RailMovement[];
  readonly nextCursor?: string | undefined;
}

/** A payment at a provider. */
export interface RailMovement {
  /** The id of our order; undefined if no order of ours began it. */
  readonly orderId: string | undefined;
  /** The id of our order that it refunds; undefined if it refunds none. */
  readonly returnOf?: string | undefined;
  /** The provider's own reference. */
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  /** Whether it credited or debited the platform's account at the provider. */
  readonly direction?: 'IN' | 'OUT' | undefined;
  /** When it began, by the provider's clock. */
  readonly at?: Date | undefined;
  readonly state: 'UNDER_WAY' | 'SETTLED' | 'FAILED' | 'RETURNED';
}
