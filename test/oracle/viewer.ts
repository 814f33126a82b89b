import type { Permission } from '../../src/infra/database/generated/client/client.ts';

/** What a token lets its bearer see: everything of the platform, of one customer, or one payment. */
export type Bound =
  | { readonly kind: 'PLATFORM' }
  | { readonly kind: 'CUSTOMER'; readonly customerId: string }
  | { readonly kind: 'PAYMENT'; readonly transactionId: string };

/** Who asks, as the oracle knows it from whoever made the token, without reading the token. Ids are uuids. */
export interface PlainViewer {
  readonly kind: 'PLATFORM' | 'CLIENT';
  readonly platformId: string;
  readonly permissions: readonly Permission[];
  readonly bound: Bound;
  /** For a client token, its id and the public id of the object to which it is bound. */
  readonly tokenId: string | null;
  readonly subject: string | null;
  /** Whether the app of a customer may look receivers up; a server always may. */
  readonly looksUp?: boolean;
}
