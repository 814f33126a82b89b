import type { Environment } from '../infra/database/generated/client/client.ts';
import { type Queryable, statement } from '../infra/database/statement.ts';

/** A platform, and the environment in which it moves money. */
export interface Tenant {
  readonly platformId: string;
  readonly environment: Environment;
}

const lockStatement = statement<object>('lock_platform', 'select from platform where id = $1 for no key update');

/** Locks the platform's row until the transaction ends, for changes that depend on the row. Prisma cannot lock rows. */
export async function lockPlatform(on: Queryable, { platformId }: Tenant): Promise<void> {
  await lockStatement(on, platformId);
}
