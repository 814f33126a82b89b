import { inject } from 'vitest';
import { freshDatabase } from '../../setup/database.ts';
import { query } from '../../setup/embedded-servers.ts';
import { connect, type Data, type TestPlatform, uuidIn } from '../../setup/gateway.ts';
import { typeIn } from '../../setup/ops.ts';
import { usAccount } from '../../setup/scene.ts';
import { createEndpoint } from '../../webhooks/endpoint.ts';
import type { Random } from '../random.ts';
import type { Payer } from './acts.ts';
import { paymentIds, present } from './read-books.ts';
import { type Side, startSide } from './sides.ts';
import { startTroubledProxy } from './troubled-proxy.ts';

/** A gateway and its upstream service, which communicate through proxies that disrupt messages. */
export type TwoSides = Awaited<ReturnType<typeof startTwoSides>>;

export const platformName = 'gateway';

/** More than a client spends in total. */
const money = 1_000_000_000n;

const rails = {
  here: {
    PRODUCTION: {
      module: 'upstream',
      settings: { pollMs: 1_000, watchMs: 10_000, identityMs: 1_000, expectedMs: 100 },
    },
  },
  upstream: { SANDBOX: { module: './test/rails/returning-rail.ts', settings: { returnMs: 2_000 } } },
};

/** Starts both sides, connects them as described in docs/rails.md, and creates a customer for each client. */
export async function startTwoSides(
  { clients, instances, oneIn }: { readonly clients: number; readonly instances: number; readonly oneIn: number },
  random: Random,
) {
  const server = inject('server').url;
  const databases = [await freshDatabase(), await freshDatabase()] as const;
  const [here, upstream] = await Promise.all([
    startSide(server, databases[0], { RAILS: JSON.stringify(rails.here) }, instances),
    startSide(server, databases[1], { RAILS: JSON.stringify(rails.upstream) }, 1),
  ]);
  const toUpstream = await startTroubledProxy(() => upstream.url, random, oneIn);
  const toHere = await startTroubledProxy(() => here.url, random, oneIn);
  const by = ['--by', 'Ada', '--reason', 'a trial'];
  const account = await upstream.ops('platform', 'create', platformName, '--sandbox', ...by);
  const platform = await here.ops('platform', 'create', platformName, ...by);
  const of =
    (side: Side, { id, authorization }: Data) =>
    () =>
      side.url === undefined ? undefined : connect(side.url, uuidIn(id), authorization);
  const [asAccount, asPlatform] = [of(upstream, account), of(here, platform)];
  const [there, mine] = [present(asAccount()), present(asPlatform())];

  for (const currency of ['USD', 'EUR']) await there.fund(await there.ownAccount(currency), money);
  const { secret } = await createEndpoint(there, { url: `${toHere.url}/rails/${platform.id}/webhooks` });
  await connectRail(here, { ...account, webhookSecret: secret, baseUrl: `${toUpstream.url}/2025-10-13` });
  toUpstream.pause();
  const bank = await there.externalAccount(undefined, 'USD', usAccount('7654321000'));
  const payers: Payer[] = [];
  for (let made = 0; made < clients; made += 1) payers.push(await makePayer(upstream, there, mine, made));
  await nameOwnMoney(here);
  toUpstream.goOn();
  return {
    ...{ here, upstream, payers },
    /** Connects as the gateway's platform or as its upstream account. Returns undefined while no instance is up. */
    ...{ platform: asPlatform, account: asAccount },
    ways: [toUpstream, toHere],
    /** Connects to the same upstream account at a different address. */
    accountAt: (url: string) => connect(url, there.platformId, there.authorization),
    asking: { platform: asPlatform, account: asAccount, bank },
    /** The payments that existed before the clients began. */
    first: await paymentIds(here.databaseUrl),
    /** The end of the platform's feed after the setup. The checker considers only later changes. */
    start: await mine.feedEnd(),
    begin: new Date(Date.now() - 3_600_000),
    async stop() {
      await Promise.all([here.stop(), upstream.stop()]);
      await Promise.all([toUpstream.close(), toHere.close()]);
      for (const database of databases) await database.drop();
    },
  };
}

async function connectRail(here: Side, { baseUrl, clientId, secret, webhookSecret }: Data): Promise<void> {
  typeIn(JSON.stringify({ baseUrl, clientId, secret, webhookSecret }));
  await here.ops('rails', 'connect', platformName);
}

/** Account number suffixes that make payments fail (src/rails/sandbox/README.md). */
const failing = ['002', '003', '004', '006'];

async function makePayer(
  upstream: Side,
  account: TestPlatform,
  platform: TestPlatform,
  number: number,
): Promise<Payer> {
  const scene = await platform.makeScene(0n);
  await platform.bringIn(scene, money);
  const accounts: string[] = [];
  for (const suffix of failing) {
    const details = usAccount(`${8_000_000 + number}${suffix}`);
    accounts.push(await platform.externalAccount(scene.customerId, 'USD', details));
  }
  const [customer] = await query<{ id: string }>(
    upstream.databaseUrl,
    `select id from customer where platform_customer_id like '${uuidIn(scene.customerId)}-%'`,
  );
  const depositsTo = await account.internalAccount(`Customer:${customer?.id}`, 'USD');
  return { scene, failing: accounts, depositsTo };
}

/** Records the difference between the upstream balance and the books as the platform's own money. */
async function nameOwnMoney(here: Side): Promise<void> {
  const period = ['--from', '2020-01-01T00:00:00Z', '--to', '2100-01-01T00:00:00Z'];
  await here.ops('rails', 'reconcile', platformName, ...period);
  for (const { difference } of await here.ops('reconcile', 'list')) {
    await here.ops('reconcile', 'close', difference, '--by', 'Ada', '--reason', 'our own money');
  }
}
