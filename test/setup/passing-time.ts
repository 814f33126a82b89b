import { setTimeout as delay } from 'node:timers/promises';
import { vi } from 'vitest';
import { type TestGateway, uuidIn, withoutTriggers } from './gateway.ts';

/** Repeats the statement until it changes the row, because the row may reach the expected state only later. */
function change({ databaseUrl }: TestGateway, text: string, id: string): Promise<void> {
  return withoutTriggers(databaseUrl, (client) =>
    vi.waitFor(
      async () => {
        const { rowCount } = await client.query(text, [uuidIn(id)]);
        if (rowCount !== 1) throw new Error(`${id} does not wait for anything`);
      },
      { timeout: 60_000 },
    ),
  );
}

/** Makes all pending calls to rails due now. */
export async function makeDue({ owner }: TestGateway): Promise<void> {
  await owner.query('update rail_order set due_at = clock_ms() where due_at is not null');
}

/** Lets a client token expire. */
export async function expireToken({ owner }: TestGateway, tokenId: string): Promise<void> {
  await owner.query('update client_token set expires_at = clock_timestamp() where id = $1', [uuidIn(tokenId)]);
}

/** Waits until this machine's clock, which is also the database's, reaches `moment`. */
export function until(moment: number): Promise<void> {
  return delay(Math.max(0, moment - Date.now()));
}

/** Makes a PENDING quote expire. */
export function passExpiry(gateway: TestGateway, quoteId: string): Promise<void> {
  const text = `update quote set expires_at = clock_timestamp() where id = $1 and status = 'PENDING'`;
  return change(gateway, text, quoteId);
}

/** Skips the hour by which a sandbox scenario delays a payment's settlement or return. */
export function passDelay(gateway: TestGateway, transactionId: string): Promise<void> {
  // A worker's lease lasts two seconds, so a row due more than a minute from now is delayed, not leased.
  const text = `update rail_order set created_at = created_at - interval '1 day', due_at = clock_timestamp()
    where transaction_id = $1 and due_at > clock_timestamp() + interval '1 minute'`;
  return change(gateway, text, transactionId);
}

/** Returns the time zone that is the given number of hours ahead of UTC. */
export function timeZoneAhead(hours: number): string {
  // The sign in these names is reversed: Etc/GMT-2 is two hours ahead of UTC.
  return `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`;
}

/** Returns the time zone in which it is now between noon and 1 p.m. No day or month ends there for many hours. */
export const timeZoneAtNoon = () => timeZoneAhead(12 - new Date().getUTCHours());

/** Backdates, by the given number of hours, everything that policies have counted. */
export function passHours({ databaseUrl }: TestGateway, hours: number): Promise<void> {
  return withoutTriggers(databaseUrl, async (client) => {
    const by = `interval '${hours} hours'`;
    await client.query(`begin;
      update policy_use set used_at = used_at - ${by}, released_at = released_at - ${by};
      update policy set summed_at = array(select s.at - ${by} from unnest(summed_at) with ordinality as s(at, n) order by n),
        updated_at = updated_at - ${by};
      commit`);
  });
}

/** Makes a payment's approval deadline pass on both sides. Without an id, does so for all that await approval. */
export async function passApproval(
  { databaseUrl }: Pick<TestGateway, 'databaseUrl'>,
  transactionId?: string,
): Promise<void> {
  await withoutTriggers(databaseUrl, (client) =>
    client.query(
      `with late as (update transaction set approval_due_at = clock_timestamp()
         where id = $1 or $1::uuid is null and status = 'CREATED' returning id)
       update rail_order set due_at = clock_timestamp() where due_at is not null and transaction_id in (
         select id from late union select a.sender_transaction_id from arrival a join late l on l.id = a.transaction_id)`,
      [transactionId && uuidIn(transactionId)],
    ),
  );
}
