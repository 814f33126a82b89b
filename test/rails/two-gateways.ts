import { randomBytes } from 'node:crypto';
import type { GatewaySettings } from '../../src/config.ts';
import { openConnections } from '../../src/gateway.ts';
import { parseRailSettings } from '../../src/rails/rail-settings.ts';
import { startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { fund, ownAccount } from '../setup/scene.ts';

/** A gateway in front of an upstream service, which is a second instance. */
export interface TwoGateways {
  readonly upstream: TestGateway;
  readonly gateway: TestGateway;
  /** A platform here, with an account of its own upstream: a new one each time. */
  connected(name: string): Promise<Connected>;
  stop(): Promise<void>;
}

/** A platform in PRODUCTION here, and the platform upstream that is its account. */
export interface Connected {
  readonly account: TestPlatform;
  readonly platform: TestPlatform;
  /** Where upstream posts the platform's webhooks. */
  readonly webhookUrl: string;
  /** Stores the connection again, with more in it. */
  connect(more: object): Promise<void>;
}

/**
 * Starts both gateways. Upstream receives, makes, fails, returns and delays (`returning-rail.ts`).
 * @param settings of the rail `upstream` here
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
  return {
    upstream,
    gateway,
    async connected(name) {
      const account = await upstream.newPlatform(name);
      for (const currency of ['USD', 'EUR']) await fund(account, await ownAccount(account, currency), 1_000_000n);
      const platform = await gateway.newPlatform(name, 'PRODUCTION');
      const connections = openConnections(gateway.gateway.payments.database, {
        SECRET_KEY: key,
        SECRET_KEY_FALLBACKS: [],
      });
      const [clientId, secret] = Buffer.from(account.authorization.replace('Basic ', ''), 'base64')
        .toString()
        .split(':');
      const connect = (more: object) =>
        connections.write(
          platform.platformId,
          JSON.stringify({ baseUrl: `${upstream.url}/2025-10-13`, clientId, secret, ...more }),
        );
      await connect({});
      return {
        account,
        platform,
        webhookUrl: `${gateway.url}/rails/Platform:${platform.platformId}/webhooks`,
        connect,
      };
    },
    async stop() {
      await gateway.stop();
      await upstream.stop();
    },
  };
}
