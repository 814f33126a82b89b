import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { mint } from '../setup/acts.ts';
import { type ChildGateway, startChildGateway } from '../setup/child-gateway.ts';
import { ownGateway, type TestGateway } from '../setup/gateway.ts';
import { type LoadBalancer, startLoadBalancer } from '../setup/load-balancer.ts';
import { newCustomer } from '../setup/scene.ts';
import { type Followed, type StockClient, stockClients } from '../setup/stock-clients.ts';
import { changesAfter, until, writeUntil } from '../setup/torture.ts';

/** Stock clients behind a load balancer with two instances, while these are killed, cut off, frozen and restarted. */

/** Changes per second. */
const rate = 50;
/** How often each disturbance occurs. */
const rounds = Number(process.env.SOAK_ROUNDS ?? 5);

/** Serving instances, in separate processes, behind a load balancer. */
class Fleet {
  readonly #one: TestGateway;
  readonly #balancer: LoadBalancer;
  readonly #instances: ChildGateway[] = [];

  constructor(one: TestGateway, balancer: LoadBalancer) {
    this.#one = one;
    this.#balancer = balancer;
  }

  async start(): Promise<void> {
    const instance = await startChildGateway({
      DATABASE_URL: this.#one.databaseUrl,
      ROLE: 'serve',
      MIGRATE: 'off',
      CORS_ORIGINS: '*',
      CLIENT_TOKEN_KEY: 'a key that only tests use, for nothing else',
    });
    this.#instances.push(instance);
    this.#balancer.add(instance.url);
  }

  /** Ends the oldest instance and starts another in its place. */
  async replace(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const instance = this.#instances.shift();
    if (!instance) throw new Error('no instance');
    this.#balancer.remove(instance.url);
    await instance.end(signal);
    await this.start();
  }

  /** Stops the oldest instance for a while, like a paused machine; its connections stay open. */
  async freeze(ms: number): Promise<void> {
    const [instance] = this.#instances;
    instance?.process.kill('SIGSTOP');
    await delay(ms);
    instance?.process.kill('SIGCONT');
    // The other one is next.
    this.#instances.push(...this.#instances.splice(0, 1));
  }

  async stop(): Promise<void> {
    for (const instance of this.#instances) await instance.end('SIGTERM');
  }
}

const disturbances: Readonly<Record<string, (fleet: Fleet, balancer: LoadBalancer) => Promise<void>>> = {
  kill: (fleet) => fleet.replace('SIGKILL'),
  cut: async (_fleet, balancer) => balancer.cut(),
  freeze: (fleet) => fleet.freeze(5_000),
  'rolling restart': async (fleet) => {
    for (let at = 0; at < 2; at += 1) await fleet.replace('SIGTERM');
  },
};

interface Following {
  readonly client: StockClient;
  readonly seen: string[];
  readonly end: () => unknown;
}

test('stock clients lose and reorder nothing while instances are killed, cut off, frozen and restarted', async () => {
  const one = await ownGateway({ CORS_ORIGINS: ['*'] });
  const balancer = await startLoadBalancer();
  const fleet = new Fleet(one, balancer);
  for (let at = 0; at < 2; at += 1) await fleet.start();
  const customerId = await newCustomer(one.platform);
  const { token } = await mint(one.platform, { customerId, expiresInSeconds: 3_600 });
  const { platformId } = one.platform;

  const rows: string[] = [];
  for (const [name, disturb] of Object.entries(disturbances)) {
    const start: string = (await one.platform.ask('{ viewer { feedCursor } }')).viewer.feedCursor;
    let isWriting = true;
    const writing = writeUntil(() => !isWriting, one.databaseUrl, platformId, [customerId], rate);
    const following: Following[] = await Promise.all(
      stockClients.map(async (client) => {
        const seen: string[] = [];
        const followed: Followed = {
          ...{ url: balancer.url, authorization: `Bearer ${token}`, customerId },
          note: (id) => seen.push(id),
        };
        return { client, seen, end: await client.follow(followed) };
      }),
    );
    const all = (isSo: (one: Following) => boolean) =>
      until(
        () => following.every(isSo),
        () => countOf(following),
      );
    await all(({ seen }) => seen.length > 0);
    for (let round = 0; round < rounds; round += 1) {
      await disturb(fleet, balancer);
      // Until each has reconnected.
      const newest = (await changesAfter(one.databaseUrl, platformId, start)).at(-1)?.id ?? '';
      await all(({ seen }) => seen.includes(newest));
    }
    isWriting = false;
    await writing;
    const events = (await changesAfter(one.databaseUrl, platformId, start)).map(({ id }) => id);
    await all(({ seen }) => seen.includes(events.at(-1) ?? ''));
    for (const { client, seen, end } of following) {
      await end();
      const wanted = events.slice(events.indexOf(seen[0] ?? ''));
      const distinct = new Set(seen);
      const lost = wanted.filter((id) => !distinct.has(id)).length;
      rows.push(
        `| ${client.name} | ${name} | ${wanted.length} | ${seen.length} | ${seen.length - distinct.size} | ${lost} | ${client.code} |`,
      );
      expect.soft([...distinct], `${client.name} through ${name}`).toEqual(wanted);
    }
    console.log(rows.slice(-following.length).join('\n'));
  }
  console.log(
    [
      '| Client | Disturbed by | Sent | Received | Repeated | Lost | Code |',
      '|---|---|---|---|---|---|---|',
      ...rows.toSorted(),
    ].join('\n'),
  );
  await fleet.stop();
  await balancer.close();
});

function countOf(following: readonly Following[]): number {
  return following.reduce((sum, { seen }) => sum + seen.length, 0);
}
