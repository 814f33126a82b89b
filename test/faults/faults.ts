import { setTimeout as delay } from 'node:timers/promises';
import { setClockBack } from '../setup/clock-jumps.ts';
import { anyCommit, type DatabaseProxy } from '../setup/database-proxy.ts';
import { query } from '../setup/embedded-servers.ts';
import type { PgBouncer } from '../setup/pgbouncer.ts';
import type { Instance } from './instances.ts';
import type { Load } from './load.ts';
import type { NameServer } from './name-server.ts';
import { type DoomedPostgres, needsDisk } from './postgres.ts';
import type { Random } from './random.ts';

export interface Surroundings {
  readonly load: Load;
  readonly instances: readonly Instance[];
  readonly postgres: DoomedPostgres;
  readonly pooler: PgBouncer | undefined;
  readonly replica: DatabaseProxy | undefined;
  readonly names: NameServer | undefined;
  /** The database's own address, without a proxy. */
  readonly databaseUrl: string;
  readonly random: Random;
}

/** Ends a fault, for example by restarting the killed processes. */
type Heal = () => Promise<void> | void;

export interface Fault {
  /** Injects the fault. Returns a function that ends it. */
  inject(around: Surroundings): Promise<Heal>;
  /** Whether other faults may be injected before this one has ended. */
  readonly overlaps?: boolean;
  /** Returns why the fault cannot be injected on this machine, or undefined if it can. */
  unavailable?(around: Surroundings): string | undefined;
}

/** How many client attempts a fault must disturb before it ends. */
const met = 3;
/** How many commands must be acknowledged during a stall before it ends. */
const past = 5;
/** How many writes per second a slow disk allows. A commit needs one or two. */
const slowWrites = 10;

const nothing: Heal = () => undefined;
const backends = `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;

const endAll = (databaseUrl: string) =>
  query(databaseUrl, `select pg_terminate_backend(pid) from (${backends}) all_backends`);

async function anyInstance({ instances, random }: Surroundings): Promise<Instance> {
  for (;;) {
    const up = instances.filter(({ isUp }) => isUp);
    if (up.length >= Math.min(2, instances.length)) return random.oneOf(up);
    await delay(5);
  }
}

/** Waits until every order that is due within a minute has ended. Orders waiting for approval are due later. */
async function nothingLeftOf(databaseUrl: string): Promise<void> {
  const underWay = "select id from rail_order where due_at < now() + interval '1 minute'";
  const orders = await query<{ id: string }>(databaseUrl, underWay);
  const left = `select id from rail_order where due_at is not null and id in ('${orders.map(({ id }) => id).join("', '")}')`;
  while (orders.length > 0 && (await query(databaseUrl, left)).length > 0) await delay(20);
}

/** Waits until a process has read the clock, because a clock step that is undone before that would go unnoticed. */
async function clockRead(databaseUrl: string): Promise<void> {
  const isRead =
    "select from feed_epoch where seen_at between now() - interval '1 minute' and now() + interval '1 minute'";
  while ((await query(databaseUrl, isRead)).length === 0) await delay(10);
}

const diskThat = (fault: 'fill' | 'lock'): Fault => ({
  unavailable: ({ postgres }) => needsDisk(postgres),
  async inject({ postgres: { disk }, load }) {
    await disk?.[fault]();
    await load.moreDisturbed(met);
    return () => disk?.heal();
  },
});

const postgresGets = (signal: NodeJS.Signals): Fault => ({
  async inject({ postgres }) {
    process.kill(postgres.pid, signal);
    return () => postgres.back();
  },
});

/** A clock jump that lasts until a process has read the clock. */
const clockGoesBack = (by?: string): Fault => ({
  async inject({ databaseUrl }) {
    await setClockBack(databaseUrl, by);
    return () => clockRead(databaseUrl);
  },
});

/** A failure of the name server while the instances have to reconnect. */
const nameServerThat = (mode: 'knows nothing' | 'silent'): Fault => ({
  unavailable: ({ names }) => (names ? undefined : 'only root, on Linux, can replace the name server'),
  async inject({ names, load, databaseUrl }) {
    if (!names) throw new Error('there is no name server');
    names.mode = mode;
    await endAll(databaseUrl);
    await load.moreDisturbed(met);
    return () => {
      names.mode = 'answers';
    };
  },
});

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
      // When the instance continues, it still has payments in memory that other instances completed long ago.
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
  'immediate stop of Postgres': postgresGets('SIGQUIT'),
  'kill -9 of Postgres': postgresGets('SIGKILL'),
  'kill -9 of a backend': {
    async inject({ postgres, databaseUrl, random }) {
      const { pid } = random.oneOf(
        await query<{ pid: number }>(databaseUrl, `${backends} and backend_type = 'client backend'`),
      );
      process.kill(pid, 'SIGKILL');
      // The other backends share memory with the killed one, so the entire server restarts.
      return () => postgres.back();
    },
  },
  'end of all connections by Postgres': {
    async inject({ databaseUrl }) {
      await endAll(databaseUrl);
      return nothing;
    },
  },
  'stalled connections': {
    async inject(around) {
      const { proxy } = await anyInstance(around);
      proxy.stall();
      // Some stalls end before any client has given up, the others once one attempt has been disturbed. New connections
      // still work, so few attempts are affected.
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
  'full disk': diskThat('fill'),
  'read-only disk': diskThat('lock'),
  'slow disk': {
    unavailable: ({ postgres }) => (postgres.slowDisk ? undefined : 'only root, with control groups, can slow a disk'),
    async inject({ postgres, load }) {
      postgres.slowDisk?.limit(slowWrites);
      await load.more(past);
      await load.moreDisturbed(1);
      return () => postgres.slowDisk?.limit(undefined);
    },
  },
  'name server that does not know the database': nameServerThat('knows nothing'),
  'silent name server': nameServerThat('silent'),
  'clock an hour back': clockGoesBack(),
  'clock an hour forward': clockGoesBack(`interval '-1 hour'`),
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;
