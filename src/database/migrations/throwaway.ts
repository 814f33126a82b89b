import { randomUUID } from 'node:crypto';
import { rmSync, statfsSync } from 'node:fs';
import { chmod, mkdtemp } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { withClient } from '../advisory-lock.ts';
import { startEmbeddedPostgres } from '../embedded/embedded.ts';

/**
 * Starts an embedded server for one task, with an empty database `payments`. Its files are removed by `stop`, and also
 * when the process exits without it (an interrupted test run).
 */
export async function startThrowawayPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const dataDir = await mkdtemp(join(memoryDisk() ?? tmpdir(), 'payments-graphql-gateway-'));
  // A temporary folder is closed to other users, and where this process is root, another user runs the server.
  await chmod(dataDir, 0o711);
  const server = await startEmbeddedPostgres({ dataDir, durable: false });
  const remove = () => {
    for (const folder of [server.dataDirectory, dataDir]) rmSync(folder, { recursive: true, force: true });
  };
  const kill = () => {
    try {
      process.kill(server.pid, 'SIGQUIT');
    } catch {
      // It has ended already.
    }
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

/**
 * Returns the folder of a disk in memory, where there is one with room: on other disks a tenth of the processor time of all tests
 * goes into making and removing the files of their databases.
 */
function memoryDisk(): string | undefined {
  const folder = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(folder);
    return Math.min(bavail * bsize, freemem()) > roomBytes ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** More than all databases of a run of the tests take. */
const roomBytes = 4 * 1024 ** 3;

/** A database for one task. */
export interface ThrowawayDatabase {
  readonly url: string;
  /** Closes every connection to it and removes it. */
  drop(): Promise<void>;
}

/**
 * Creates a database for one task as a copy of `template`, by default an empty one. Several copies of one template may be
 * made at the same time, but not while anyone is connected to it.
 */
export async function createThrowawayDatabase(serverUrl: string, template = 'template0'): Promise<ThrowawayDatabase> {
  const name = `throwaway_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await execute(serverUrl, `create database ${name} template ${template}`);
  return { url: url.href, drop: () => execute(serverUrl, `drop database ${name} with (force)`) };
}

/** Runs one statement on a separate connection. */
export async function execute(databaseUrl: string, sql: string): Promise<void> {
  await withClient(databaseUrl, (client) => client.query(sql));
}
