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
  /** The id of our order; undefined where no order of ours began it. */
  readonly orderId: string | undefined;
  /** The id of our order whose money it gives back; undefined where it gives back none. */
  readonly returnOf?: string | undefined;
  /** The provider's own reference. */
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly state: 'UNDER_WAY' | 'SETTLED' | 'FAILED' | 'RETURNED';
}
