/** The methods of a rail for reconciliation. */
export interface RailBooks {
  /** Lists the provider's movements for the platform in a period by the provider's clock, page by page. */
  movements?(request: MovementsRequest): Promise<MovementsPage>;

  /** Returns the platform's current balances at the provider, in smallest units, by currency code. */
  balances?(): Promise<ReadonlyMap<string, bigint>>;
}

/** A request for a provider's movements: from one moment up to another, after the cursor of the previous page. */
export interface MovementsRequest {
  readonly from: Date;
  readonly to: Date;
  readonly cursor: string | undefined;
}

/** A page of a provider's movements. Without `nextCursor` it is the last one. */
export interface MovementsPage {
  readonly movements: readonly RailMovement[];
  readonly nextCursor?: string | undefined;
}

/** A payment at a provider. */
export interface RailMovement {
  /** The id of the gateway's order for the movement; undefined if it has none. */
  readonly orderId: string | undefined;
  /** The id of the gateway's order that the movement refunds; undefined if it refunds none. */
  readonly returnOf?: string | undefined;
  /** The provider's own reference. */
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  /** Whether the movement credited or debited the platform's account at the provider. */
  readonly direction?: 'IN' | 'OUT' | undefined;
  /** When it began, by the provider's clock. */
  readonly at?: Date | undefined;
  readonly state: 'UNDER_WAY' | 'SETTLED' | 'FAILED' | 'RETURNED';
}
