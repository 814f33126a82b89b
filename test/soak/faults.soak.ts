import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { hasControlGroups, memoryGroup } from '../faults/control-groups.ts';
import { findViolations, type Survival, survive } from '../faults/survive.ts';

const setting = (name: string, usual: number) => Number(process.env[name] ?? usual);
/** Determines the order of faults and what each client does. Set FAULT_SEED to repeat a run as far as timing allows. */
const seed = setting('FAULT_SEED', randomInt(1_000_000));
const kills = setting('FAULT_KILLS', 1_000);
const crashes = setting('FAULT_CRASHES', 200);
const others = setting('FAULT_OTHERS', 10);
const share = (count: number, part: number) => Math.ceil(count * part);

const usual = { seed, clients: 8, followers: 4, commandsBetween: 5, limited: true } satisfies Partial<Survival>;
const timeout = 7_200_000;

const trials: Readonly<Record<string, Omit<Survival, keyof typeof usual>>> = {
  'three instances that are killed, restarted and paused lose and duplicate nothing': {
    instances: 3,
    faults: {
      'kill -9 of an instance': kills,
      'kill -9 of all instances at once': share(kills, 0.01),
      'rolling restart of all instances': share(kills, 0.01),
      'pause of an instance': share(kills, 0.01),
    },
  },
  'a Postgres that crashes or is cut off from two instances loses and duplicates nothing': {
    instances: 2,
    faults: {
      'immediate stop of Postgres': share(crashes, 0.3),
      'kill -9 of Postgres': share(crashes, 0.2),
      'kill -9 of a backend': share(crashes, 0.15),
      'end of all connections by Postgres': share(crashes, 0.15),
      'stalled connections': share(crashes, 0.05),
      'black-holed connections': share(crashes, 0.05),
      'refused connections': share(crashes, 0.05),
      'lost answer to a commit': share(crashes, 0.05),
    },
  },
  'full or read-only disks and clock jumps lose and duplicate nothing': {
    instances: 2,
    faults: {
      'full disk': others,
      'read-only disk': others,
      'clock an hour back': others,
      'clock an hour forward': others,
    },
  },
  'a slow disk loses and duplicates nothing': { instances: 2, slowDisk: true, faults: { 'slow disk': others } },
  'a database whose name cannot be resolved loses and duplicates nothing': {
    ...{ instances: 2, namedDatabase: true },
    faults: { 'name server that does not know the database': others, 'silent name server': others },
  },
};

test.each(Object.entries(trials))('%s', { timeout }, (_promise, trial) => survive({ ...usual, ...trial }));

test('a rolling restart of two instances makes no command fail', { timeout }, () =>
  survive({
    ...{ ...usual, instances: 2, undisturbed: true, commandsBetween: 200 },
    faults: { 'rolling restart of all instances': share(others, 0.3) },
  }),
);

test.runIf(hasControlGroups())(
  'instances with 400 MiB each are not killed, and lose and duplicate nothing',
  { timeout },
  async () => {
    const groups = [memoryGroup(400), memoryGroup(400)];
    const wrappers = groups.map(({ wrapper }) => wrapper);
    const faults = { 'end of all connections by Postgres': others };
    await survive({ ...usual, instances: 2, clients: 32, commandsBetween: 500, wrappers, faults });
    console.log(`at most ${groups.map((group) => group.mostMebibytes()).join(' and ')} MiB`);
    expect(groups.map((group) => group.kills())).toEqual([0, 0]);
    for (const group of groups) group.remove();
  },
);

test('a Postgres that acknowledges unwritten commits is detected', { timeout }, async () => {
  const faults = { 'immediate stop of Postgres': 10 };
  const violations = await findViolations({ ...usual, instances: 2, durable: false, faults });
  expect(violations.map(({ kind }) => kind)).toContain('lost');
});
