import { randomBytes } from 'node:crypto';
import { afterAll } from 'vitest';
import { connectedRail } from '../../src/domain/commands/command.ts';
import { reconcile } from '../../src/domain/reconciliation/differences.ts';
import { parseRailSettings } from '../../src/rails/rail-settings.ts';
import type { GatewaySettings } from '../../src/server/config.ts';
import { openConnections } from '../../src/server/gateway.ts';
import { type Data, startTestGateway, type TestPlatform, uuidIn, withoutTriggers } from '../setup/gateway.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { passWebhookTo, type Receiver, startReceiver } from '../webhooks/receiver.ts';

/** A gateway and the upstream service behind it, which is another gateway. */
export type TwoGateways = Awaited<ReturnType<typeof startTwoGateways>>;

/** Returns the client id and the secret from a request's Authorization header. */
export function credentialsIn(authorization: string): { clientId: string; secret: string } {
  const [clientId = '', secret = ''] = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':');
  return { clientId, secret };
}

/** Starts both gateways. `settings` are for the rail on this side. The upstream can fail, return and delay payments. */
export async function startTwoGateways(settings: object, overrides: Partial<GatewaySettings> = {}) {
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
    /** The settings that operators' commands need to reach the gateway's rail. */
    environment: { SECRET_KEY: key.toString('base64'), RAILS: JSON.stringify({ PRODUCTION: { module: 'upstream' } }) },
    /** Connects a new platform to its own upstream account, which holds `amount` in both USD and EUR. */
    async connected(name: string, amount = 1_000_000n) {
      const account = await upstream.newPlatform(name);
      if (amount > 0n)
        for (const currency of ['USD', 'EUR']) await account.fund(await account.ownAccount(currency), amount);
      const platform = await gateway.newPlatform(name, 'PRODUCTION');
      const connections = openConnections(payments.database, { SECRET_KEY: key, SECRET_KEY_FALLBACKS: [] });
      const connection = { baseUrl: `${upstream.url}/2025-10-13`, ...credentialsIn(account.authorization) };
      /** Stores the connection again, with the fields of `more` added. */
      const connect = (more: object) =>
        connections.write(platform.platformId, JSON.stringify({ ...connection, ...more }));
      await connect({});
      /** The URL to which the upstream service posts the platform's webhooks. */
      const webhookUrl = `${gateway.url}/rails/Platform:${platform.platformId}/webhooks`;
      /** Returns the platform's upstream balances, in each currency's smallest unit. */
      const held = async () => {
        const of = async (currency: string) => account.balanceOf(await account.ownAccount(currency));
        return { USD: await of('USD'), EUR: await of('EUR') };
      };
      /** Returns the balance of an account on this side, and the platform's balances upstream. */
      const both = async (id: string) => ({ here: await platform.balanceOf(id), there: await held() });
      return { account, platform, webhookUrl, connect, held, both };
    },
    /** Compares a platform's ledger with the upstream service's, from one hour ago to one hour from now. */
    compare({ platformId }: TestPlatform) {
      const period = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) };
      return reconcile(payments, { platformId, environment: 'PRODUCTION' }, period);
    },
    /** Changes rows in the upstream database, even those protected by triggers. */
    spoil: (text: string, ...values: unknown[]) =>
      withoutTriggers(upstream.databaseUrl, (client) => client.query(text, values)),
    rail({ platformId }: TestPlatform) {
      const rail = connectedRail(payments, { platformId, environment: 'PRODUCTION' });
      if (!rail) throw new Error('no rail');
      return rail;
    },
    /** Returns the upstream id of an external account registered on this side. */
    async accountThere({ platformId }: TestPlatform, id: string) {
      const text = "select id from account where platform_id = $1 and kind = 'EXTERNAL' and platform_account_id = $2";
      const { rows } = await upstream.owner.query(text, [platformId, uuidIn(id)]);
      return `ExternalAccount:${rows[0].id}`;
    },
    /** Returns the id of the upstream customer most recently created for a customer on this side. */
    async customerThere(id: string) {
      const text = 'select id from customer where platform_customer_id like $1 order by id desc limit 1';
      return `Customer:${(await upstream.owner.query(text, [`${uuidIn(id)}-%`])).rows[0].id}`;
    },
    /** Returns a quote on this side, and the upstream quote that locks its rate (with its receiver and customer). */
    async quotesOf(id: string): Promise<{ readonly here: Data; readonly there: Data }> {
      const { rows } = await gateway.owner.query('select * from quote where id = $1', [uuidIn(id)]);
      const there = await upstream.owner.query(
        `select q.*, l.uma_address, c.platform_customer_id from quote q left join lookup l on l.id = q.lookup_id
         left join customer c on c.id = q.customer_id where q.id = $1`,
        [uuidIn(rows[0].rate_lock.reference)],
      );
      return { here: rows[0], there: there.rows[0] };
    },
    /** Returns the ids of a payment's orders on this side, oldest first. */
    async ordersOf(transactionId: string): Promise<string[]> {
      const text = 'select id from rail_order where transaction_id = $1 order by created_at';
      return (await gateway.owner.query(text, [uuidIn(transactionId)])).rows.map(({ id }) => id);
    },
    async stop() {
      await gateway.stop();
      await upstream.stop();
    },
  };
}

/** Connects a platform through a relay that forwards each upstream webhook `times` times, or withholds it. */
export async function testRelay(two: TwoGateways, times = 1) {
  const shop = await two.connected('shop');
  const passOn: Receiver['answer'] = (response, received) => {
    Promise.all(Array.from({ length: times }, () => passWebhookTo(shop.webhookUrl, received))).then(
      ([first]) => response.writeHead(first?.status ?? 0).end(),
      () => response.destroy(),
    );
  };
  const holdBack: Receiver['answer'] = (response) => response.writeHead(202).end();
  const relay = await startReceiver(passOn);
  afterAll(() => relay.stop());
  const { secret } = await createEndpoint(shop.account, { url: relay.url });
  await shop.connect({ webhookSecret: secret });
  return { shop, secret, relay, passOn, holdBack };
}

/** Starts both gateways for a test file, and stops them after its last test. */
export async function testTwoGateways(...given: Parameters<typeof startTwoGateways>): Promise<TwoGateways> {
  const two = await startTwoGateways(...given);
  afterAll(() => two.stop());
  return two;
}
