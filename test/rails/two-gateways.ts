import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { afterAll } from 'vitest';
import { connectedRail } from '../../src/domain/commands/command.ts';
import { reconcile } from '../../src/domain/reconciliation/differences.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { parseRailSettings } from '../../src/rails/rail-settings.ts';
import type { GatewaySettings } from '../../src/server/config.ts';
import { openConnections } from '../../src/server/gateway.ts';
import { uuidIn, withoutTriggers } from '../setup/connections.ts';
import { startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { fund, ownAccount } from '../setup/scene.ts';

/** A gateway in front of an upstream service, which is a second instance. */
export interface TwoGateways {
  readonly upstream: TestGateway;
  readonly gateway: TestGateway;
  /** The secret key of the gateway. */
  readonly key: Buffer;
  /** Connects a new platform here to its own account upstream, which holds this amount in USD and EUR. */
  connected(name: string, held?: bigint): Promise<Connected>;
  /** Compares the books of a platform with those of upstream, for an hour before and after now. */
  compare(platform: TestPlatform): Promise<Comparison>;
  /** Changes rows upstream that upstream's own rules protect. */
  spoil(text: string, ...values: unknown[]): Promise<pg.QueryResult>;
  /** Returns the rail of a platform here. */
  rail(platform: TestPlatform): Rail;
  /** Returns the upstream id of an account that was registered here. */
  accountThere(account: Pick<TestPlatform, 'platformId'>, id: string): Promise<string>;
  stop(): Promise<void>;
}

type Comparison = Awaited<ReturnType<typeof reconcile>>;

/** Returns the client id and the secret in the header field of a request. */
export function credentialsIn(authorization: string): { clientId: string; secret: string } {
  const [clientId = '', secret = ''] = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':');
  return { clientId, secret };
}

/** A PRODUCTION platform here, and its upstream platform, which is its account. */
export interface Connected {
  readonly account: TestPlatform;
  readonly platform: TestPlatform;
  /** Where upstream posts the platform's webhooks. */
  readonly webhookUrl: string;
  /** Stores the connection again, with these additional fields. */
  connect(more: object): Promise<void>;
}

/**
 * Starts both gateways. Upstream receives, creates, fails, returns and delays payments (`returning-rail.ts`).
 * @param settings the settings of the rail `upstream` here
 */
export async function startTwoGateways(
  settings: object,
  overrides: Partial<GatewaySettings> = {},
): Promise<TwoGateways> {
  const key = randomBytes(32);
  const rails = (text: object) => parseRailSettings(JSON.stringify(text));
  const upstream = await startTestGateway({
    RAILS: rails({ SANDBOX: { module: './test/rails/returning-rail.ts' } }),
    WEBHOOK_TIME_SCALE: 1_000,
  });
  const gateway = await startTestGateway({
    RAILS: rails({ PRODUCTION: { module: 'upstream', settings } }),
    SECRET_KEY: key,
    ...overrides,
  });
  const { payments } = gateway.gateway;
  return {
    upstream,
    gateway,
    key,
    async connected(name, held = 1_000_000n) {
      const account = await upstream.newPlatform(name);
      if (held > 0n)
        for (const currency of ['USD', 'EUR']) await fund(account, await ownAccount(account, currency), held);
      const platform = await gateway.newPlatform(name, 'PRODUCTION');
      const connections = openConnections(payments.database, { SECRET_KEY: key, SECRET_KEY_FALLBACKS: [] });
      const connection = { baseUrl: `${upstream.url}/2025-10-13`, ...credentialsIn(account.authorization) };
      const connect = (more: object) =>
        connections.write(platform.platformId, JSON.stringify({ ...connection, ...more }));
      await connect({});
      const webhookUrl = `${gateway.url}/rails/Platform:${platform.platformId}/webhooks`;
      return { account, platform, webhookUrl, connect };
    },
    compare({ platformId }) {
      const period = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) };
      return reconcile(payments, { platformId, environment: 'PRODUCTION' }, period);
    },
    spoil: (text, ...values) => withoutTriggers(upstream.databaseUrl, (client) => client.query(text, values)),
    rail({ platformId }) {
      const rail = connectedRail(payments, { platformId, environment: 'PRODUCTION' });
      if (!rail) throw new Error('no rail');
      return rail;
    },
    async accountThere({ platformId }, id) {
      const text = "select id from account where platform_id = $1 and kind = 'EXTERNAL' and platform_account_id = $2";
      const { rows } = await upstream.owner.query(text, [platformId, uuidIn(id)]);
      return `ExternalAccount:${rows[0].id}`;
    },
    async stop() {
      await gateway.stop();
      await upstream.stop();
    },
  };
}

/** Starts both gateways for the tests of a file, and stops them afterwards. */
export async function testTwoGateways(...given: Parameters<typeof startTwoGateways>): Promise<TwoGateways> {
  const two = await startTwoGateways(...given);
  afterAll(() => two.stop());
  return two;
}
