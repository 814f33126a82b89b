import type { Bug } from './plant.ts';

const relayed = 'src/events/relay/relayed-events.ts';
const test = (title: string) => ({ file: 'test/events/relay.test.ts', title });
const archived = {
  file: 'test/work/partitions.test.ts',
  title: 'deliveries that go on stay, and are in no archive; the others outlive their endpoint',
};

/** Bugs in what comes over the relay, and in how partitions are archived. */
export const relayBugs: readonly Bug[] = [
  {
    bug: 'an event of the relay is passed on though those before it have not come',
    file: relayed,
    find: 'first?.sequence !== sequence + 1n ||',
    put: '!first ||',
    caughtBy: test('loses nothing: what it has not brought is read from the database, before what it has'),
  },
  {
    bug: 'an event that the relay brings again is passed on again',
    file: relayed,
    find: 'if (event.sequence <= head) continue;',
    put: '',
    also: [
      { file: relayed, find: '(event) => event.sequence > sequence', put: '() => true' },
      {
        file: relayed,
        find: 'first?.sequence !== sequence + 1n ||',
        put: '!first || first.sequence > sequence + 1n ||',
      },
      {
        file: 'src/events/subscribers.ts',
        find: 'if (event.sequence <= subscriber.position) return false;',
        put: '',
      },
    ],
    caughtBy: test('doubles nothing: an event that it brings again is not passed on again'),
  },
  {
    bug: 'an event of the relay is passed on, of whatever epoch it is',
    file: relayed,
    find: ' || first.epoch !== epoch) return undefined;',
    put: ') return undefined;',
    caughtBy: test('undoes no restore: an event of another epoch or of another server is not passed on'),
  },
  {
    bug: 'an event of the relay is passed on, from whatever server it was read',
    file: 'src/events/feed.ts',
    find: ' || server !== this.#listener.server) return;',
    put: ') return;',
    caughtBy: test('undoes no restore: an event of another epoch or of another server is not passed on'),
  },
  {
    bug: 'a relay that was away is not connected to again',
    file: 'src/events/relay/nats-relay.ts',
    find: 'if (!signal.aborted) await pause(retryMs, signal);',
    put: 'if (!signal.aborted) return;',
    caughtBy: test('may be killed, and come back without what it had stored'),
  },
  {
    bug: 'a delivery that goes on is in the archive, too',
    file: 'prisma/functions/archive_partition.sql',
    find: 'p.platform_id = d.platform_id and p.id = d.id',
    put: 'p.platform_id = d.platform_id and p.id = d.id and false',
    caughtBy: archived,
  },
  {
    bug: 'an archived delivery is deleted with its endpoint',
    file: 'prisma/functions/archive_partition.sql',
    find: "contype = 'f'",
    put: "contype = 'f' and false",
    caughtBy: archived,
  },
];
