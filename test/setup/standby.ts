import { appendFile, chmod, chown, cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/infra/database/embedded/embedded.ts';
import { makeServingLogin, servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import { migrate } from '../../src/infra/database/migrations/migrate.ts';
import { query } from './embedded-servers.ts';

export type ReplicatedServers = Awaited<ReturnType<typeof startReplicated>>;
export type Standby = ReturnType<typeof standbyOf>;

/** Copies a stopped server to another folder, as a standby of the original. */
async function makeStandby(of: EmbeddedPostgres, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true });
  await cp(of.dataDirectory, to, { recursive: true });
  const { uid, gid } = await stat(path.join(of.dataDirectory, 'data'));
  const data = path.join(to, 'data');
  await rm(path.join(to, 'port'), { force: true });
  await writeFile(path.join(data, 'standby.signal'), '');
  await chmod(data, 0o700);
  for (const name of await readdir(to, { recursive: true })) await chown(path.join(to, name), uid, gid);
  await chown(to, uid, gid);
}

async function follow(data: string, primary: EmbeddedPostgres): Promise<void> {
  const { hostname, port, password } = new URL(primary.url);
  const conninfo = `host=${hostname} port=${port} user=postgres password=${password}`;
  await appendFile(path.join(data, 'data', 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
}

/** Starts a migrated primary and standbys that follow it. Each server keeps its port when it is restarted. */
export async function startReplicated(count: number) {
  const folder = await mkdtemp(path.join(tmpdir(), 'replicated-'));
  await chmod(folder, 0o711);
  const home = path.join(folder, 'primary');
  let primary = await startEmbeddedPostgres({ dataDir: home });
  await migrate(primary.url);
  await makeServingLogin(primary.url);
  await primary.stop();
  const homes = Array.from({ length: count }, (_none, at) => path.join(folder, `standby-${at + 1}`));
  const copies = homes.map((one) => path.join(one, path.relative(home, primary.dataDirectory)));
  for (const copy of copies) await makeStandby(primary, copy);
  primary = await startEmbeddedPostgres({ dataDir: home });
  const standbys: Standby[] = [];
  for (const [at, copy] of copies.entries()) {
    await follow(copy, primary);
    standbys.push(standbyOf(await startEmbeddedPostgres({ dataDir: homes[at] ?? '' })));
  }
  return {
    folder,
    primary,
    standbys,
    async stop() {
      for (const { server } of standbys) await server.stop();
      await primary.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function standbyOf(server: EmbeddedPostgres) {
  return {
    server,
    url: servingUrl(server.url),
    /** Makes the standby fall behind. It still receives WAL, but does not replay it. */
    pause: async () => void (await query(server.url, 'select pg_wal_replay_pause()')),
    resume: async () => void (await query(server.url, 'select pg_wal_replay_resume()')),
    /** Delays the standby's replay of each commit by `ms` milliseconds; 0 ends the delay. */
    async delay(ms: number) {
      await query(server.url, `alter system set recovery_min_apply_delay = ${Math.trunc(ms)}`);
      await query(server.url, 'select pg_reload_conf()');
    },
  };
}
