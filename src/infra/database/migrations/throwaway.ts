import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withClient } from '../advisory-lock.ts';
import { startEmbeddedPostgres } from '../embedded/embedded.ts';
import { signal } from '../embedded/embedded-location.ts';

/** Starts an embedded server for one task. Its files are removed by `stop`, or when the process exits. */
export async function startThrowawayPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'payments-graphql-gateway-'));
  // Other users must be able to enter the folder: if this process is root, the server runs as another user.
  await chmod(dataDir, 0o711);
  const server = await startEmbeddedPostgres({ dataDir, durable: false });
  const remove = () => {
    for (const folder of [server.dataDirectory, dataDir]) rmSync(folder, { recursive: true, force: true });
  };
  const kill = () => {
    signal(server.pid, 'SIGQUIT');
    remove();
  };
  process.once('exit', kill);
  return {
    url: server.url,
    async stop() {
      process.removeListener('exit', kill);
      await server.stop();
      remove();
    },
  };
}

export type ThrowawayDatabase = Awaited<ReturnType<typeof createThrowawayDatabase>>;

/** Creates a database for one task by copying `template`, to which no other session may be connected at the time. */
export async function createThrowawayDatabase(serverUrl: string, template = 'template0') {
  const name = `throwaway_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await execute(serverUrl, `create database ${name} template ${template} strategy file_copy`);
  return { url: url.href, drop: () => execute(serverUrl, `drop database ${name} with (force)`) };
}

export async function execute(databaseUrl: string, sql: string): Promise<void> {
  await withClient(databaseUrl, (client) => client.query(sql));
}
