import type { Environment } from '../database/generated/client/client.ts';
import { type Queryable, statement } from '../database/statement.ts';

/** For whom a command runs. */
export interface Tenant {
  readonly platformId: string;
  readonly environment: Environment;
  /** Idempotency keys of an app are its own: no other app of the platform can meet or probe them. */
  readonly keySpace?: string | undefined;
}

const lockStatement = statement<object>('lock_platform', 'select from platform where id = $1 for no key update');

/**
 * Waits for the platform's row and holds it until the transaction ends: for what changes the platform's settings, or counts
 * what it has. Prisma has no statement that locks.
 */
export async function lockPlatform(on: Queryable, { platformId }: Tenant): Promise<void> {
  await lockStatement(on, platformId);
}
