import pg from 'pg';
import { withAdvisoryLock, withClient } from './advisory-lock.ts';
import { readAddress } from './connections/address.ts';
import type { Pooler } from './connections/pooled-client.ts';
import { sessionSettings } from './database.ts';
import { OperatorError, sqlState } from './faults.ts';
import { refuseOwners } from './owners.ts';
import { inRolledBackTransaction, transactionOn } from './transaction.ts';

/** The role of all sessions behind a pooler, because only requests go through one. */
const role = 'gateway_serving';

/** The advisory lock that a process holds while it changes a login's settings ("pool" in ASCII). */
const settingsLock = 0x706f6f6c;

/** Returns a login's settings for sessions behind a pooler: all except the platform, which each transaction sets. */
const loginSettings = () =>
  sessionSettings(role)
    .map((setting) => setting.split('=', 2) as [name: string, value: string])
    .filter(([name]) => name !== 'gateway.platform');

/**
 * Stores the required session settings as the defaults of the pooler's login, in this database only. A login may
 * change its own defaults. Connections with settings of their own, such as those for background work, are not affected.
 * @param direct the server's own address, with the same login
 * @throws OperatorError if the logins differ, or the login owns tables
 */
export async function prepareLogin(pooled: string, direct: string): Promise<void> {
  const login = loginOf(pooled);
  if (loginOf(direct) !== login) {
    throw new OperatorError(
      `DATABASE_URL has the login ${login} and DATABASE_DIRECT_URL the login ${loginOf(direct)}: use the same login in both, because the session settings are stored with the login`,
    );
  }
  await withAdvisoryLock(direct, settingsLock, (client) => transactionOn(client, () => alterLogin(client, login)));
}

async function alterLogin(client: pg.Client, login: string): Promise<void> {
  // This session may already have the stored settings, including the role.
  await client.query('set local role none');
  await refuseOwners({ pool: client });
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  const of = `${client.escapeIdentifier(login)} in database ${client.escapeIdentifier(rows[0]?.name ?? '')}`;
  for (const [name, value] of loginSettings()) {
    const values = value.split(',').map((one) => client.escapeLiteral(one));
    await client.query(`alter role ${of} set ${client.escapeIdentifier(name)} = ${values.join(', ')}`);
  }
}

function loginOf(url: string): string {
  return new pg.Client({ connectionString: readAddress(url).url }).user ?? '';
}

/** Connects through a pooler, and detects its capabilities. @throws OperatorError if it cannot be used */
export async function findPooler(url: string, direct: string): Promise<Pooler> {
  const { database, missing, prepares } = await withClient(url, (client) =>
    // A pooler runs all statements of a transaction in the same session.
    inRolledBackTransaction(client, async () => ({
      database: await identityOf(client),
      prepares: await preparesStatements(client),
      missing: await missingSettings(client),
    })),
  );
  if (database !== (await withClient(direct, identityOf))) {
    const message = 'DATABASE_URL and DATABASE_DIRECT_URL lead to different databases: both must name the same one';
    throw new OperatorError(message);
  }
  if (missing.length > 0) {
    throw new OperatorError(
      `The sessions behind the pooler in DATABASE_URL lack the settings ${missing.join(', ')}. The login ${loginOf(url)} must be a member of ${role}. Run "npm run migrate" with DATABASE_OWNER_URL, DATABASE_URL and DATABASE_DIRECT_URL to store them with the login. Then let the pooler open new connections (RECONNECT in PgBouncer's console).`,
    );
  }
  return { url, prepares };
}

async function identityOf(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ identity: string }>(
    // The start time is read as a number because the sessions' time zones may differ.
    'select oid || $1 || extract(epoch from pg_postmaster_start_time()) as identity from pg_database where datname = current_database()',
    [' '],
  );
  return rows[0]?.identity;
}

async function missingSettings(client: pg.Client): Promise<string[]> {
  // Over a Unix socket, Postgres reports no keep-alive settings.
  const settings = loginSettings().filter(([name]) => !name.startsWith('tcp_'));
  const { rows } = await client
    .query<{ name: string; now: string; wanted: string }>(
      // The wanted value is set, until the rollback, only to see how Postgres formats it.
      'select name, current_setting(name) as now, set_config(name, value, true) as wanted from unnest($1::text[], $2::text[]) as s (name, value)',
      [settings.map(([name]) => name), settings.map(([, value]) => value)],
    )
    .catch((error: unknown) => {
      // The login is not allowed to assume the role, so a stored default for the role would have no effect.
      if (sqlState(error) === '42501') return { rows: [{ name: 'role', now: '', wanted: role }] };
      throw error;
    });
  const plain = (value: string) => value.replaceAll(' ', '');
  return rows.filter(({ now, wanted }) => plain(now) !== plain(wanted)).map(({ name }) => name);
}

/**
 * Returns whether a pooler supports its clients' prepared statements. If it does not, a prepared statement exists only
 * in the session that created it.
 */
async function preparesStatements(client: pg.Client): Promise<boolean> {
  const name = 'payments_gateway_probe';
  const seen = 'select from pg_prepared_statements where name = $1';
  // The statement may still exist if another instance was killed before its `deallocate`.
  if ((await client.query(seen, [name])).rowCount) await client.query(`deallocate ${name}`);
  await client.query({ name, text: 'select 1' });
  if ((await client.query(seen, [name])).rowCount === 0) return true;
  await client.query(`deallocate ${name}`);
  return false;
}
