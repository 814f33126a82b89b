import { randomUUID } from 'node:crypto';
import {
  createThrowawayDatabase,
  execute,
  type ThrowawayDatabase,
} from '../../../src/infra/database/migrations/throwaway.ts';
import { query } from '../../setup/embedded-servers.ts';
import type { Data } from '../../setup/gateway.ts';
import { runOps } from '../../setup/ops.ts';
import { environment } from '../furnish.ts';
import { startInstance } from '../instances.ts';

/** One of two communicating installations, with a backup of its database. */
export type Side = Awaited<ReturnType<typeof startSide>>;

/**
 * Starts an installation on its own database.
 * @param serverUrl the URL of the database server, with the owner's login
 */
export async function startSide(
  serverUrl: string,
  database: ThrowawayDatabase,
  settings: Readonly<Record<string, string>>,
  count: number,
) {
  const name = new URL(database.url).pathname.slice(1);
  const all = { ...environment, ...settings };
  const instances = await Promise.all(Array.from({ length: count }, () => startInstance(database.url, all)));
  let backup: ThrowawayDatabase | undefined;
  const kill = async () => {
    // An instance that is still starting is killed as soon as it is ready.
    await Promise.all(instances.map((instance) => instance.kill()));
    await execute(serverUrl, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    while ((await query(serverUrl, `select from pg_stat_activity where datname = '${name}'`)).length > 0);
  };
  const start = async () => void (await Promise.all(instances.map((instance) => instance.start())));
  const ops = async (...args: string[]): Promise<Data> => {
    const { code, out, err } = await runOps(database.url, ['--json', ...args], all);
    // A comparison that finds differences exits with 1.
    if (code !== 0 && !args.includes('reconcile')) throw new Error(`${args.join(' ')}: ${out} ${err}`);
    return JSON.parse(out);
  };
  return {
    databaseUrl: database.url,
    instances,
    /** The address of an instance that is up, or undefined if there is none. */
    get url() {
      return instances.find(({ isUp }) => isUp)?.url;
    },
    ops,
    /** Kills all instances, copies the database, and starts them again. */
    async backUp() {
      await kill();
      backup = await createThrowawayDatabase(serverUrl, name);
      await start();
    },
    /**
     * Kills all instances, replaces the database with the copy, records the restore, and starts the instances again.
     * @param between is run before the database is replaced, while no instance is using it
     */
    async restore(between: () => Promise<void>) {
      if (!backup) throw new Error('there is no backup');
      await kill();
      await between();
      const lost = `lost_${randomUUID().replaceAll('-', '')}`;
      await execute(serverUrl, `alter database ${name} rename to ${lost}`);
      await execute(serverUrl, `alter database ${new URL(backup.url).pathname.slice(1)} rename to ${name}`);
      await execute(serverUrl, `drop database ${lost}`);
      backup = undefined;
      await ops('restored', '--yes', '--by', 'Ada', '--reason', 'the disk was lost');
      await start();
    },
    async stop() {
      await Promise.all(instances.map((instance) => instance.stop()));
    },
  };
}
