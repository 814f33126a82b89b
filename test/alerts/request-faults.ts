import { simulatedDomain } from '../../src/rails/rail-parts.ts';
import { lookUp } from '../setup/acts.ts';
import { requests, type Stage, type StagedFault, session } from './staged-fault.ts';

const address = (currency: string) => `$success.${currency}@${simulatedDomain}`;

/** Looks up a receiver, and returns a function that reads the lookup again. */
async function readingLookups({ other }: Stage) {
  const { id } = await lookUp(other, address('usd'));
  return () => other.send('query ($id: ID!) { node(id: $id) { id ... on Lookup { umaAddress } } }', { id });
}

/** Faults that only requests encounter. The requests of the load use other tables. */
export const requestFaults: Readonly<Record<string, StagedFault>> = {
  'locked table': {
    staged: 'a person locks a table by hand, and 31 requests at a time try to read it',
    alerts: ['PaymentsSessionsBlocked', 'PaymentsRequestsSlow', 'PaymentsPoolWaits'],
    async stage(stage) {
      const read = await readingLookups(stage);
      const holder = await session(stage.databaseUrl, 'begin', 'lock table lookup in access exclusive mode');
      const stop = requests(31, read);
      return {
        async end() {
          await holder.end();
          await stop();
        },
      };
    },
  },
  'lost right': {
    staged: 'the login loses its right to read a table, and requests try to read it',
    alerts: ['PaymentsFaults'],
    async stage(stage) {
      const read = await readingLookups(stage);
      await stage.own('revoke select on lookup from gateway_serving');
      const stop = requests(1, read);
      return {
        async end() {
          await stage.own('grant select on lookup to gateway_serving');
          await stop();
        },
      };
    },
  },
  'wrong index': {
    staged: 'a person creates, by hand, a unique index that commands violate',
    alerts: ['PaymentsRacesLost'],
    async stage({ other, own }) {
      await lookUp(other, address('eur'));
      await own(`create unique index by_hand on lookup (platform_id) where uma_address = '${address('eur')}'`);
      const stop = requests(2, () => lookUp(other, address('eur'), { idempotencyKey: crypto.randomUUID() }));
      return {
        async end() {
          await own('drop index by_hand');
          await stop();
        },
      };
    },
  },
  overload: {
    staged: '300 requests at a time for one instance with `MAX_IN_FLIGHT=32`',
    alerts: ['PaymentsLoadRefused'],
    async stage({ other }) {
      const read =
        '{ customers(first: 100) { edges { node { id } } } transactions(first: 100) { edges { node { id } } } }';
      const stop = requests(300, () => other.send(read));
      return { end: stop };
    },
  },
};
