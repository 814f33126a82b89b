import { setTimeout as delay } from 'node:timers/promises';
import { type DatabaseProxy, databaseProxy } from '../setup/database-proxy.ts';
import { type NatsServer, startNatsServer } from '../setup/nats-server.ts';
import type { Fault, Surroundings } from './faults.ts';

/** A relay of live events between the instances, and the way of each instance to it. */
export interface FaultyRelay {
  readonly server: NatsServer;
  readonly ways: readonly DatabaseProxy[];
  stop(): Promise<void>;
}

export async function startFaultyRelay(instances: number): Promise<FaultyRelay> {
  const server = await startNatsServer();
  const ways = await Promise.all(Array.from({ length: instances }, () => databaseProxy(server.url)));
  return {
    ...{ server, ways },
    async stop() {
      for (const way of ways) await way.close();
      await server.stop();
    },
  };
}

/** So many commands are acknowledged while the relay is harmed. */
const harmed = 50;

/** Returns figures of each instance that is up. */
async function figuresOf({ instances }: Surroundings) {
  const texts = instances
    .filter(({ isUp, metricsUrl }) => isUp && metricsUrl !== undefined)
    .map(async ({ metricsUrl }) =>
      (await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(10_000) })).text(),
    );
  return (await Promise.all(texts.map((text) => text.catch(() => '')))).map((text) => {
    const figure = (series: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.split(' ')[1],
      );
    return {
      isUp: figure('payments_relay_up') === 1,
      subscriptions: figure('payments_subscriptions'),
      received: figure('payments_relay_events_total{direction="received"}'),
    };
  });
}

/** Waits until every instance that has subscribers gets events over the relay. */
async function carries(around: Surroundings): Promise<void> {
  let before = await figuresOf(around);
  for (;;) {
    await delay(100);
    const now = await figuresOf(around);
    const isSame = now.length === before.length;
    if (!isSame) before = now;
    const done = now.every(
      ({ isUp, subscriptions, received }, at) =>
        isUp && (subscriptions === 0 || received > (before[at]?.received ?? 0)),
    );
    if (isSame && done) return;
  }
}

function relayOf({ relay }: Surroundings): FaultyRelay {
  if (!relay) throw new Error('there is no relay');
  return relay;
}

/** Makes a fault of the relay: it must carry events before, and again afterwards. */
const relayFault = (harm: (relay: FaultyRelay, around: Surroundings) => Promise<() => unknown>): Fault => ({
  async inject(around) {
    await carries(around);
    const heal = await harm(relayOf(around), around);
    await around.load.more(harmed);
    return async () => {
      await heal();
      await carries(around);
    };
  },
});

/** What a relay may do to the feed: nothing. */
export const relayFaults = {
  'kill -9 of the relay': relayFault(async ({ server }) => {
    await server.kill();
    return () => server.start('kept');
  }),
  'kill -9 of the relay, and loss of its store': relayFault(async ({ server }) => {
    await server.kill();
    return () => server.start('lost');
  }),
  'pause of the relay': relayFault(async ({ server: { pid } }) => {
    process.kill(pid, 'SIGSTOP');
    return () => process.kill(pid, 'SIGCONT');
  }),
  'cut of one way to the relay': relayFault(async ({ ways }, { random }) => {
    const way = random.oneOf(ways);
    way.shut();
    return () => way.reopen();
  }),
  'cut of all connections to the relay': relayFault(async ({ ways }) => {
    for (const way of ways) {
      way.shut();
      way.reopen();
    }
    return () => undefined;
  }),
  'black-holed connection to the relay': relayFault(async ({ ways }, { random }) => {
    random.oneOf(ways).freeze();
    return () => undefined;
  }),
  'black-holed connections of all instances to the relay': relayFault(async ({ ways }) => {
    for (const way of ways) way.freeze();
    return () => undefined;
  }),
} satisfies Record<string, Fault>;
