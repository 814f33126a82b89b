import type { Environment } from '../database/generated/client/client.ts';

/** For whom a command runs. */
export interface Tenant {
  readonly platformId: string;
  readonly environment: Environment;
  /** Idempotency keys of an app are its own: no other app of the platform can meet or probe them. */
  readonly keySpace?: string | undefined;
}
