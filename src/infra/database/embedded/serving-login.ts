import { withAdvisoryLock } from '../advisory-lock.ts';

/** Ensures that a migrated embedded database has the gateways' login. Returns a connection URL with this login. */
export async function makeServingLogin(ownerUrl: string): Promise<string> {
  const lock = 0x6c6f6769; // "logi" in ASCII
  await withAdvisoryLock(ownerUrl, lock, async (client) => {
    const { rowCount } = await client.query(`select from pg_roles where rolname = 'gateway'`);
    if (rowCount) return;
    await client.query(
      `create role gateway login noinherit password ${client.escapeLiteral(new URL(ownerUrl).password)};
       grant gateway_serving, gateway_work to gateway;
       grant pg_read_all_stats to gateway_work`,
    );
  });
  return servingUrl(ownerUrl);
}

/** Derives the gateways' connection URL from the superuser's. */
export function servingUrl(ownerUrl: string): string {
  return Object.assign(new URL(ownerUrl), { username: 'gateway' }).href;
}
