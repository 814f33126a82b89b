import { withAdvisoryLock } from '../advisory-lock.ts';

/** The login of gateways on an embedded server. */
const login = 'gateway';

/** The advisory lock of the process that makes the login ("logi" in ASCII). */
const LOGIN_LOCK = 0x6c6f6769;

/**
 * Makes the login with which gateways use a migrated database of an embedded server, unless it exists. It owns nothing: it is a
 * member of the roles that the migrations make, as in production. Its password is the superuser's.
 * @param ownerUrl connects the superuser
 * @returns the address for gateways
 */
export async function makeServingLogin(ownerUrl: string): Promise<string> {
  await withAdvisoryLock(ownerUrl, LOGIN_LOCK, async (client) => {
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [login]);
    if (rowCount) return;
    const password = client.escapeLiteral(new URL(ownerUrl).password);
    await client.query(
      `create role ${login} login noinherit password ${password};
       grant gateway_serving, gateway_work to ${login};
       grant pg_read_all_stats to gateway_work`,
    );
  });
  return servingUrl(ownerUrl);
}

/** Returns the address for gateways of the database at a superuser's address. */
export function servingUrl(ownerUrl: string): string {
  const url = new URL(ownerUrl);
  url.username = login;
  return url.href;
}
