import { setTimeout as delay } from 'node:timers/promises';
import { setClockBack, setClockForward } from '../setup/clock-jumps.ts';
import { anyCommit, type DatabaseProxy } from '../setup/database-proxy.ts';
import { query } from '../setup/embedded-servers.ts';
import type { PgBouncer } from '../setup/pgbouncer.ts';
import type { Instance } from './instances.ts';
import type { Load } from './load.ts';
import type { Disk, DoomedPostgres } from './postgres.ts';
import type { Random } from './random.ts';

/** What faults happen to. */
export interface Surroundings {
  readonly load: Load;
  readonly instances: readonly Instance[];
  readonly postgres: DoomedPostgres;
  /** The connection pooler that the instances use, where there is one. */
  readonly pooler: PgBouncer | undefined;
  /** The way of all instances to the replica, where there is one. */
  readonly replica: DatabaseProxy | undefined;
  /** The database, without a proxy in between. */
  readonly databaseUrl: string;
  readonly random: Random;
}

/** Ends a fault: killed processes run again, and cut connections are restored. */
type Heal = () => Promise<void> | void;

export interface Fault {
  /** Lets it happen, and returns what ends it. */
  inject(around: Surroundings): Promise<Heal>;
  /** Whether others may follow before it has ended. */
  readonly overlaps?: boolean;
  /** Why it cannot be tried here; undefined where it can. */
  unavailable?(postgres: DoomedPostgres): string | undefined;
}

/** So many attempts of callers must have met a fault before it ends. */
const met = 3;
/** So many commands go past a part that hangs before it goes on. */
const past = 5;

const nothing: Heal = () => undefined;
const backends = `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;

/** Waits until another instance serves, and chooses one that does. */
async function anyInstance({ instances, random }: Surroundings): Promise<Instance> {
  for (;;) {
    const up = instances.filter(({ isUp }) => isUp);
    if (up.length >= Math.min(2, instances.length)) return random.oneOf(up);
    await delay(5);
  }
}

/** Waits until each order to the rail that is under way now has come to its end. Those that wait for approval are due much later. */
async function nothingLeftOf(databaseUrl: string): Promise<void> {
  const underWay = "select id from rail_order where due_at < now() + interval '1 minute'";
  const orders = await query<{ id: string }>(databaseUrl, underWay);
  const left = `select id from rail_order where due_at is not null and id in ('${orders.map(({ id }) => id).join("', '")}')`;
  while (orders.length > 0 && (await query(databaseUrl, left)).length > 0) await delay(20);
}

/** Waits until a process has read the clock: a step that is undone earlier is invisible. */
async function clockRead(databaseUrl: string): Promise<void> {
  const isRead =
    "select from clock_reading where seen_at between now() - interval '1 minute' and now() + interval '1 minute'";
  while ((await query(databaseUrl, isRead)).length === 0) await delay(10);
}

const needsDisk = ({ disk }: DoomedPostgres) =>
  disk ? undefined : 'only root, on Linux, can mount a disk that becomes full or read-only';

function diskOf({ postgres }: Surroundings): Disk {
  if (!postgres.disk) throw new Error('there is no disk');
  return postgres.disk;
}

export const faults = {
  'kill -9 of an instance': {
    overlaps: true,
    async inject(around) {
      const instance = await anyInstance(around);
      await instance.kill();
      return () => instance.start();
    },
  },
  'kill -9 of all instances at once': {
    async inject({ instances }) {
      await Promise.all(instances.map((instance) => instance.kill()));
      return async () => void (await Promise.all(instances.map((instance) => instance.start())));
    },
  },
  'rolling restart of all instances': {
    async inject({ instances }) {
      for (const instance of instances) await instance.replace();
      return nothing;
    },
  },
  'pause of an instance': {
    async inject(around) {
      const instance = await anyInstance(around);
      instance.pause();
      // It wakes up with payments in its hands that others have long finished.
      await nothingLeftOf(around.databaseUrl);
      return () => instance.goOn();
    },
  },
  'kill -9 of the connection pooler': {
    async inject({ pooler, load }) {
      await pooler?.kill();
      await load.moreDisturbed(met);
      return () => pooler?.start();
    },
  },
  'immediate stop of Postgres': {
    async inject({ postgres }) {
      process.kill(postgres.pid, 'SIGQUIT');
      return () => postgres.back();
    },
  },
  'kill -9 of Postgres': {
    async inject({ postgres }) {
      process.kill(postgres.pid, 'SIGKILL');
      return () => postgres.back();
    },
  },
  'kill -9 of a backend': {
    async inject({ postgres, databaseUrl, random }) {
      const { pid } = random.oneOf(
        await query<{ pid: number }>(databaseUrl, `${backends} and backend_type = 'client backend'`),
      );
      process.kill(pid, 'SIGKILL');
      // The others have shared its memory: the whole server ends, and starts again.
      return () => postgres.back();
    },
  },
  'end of all connections by Postgres': {
    async inject({ databaseUrl }) {
      await query(databaseUrl, `select pg_terminate_backend(pid) from (${backends}) all_backends`);
      return nothing;
    },
  },
  'stalled connections': {
    async inject(around) {
      const { proxy } = await anyInstance(around);
      proxy.stall();
      // Some stalls are over before anybody has given up. New connections are good: few attempts meet a stall.
      await (around.random.oneIn(2) ? around.load.more(past) : around.load.moreDisturbed(1));
      return () => proxy.goOn();
    },
  },
  'black-holed connections': {
    async inject(around) {
      const { proxy } = await anyInstance(around);
      proxy.freeze();
      return () => around.load.moreDisturbed(1);
    },
  },
  'refused connections': {
    async inject(around) {
      const { proxy } = await anyInstance(around);
      proxy.shut();
      await around.load.moreDisturbed(met);
      return () => proxy.reopen();
    },
  },
  'lost answer to a commit': {
    async inject(around) {
      const { proxy } = await anyInstance(around);
      proxy.loseAnswer(anyCommit);
      await proxy.lost();
      return () => proxy.reopen();
    },
  },
  'full disk': {
    unavailable: needsDisk,
    async inject(around) {
      const disk = diskOf(around);
      await disk.fill();
      await around.load.moreDisturbed(met);
      return () => disk.heal();
    },
  },
  'read-only disk': {
    unavailable: needsDisk,
    async inject(around) {
      const disk = diskOf(around);
      await disk.lock();
      await around.load.moreDisturbed(met);
      return () => disk.heal();
    },
  },
  'clock an hour back': {
    async inject({ databaseUrl }) {
      await setClockBack(databaseUrl);
      return () => clockRead(databaseUrl);
    },
  },
  'clock an hour forward': {
    async inject({ databaseUrl }) {
      await setClockForward(databaseUrl);
      return () => clockRead(databaseUrl);
    },
  },
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;
