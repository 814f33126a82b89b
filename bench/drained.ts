import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** Waits, for at most a minute, until every event is in the feed and no payment is in flight. */
export async function drained(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (let turn = 0; turn < 600; turn++) {
    const { rows } = await client.query<{ left: string }>(
      'select (select count(*) from outbox) + (select count(*) from rail_order where due_at is not null) as left',
    );
    if (rows[0]?.left === '0') break;
    await delay(100);
  }
  await client.end();
}
