import { expect, vi } from 'vitest';
import type { TestGateway } from './gateway.ts';

/** Waits until this many streams are open at a gateway. */
export const subscribed = ({ gateway }: Pick<TestGateway, 'gateway'>, count: number): Promise<void> =>
  vi.waitFor(() => expect(gateway.feed.subscriptions).toBe(count), 60_000);

/** Waits until everything committed is in the feed. */
export const sequenced = ({ owner }: Pick<TestGateway, 'owner'>): Promise<void> =>
  vi.waitFor(async () => expect((await owner.query('select from outbox limit 1')).rowCount).toBe(0), 60_000);

/** Commits test events of the gateway's platform, which are `daysOld` days old. */
export async function commitEvents({ owner, platform }: TestGateway, count = 1, daysOld = 0): Promise<void> {
  await owner.query(
    `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
     select $1, uuid_v7(), 'TEST', now() - $3 * interval '1 day', n, '{}' from generate_series(1, $2::int) n`,
    [platform.platformId, count, daysOld],
  );
}
