import type { Environment } from '../database/generated/client/client.ts';

/** A platform, and the world outside in which it moves money. */
export interface Tenant {
  readonly platformId: string;
  readonly environment: Environment;
}
