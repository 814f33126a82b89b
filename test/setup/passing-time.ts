import pg from 'pg';
import { vi } from 'vitest';
import type { TestGateway } from './gateway.ts';

/** Waits until the row is at rest, and changes it on a connection that may change what triggers keep. */
async function change({ databaseUrl }: TestGateway, text: string, id: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, options: '-c session_replication_role=replica' });
  await client.connect();
  try {
    const values = [id.slice(id.indexOf(':') + 1)];
    await vi.waitFor(
      async () => {
        const { rowCount } = await client.query(text, values);
        if (rowCount !== 1) throw new Error(`${id} does not wait for anything`);
      },
      { timeout: 10_000 },
    );
  } finally {
    await client.end();
  }
}

/** Lets a PENDING quote be over. */
export function passExpiry(gateway: TestGateway, quoteId: string): Promise<void> {
  const text = `update quote set expires_at = clock_timestamp() where id = $1 and status = 'PENDING'`;
  return change(gateway, text, quoteId);
}

/** Lets the hour be over that the sandbox's scenario has a payment wait, before its end or before its return. */
export function passDelay(gateway: TestGateway, transactionId: string): Promise<void> {
  // A worker's lease lasts two seconds: what is due later is nobody's.
  const text = `update rail_order set created_at = created_at - interval '1 day', due_at = clock_timestamp()
    where transaction_id = $1 and due_at > clock_timestamp() + interval '1 minute'`;
  return change(gateway, text, transactionId);
}
