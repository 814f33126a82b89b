import { expect, test } from 'vitest';
import { feedEnd, mint } from '../setup/acts.ts';
import { Fleet } from '../setup/fleet.ts';
import { ownGateway } from '../setup/gateway.ts';
import { type LoadBalancer, startLoadBalancer } from '../setup/load-balancer.ts';
import { newCustomer } from '../setup/scene.ts';
import { type Followed, type StockClient, stockClients } from '../setup/stock-clients.ts';
import { changesAfter, until, writeUntil } from '../setup/torture.ts';

/** Stock clients behind a load balancer with two instances, while these are killed, cut off, frozen and restarted. */

/** Changes per second. */
const rate = 50;
/** How often each disturbance occurs. */
const rounds = Number(process.env.SOAK_ROUNDS ?? 5);

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
    const start = await feedEnd(one.platform);
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
