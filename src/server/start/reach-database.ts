import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { withClient } from '../../infra/database/advisory-lock.ts';
import { serversOf } from '../../infra/database/connections/address.ts';
import { isDatabaseFault, isTlsFault, OperatorError, sqlState } from '../../infra/database/faults.ts';
import type { Config } from '../config.ts';

/** How long startup waits for an unresponsive database, in ms. The database may be starting at the same time. */
const patienceMs = 10_000;

/** The kinds of addresses to connect to. For each kind, the first of the listed settings that is set is used. */
const addresses = {
  owner: ['DATABASE_OWNER_URL', 'DATABASE_DIRECT_URL', 'DATABASE_URL'],
  direct: ['DATABASE_DIRECT_URL', 'DATABASE_URL'],
  pooled: ['DATABASE_URL'],
} as const satisfies Record<string, readonly (keyof Config)[]>;

type Which = readonly (keyof typeof addresses)[];

/** Connects to the address of each given kind, retrying for a while if there is a `log`. @throws OperatorError */
export async function reachDatabase(config: Config, which: Which, log?: (line: string) => void): Promise<void> {
  const names = which.map((one) => addresses[one].find((name) => config[name] !== undefined));
  for (const name of new Set(names)) {
    const url = name && config[name];
    if (url === undefined) continue;
    const until = performance.now() + (log ? patienceMs : 0);
    for (let tries = 0; ; tries += 1) {
      const error = await withClient(url, async () => undefined).catch((reason: unknown) => reason);
      if (error === undefined) break;
      const words = `${name} does not lead to a usable database: ${reasonOf(error, url)}`;
      if (!mayPass(error) || performance.now() >= until) throw new OperatorError(words, { cause: error });
      if (tries === 0) log?.(`${words} Trying again for ${patienceMs / 1_000} s.`);
      await delay(250);
    }
  }
}

/** Returns whether the error may be temporary, unlike a wrong login, database name or certificate. */
function mayPass(error: unknown): boolean {
  return isDatabaseFault(error) && !isTlsFault(error) && !/^(28|3D|42)/.test(sqlState(error) ?? '');
}

function reasonOf(error: unknown, url: string): string {
  const servers = serversOf(url)
    .map(({ host, port }) => (host.startsWith('/') ? host : `${host}:${port}`))
    .join(', ');
  const code = sqlState(error);
  const words = error instanceof Error ? error.message.replace(/\.$/, '') || code : String(error);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host name in ${servers} is unknown (${code}).`;
  if (error instanceof pg.DatabaseError) {
    const advice = new Map([
      ['28P01', ' Correct the login or its password.'],
      ['28000', ' Correct the login, or its entry in pg_hba.conf.'],
    ]).get(code ?? '');
    return `the server at ${servers} says "${words}" (${code}).${advice ?? ''}`;
  }
  if (mayPass(error))
    return `nothing answers at ${servers} (${code ?? words}). Start Postgres, or correct the address.`;
  return `the connection to ${servers} failed (${words}).`;
}
