import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, expect, onTestFinished } from 'vitest';
import {
  type EmbeddedOptions,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/infra/database/embedded/embedded.ts';
import { temporaryDataDirectory } from './child-gateway.ts';

/** Gives each test in a file its own data directory. After each test, stops its processes and removes its files. */
export class EmbeddedServers {
  parent = '';
  dataDir = '';
  readonly #servers: EmbeddedPostgres[] = [];
  readonly #processes: ChildProcess[] = [];
  #usedElsewhere = false;

  constructor() {
    beforeEach(async () => {
      this.parent = await mkdtemp(join(tmpdir(), 'payments-embedded-test-'));
      await chmod(this.parent, 0o711);
      this.dataDir = join(this.parent, 'data');
    });
    afterEach(() => this.#clear());
  }

  async start(options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedPostgres> {
    const server = await startEmbeddedPostgres({ dataDir: this.dataDir, durable: false, ...options });
    this.#servers.push(server);
    return server;
  }

  /**
   * Starts the embedded server from a separate process that leads a process group, like a program run in a terminal.
   * Returns the process, the server's URL and process id, and the printed warnings.
   * @param wrapper a command that runs its arguments
   */
  async startInProcess(wrapper: readonly string[] = []) {
    const program = fileURLToPath(new URL('../database/embedded-process.ts', import.meta.url));
    const [command = process.execPath, ...args] = [...wrapper, process.execPath, program, this.dataDir];
    const child = spawn(command, args, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
    this.remember(child);
    this.#usedElsewhere = true;
    const lines = createInterface(child.stdout);
    const [line] = await once(lines, 'line');
    const warnings: string[] = [];
    lines.on('line', (warning) => warnings.push(warning));
    const { url, pid } = JSON.parse(line) as { url: string; pid: number };
    return { process: child, warnings, url, pid };
  }

  /** Kills the process after the test if it is still running. */
  remember(child: ChildProcess): void {
    this.#processes.push(child);
  }

  async #clear(): Promise<void> {
    for (const child of this.#processes.splice(0)) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    }
    // A killed process may have left a server running. `start` joins it, so that the `stop` below stops it.
    if (this.#usedElsewhere) await this.start();
    this.#usedElsewhere = false;
    const started = this.#servers.splice(0);
    for (const server of started) await server.stop();
    for (const { dataDirectory } of started) await rm(dataDirectory, { recursive: true, force: true });
    await rm(this.parent, { recursive: true, force: true });
  }
}

/** Runs one statement on a separate connection and returns its rows. */
export async function query<Row extends object = Record<string, unknown>>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // The server may end the connection at any time; the statement's own error then reports it.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Expects that nothing is listening at this URL any longer. */
export const isDown = (url: string) => expect(query(url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });

/** Returns whether the current user may mount a file system in a separate namespace. */
export function canMount(): boolean {
  return spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
}

/** Returns a command that runs its arguments with a private in-memory disk mounted on the folder. */
export function onDiskOfItsOwn(folder: string, options: string): string[] {
  const mount = `mount -t tmpfs -o ${options} none "$0" && exec "$@"`;
  return ['unshare', '-m', 'sh', '-c', mount, folder];
}

/** Creates a data directory, and removes it when the current test ends. */
export async function ownDataDirectory(): Promise<string> {
  const directory = await temporaryDataDirectory();
  onTestFinished(() => directory.remove());
  return directory.path;
}
