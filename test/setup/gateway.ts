import pg from 'pg';
import { pino } from 'pino';
import { afterAll, expect, onTestFinished, vi } from 'vitest';
import type { Operator } from '../../src/domain/access/operator-acts.ts';
import { basicAuthorization } from '../../src/domain/access/tokens/credentials.ts';
import type { Payments } from '../../src/domain/commands/command.ts';
import { audit } from '../../src/domain/ledger/audit.ts';
import { createPlatform } from '../../src/domain/platforms/platforms.ts';
import { servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { type GatewaySettings, readConfig } from '../../src/server/config.ts';
import { startGateway } from '../../src/server/gateway.ts';
import { secretKey } from './cursors.ts';
import { freshDatabase } from './database.ts';
import { TestPlatform } from './platform.ts';

export type { TestPlatform };

/** The JSON data in a GraphQL response. Tests assert on its values, so its shape is left open. */
// biome-ignore lint/suspicious/noExplicitAny: the shape of the data depends on the query
export type Data = any;

export interface Answer {
  readonly status: number;
  readonly data: Data;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions?: Data;
  }[];
}

export type TestGateway = Readonly<Awaited<ReturnType<typeof startTestGateway>>>;

/** Starts a gateway with a fast sandbox and its own database, on a free port. When it stops, the ledger is audited. */
export async function startTestGateway(
  overrides: Partial<GatewaySettings> = {},
  databaseUrl?: string,
  parts: Partial<Pick<Parameters<typeof startGateway>[0], 'pace' | 'webhooks' | 'pooler' | 'log' | 'sandbox'>> = {},
  platformName = 'test',
) {
  const database = databaseUrl === undefined ? await freshDatabase() : undefined;
  const url = databaseUrl ?? database?.url ?? '';
  const config: GatewaySettings = {
    ...readConfig({
      NODE_ENV: 'test',
      PORT: '0',
      SANDBOX_PACE_MS: '20',
      LOG_LEVEL: 'silent',
      CLIENT_TOKEN_KEY: 'a key that only tests use, for nothing else',
      SECRET_KEY: secretKey,
    }),
    // Production responses omit their cost by default, which lets tests compare whole responses.
    NODE_ENV: 'production',
    ...overrides,
  };
  const log = pino({ level: process.env.TEST_LOG ?? 'fatal' });
  const gateway = await startGateway({
    databaseUrl: servingUrl(url),
    config,
    log,
    ...parts,
    // A slow machine must not cause refusals, and `stop` must not wait for idle clients.
    pace: { slowMs: Number.POSITIVE_INFINITY, idleMs: 0, ...parts.pace },
  });
  const address = gateway.url ?? '';
  const owner = new pg.Pool({ connectionString: url, max: 8 });

  async function newPlatform(name: string, environment: 'SANDBOX' | 'PRODUCTION' = 'SANDBOX'): Promise<TestPlatform> {
    const { platformId, ...credentials } = await createPlatform(gateway.payments, { name, environment });
    return connect(address, platformId, basicAuthorization(credentials));
  }

  return {
    url: address,
    /** Connects as the tables' owner. */
    databaseUrl: url,
    /** A pool that connects as the tables' owner, for operations that the gateway's roles are denied. */
    owner,
    gateway,
    platform: databaseUrl === undefined ? await newPlatform(platformName) : connect(address, '', ''),
    newPlatform,
    /** Stops everything, then audits the ledger. `broken` must list exactly the rules that the test has broken. */
    async stop(broken: readonly RegExp[] = []) {
      await gateway.stop();
      await owner.end();
      const breaches = await audit({ url });
      await database?.drop();
      expect(breaches.filter(({ rule }) => !broken.some((known) => known.test(rule)))).toEqual([]);
      expect(breaches).toHaveLength(broken.length);
    },
  };
}

/** Starts a gateway that all tests in a file share. If a file starts several, they are stopped in reverse order. */
export async function testGateway(...options: Parameters<typeof startTestGateway>): Promise<TestGateway> {
  const t = await startTestGateway(...options);
  afterAll(() => t.stop());
  return t;
}

/** Returns the gateway's services, with the given parts of its sandbox rail replaced. */
export function withRail({ gateway }: TestGateway, parts: Partial<Rail>): Payments {
  const { payments } = gateway;
  return { ...payments, rails: { SANDBOX: Object.assign(Object.create(sandboxOf(payments)), parts) } };
}

export function sandboxOf({ rails: { SANDBOX } }: Payments): Rail {
  if (!SANDBOX) throw new Error('no sandbox');
  return SANDBOX;
}

/** Starts a gateway that is stopped when the current test ends, even if the test fails. */
export async function ownGateway(...options: Parameters<typeof startTestGateway>): Promise<TestGateway> {
  const t = await startTestGateway(...options);
  onTestFinished(() => t.stop());
  return t;
}

/** Returns a platform that calls the gateway at `address` with the given credentials. */
export function connect(address: string, platformId: string, authorization: string): TestPlatform {
  return new TestPlatform(address, platformId, authorization);
}

/** Opens a connection that the server may end. If it does, the next statement fails. */
export async function openClient(connectionString: string, config: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, ...config });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Opens a connection that is closed when the current test ends. */
export async function ownClient(...options: Parameters<typeof openClient>): Promise<pg.Client> {
  const client = await openClient(...options);
  onTestFinished(() => client.end());
  return client;
}

async function connected<T>(client: pg.Client, work: (client: pg.Client) => Promise<T>): Promise<T> {
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Connects as the tables' owner, for all tests in a file, and closes the connection afterwards. */
export async function testClient({ databaseUrl }: Pick<TestGateway, 'databaseUrl'>, options = ''): Promise<pg.Client> {
  const client = await openClient(databaseUrl, { options });
  afterAll(() => client.end());
  return client;
}

/** The connection option that turns off triggers, for making changes that they would refuse. */
export const untriggered = { options: '-c session_replication_role=replica' } as const;

/** Calls `work` with a connection on which triggers do not run. */
export async function withoutTriggers<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return connected(await openClient(url, untriggered), work);
}

/** Calls `work` while another connection holds locks on the rows that a statement selects. */
export async function whileLocked<T>(
  connectionString: string,
  [text, ...values]: readonly [text: string, ...values: unknown[]],
  work: (holder: pg.Client) => Promise<T>,
): Promise<T> {
  return connected(await openClient(connectionString), async (holder) => {
    await holder.query('begin');
    await holder.query(text, values);
    const result = await work(holder);
    await holder.query('commit');
    return result;
  });
}

/** Starts `first` and then `second` while another connection holds a row lock. Releases it once both are waiting. */
export async function inTurn<A, B>(
  { databaseUrl, owner }: TestGateway,
  [table, id]: readonly [table: string, id: string],
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<[A, B]> {
  const lock = [`select from ${table} where id = $1 for update`, uuidIn(id)] as const;
  const both = await whileLocked(databaseUrl, lock, async () => {
    const one = first();
    await untilWaiting(owner, 1);
    const other = second();
    await untilWaiting(owner, 2);
    return [one, other] as const;
  });
  return Promise.all(both);
}

/** Waits until at least `count` sessions in the database are waiting for locks. */
export async function untilWaiting(on: Pick<pg.Pool, 'query'>, count: number): Promise<void> {
  const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while (((await on.query(text)).rowCount ?? 0) < count);
}

/** Runs a statement as a role, or as the tables' owner, and rolls it back. Returns its row count or error code. */
export async function triedAs({ databaseUrl }: TestGateway, role: string, text: string): Promise<unknown> {
  return connected(await openClient(databaseUrl), async (client) => {
    await client.query('begin');
    if (role !== 'owner') await client.query(`set local role ${role}`);
    return client.query(text).then(
      ({ rowCount }) => rowCount,
      (error: { readonly code: string }) => error.code,
    );
  });
}

/** Waits until a statement run by the tables' owner returns the wanted rows. */
export async function untilRows({ owner }: TestGateway, wanted: readonly object[], text: string, ...values: unknown[]) {
  await vi.waitFor(async () => expect((await owner.query(text, values)).rows).toMatchObject(wanted), 20_000);
}

/** Waits until the tokens are rejected. A gateway caches a token's authentication for about a second. */
export async function untilRefused(...tokens: readonly TestPlatform[]): Promise<void> {
  for (const token of tokens)
    await vi.waitFor(async () => expect((await token.send('{ viewer { kind } }')).status).toBe(401), 60_000);
}

/** Changes an external account's status, as its rail would. Rejects if the database refuses the change. */
export async function setAccountStatus({ owner }: TestGateway, id: string, status: string, reason = 'by a test') {
  const text = 'update account set status = $2, status_reason = $3 where id = $1';
  expect((await owner.query(text, [uuidIn(id), status, reason])).rowCount).toBe(1);
}

/** Returns the uuid in a public id. */
export const uuidIn = (id: string): string => id.slice(id.indexOf(':') + 1);

/** The operator that the tests act as. */
export const tester: Operator = { by: 'a test', act: 'test' };
