import { query } from './embedded-servers.ts';

/** Makes the changes atomically, with triggers disabled, since some reject changes that the service never makes. */
async function change(databaseUrl: string, changes: readonly string[]): Promise<void> {
  for (;;) {
    try {
      await query(databaseUrl, ['set session_replication_role = replica', ...changes].join('; '));
      return;
    } catch (error) {
      // A deadlock is possible, because the service locks rows in a different order.
      if (!(error instanceof Error && 'code' in error && error.code === '40P01')) throw error;
    }
  }
}

/** Shifts stored timestamps as if the database's clock had just been set back, by default by an hour. */
export function setClockBack(databaseUrl: string, by = `interval '1 hour'`): Promise<void> {
  return change(databaseUrl, [
    // The stored clock reading may be slightly out of date.
    `update feed_epoch set seen_at = greatest(seen_at, clock_timestamp()) + ${by}`,
    `update rail_order set due_at = due_at + ${by}, created_at = created_at + ${by} where due_at is not null`,
    `update webhook_delivery set next_attempt_at = next_attempt_at + ${by}, leased_until = leased_until + ${by}`,
    `update transaction set approval_due_at = approval_due_at + ${by} where approval_due_at is not null`,
    `update quote set expires_at = expires_at + ${by} where status = 'PENDING'`,
  ]);
}
