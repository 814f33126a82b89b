import { randomInt } from 'node:crypto';
import { test } from 'vitest';
import { survive } from '../faults/survive.ts';
import { natsServerVersion } from '../setup/nats-server.ts';

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
