import type { Permission } from '../database/generated/client/client.ts';
import type { Tenant } from '../payments/command.ts';

/** Who is asking: a platform's server with an API token. */
export interface Viewer extends Tenant {
  readonly kind: 'PLATFORM' | 'CLIENT';
  readonly permissions: readonly Permission[];
  /** The uuid of the token. */
  readonly tokenId: string;
}
