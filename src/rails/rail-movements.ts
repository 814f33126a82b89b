/** The parts of a rail for reconciliation. */
export interface RailBooks {
  /** Lists what the provider has moved for the platform, of a period by the provider's clock: page by page. */
  movements?(request: MovementsRequest): Promise<MovementsPage>;

  /** Returns what the provider holds for the platform now, in smallest units by the code of the currency. */
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
  /** The id of our order; undefined where no order of ours began it. */
  readonly orderId: string | undefined;
  /** The id of our order whose money it gives back; undefined where it gives back none. */
  readonly returnOf?: string | undefined;
  /** The provider's own reference. */
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  /** Whether it brought money to the platform's account at the provider, or took it from there. */
  readonly direction?: 'IN' | 'OUT' | undefined;
  /** When it began, by the provider's clock. */
  readonly at?: Date | undefined;
  readonly state: 'UNDER_WAY' | 'SETTLED' | 'FAILED' | 'RETURNED';
}
