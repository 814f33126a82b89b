import { randomInt } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { natsServersOf } from '../../src/events/relay/nats-address.ts';
import { survive } from '../faults/survive.ts';
import { type FanOutFigures, measureFanOut } from '../setup/fan-out.ts';
import { natsServerVersion, startNatsServer } from '../setup/nats-server.ts';

// A real nats-server between the instances: Debian's package `nats-server`, or another one that NATS_SERVER_PATH names.

const version = natsServerVersion();
if (version === undefined) console.log('skipped: no nats-server is installed, and NATS_SERVER_PATH names none');
else console.log({ 'nats-server': version });
const here = test.runIf(version !== undefined);

/** How often each fault happens. */
const times = Number(process.env.RELAY_FAULTS ?? 5);
const seed = Number(process.env.FAULT_SEED ?? randomInt(1_000_000));

here(
  'whatever happens to the relay, nothing is lost or doubled, and it carries events again',
  { timeout: 3_600_000 },
  () =>
    survive({
      seed,
      relay: true,
      instances: 3,
      clients: 8,
      followers: 6,
      commandsBetween: 50,
      faults: {
        'kill -9 of the relay': times,
        'kill -9 of the relay, and loss of its store': times,
        'pause of the relay': times,
        'cut of one way to the relay': times,
        'cut of all connections to the relay': times,
        'black-holed connection to the relay': times,
        'black-holed connections of all instances to the relay': times,
        'kill -9 of an instance': times,
        'end of all connections by Postgres': times,
        'immediate stop of Postgres': Math.ceil(times / 5),
      },
    }),
);

const perSecond = Number(process.env.FAN_OUT_PER_SECOND ?? 500);
const seconds = Number(process.env.FAN_OUT_SECONDS ?? 20);
const instances = (process.env.FAN_OUT_INSTANCES ?? '3,6').split(',').map(Number);
const rounds = Number(process.env.FAN_OUT_ROUNDS ?? 2);

here.each(instances)('%i instances, with a relay and without one, in turns', { timeout: 3_600_000 }, async (count) => {
  const fanOut = { instances: count, perSecond, seconds, changes: 'payments' } as const;
  const print = (name: string, figures: FanOutFigures) => console.log(name, JSON.stringify(figures));
  for (let round = 0; round < rounds; round += 1) {
    print(`${count} instances, without`, await measureFanOut(fanOut));
    const nats = await startNatsServer();
    const figures = await measureFanOut({
      ...fanOut,
      settings: { NATS_URL: natsServersOf(nats.url) },
      beside: { 'nats-server': nats.pid },
      warm: (gateways) =>
        vi.waitFor(() => expect(gateways.every(({ gateway }) => gateway.feed.relayFigures?.isUp)).toBe(true), {
          timeout: 10_000,
        }),
    });
    print(`${count} instances, with a relay`, figures);
    expect(figures.relayed).toBeGreaterThan(0);
    await nats.stop();
  }
});
