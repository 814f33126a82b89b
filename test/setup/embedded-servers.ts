import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach } from 'vitest';
import { type EmbeddedOptions, type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/database/embedded.ts';

/** Another process that uses an embedded server. */
export interface UserProcess {
  readonly process: ChildProcess;
  readonly url: string;
  /** The server's process. */
  readonly pid: number;
}

/** Gives each test of a file a data directory of its own; after the test all that it started is stopped and removed. */
export class EmbeddedServers {
  /** A folder that every user may enter. */
  parent = '';
  /** A folder below it that does not exist yet. */
  dataDir = '';
  readonly #servers: EmbeddedPostgres[] = [];
  readonly #processes: ChildProcess[] = [];

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

  /** Starts in a process of its own, which leads a process group as a program in a terminal does. */
  async startInProcess(): Promise<UserProcess> {
    const program = fileURLToPath(new URL('../database/embedded-process.ts', import.meta.url));
    const child = spawn(process.execPath, [program, this.dataDir], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.remember(child);
    const [line] = await once(createInterface(child.stdout), 'line');
    return { process: child, ...JSON.parse(line) };
  }

  /** Kills the process after the test if it is still there. */
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
    const started = this.#servers.splice(0);
    for (const server of started) await server.stop();
    for (const { dataDirectory } of started) await rm(dataDirectory, { recursive: true, force: true });
    await rm(this.parent, { recursive: true, force: true });
  }
}

/** Runs one statement on a connection of its own and answers its rows. */
export async function query<Row extends object = Record<string, unknown>>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // The server may end the connection at any moment; the statement's own error tells.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
