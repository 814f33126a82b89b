import { Socket } from 'node:net';
import pg from 'pg';
import { singleFlight } from '../../instruments/single-flight.ts';
import { hasSpan } from '../../instruments/spans.ts';
import { firstServer, type Server, serversOf } from './address.ts';
import type { Connection } from './platform-statement.ts';
import { trackStatements } from './statement-names.ts';
import { checkParameters, TextQuery } from './text-reads.ts';
import { traceQuery } from './traced-query.ts';

/** How long a server may take to report whether it is writable, in milliseconds. */
const answerMs = 2_000;

const probe = `select not (pg_is_in_recovery() or current_setting('transaction_read_only')::boolean) as writable`;

/** Finds the primary among the hosts in an address, before the first connection and after a failed one. */
export type Hosts = ReturnType<typeof openHosts>;

const known = new Map<string, Hosts>();

/** Returns the `Hosts` shared by all connections to an address, or undefined if the address has only one host. */
export function hostsOf(address: string): Hosts | undefined {
  const servers = serversOf(address);
  if (servers.length < 2) return undefined;
  const hosts = known.get(address) ?? openHosts(firstServer(address), servers);
  known.set(address, hosts);
  return hosts;
}

function openHosts(address: string, servers: readonly Server[]) {
  let primary: Server | undefined;
  const find = singleFlight(async () => {
    let readable: Server | undefined;
    const probes = servers.map(async (server) => {
      if (await isWritable(address, server)) return server;
      readable ??= server;
      throw new Error(`${server.host}:${server.port} is read-only`);
    });
    try {
      primary = await Promise.any(probes);
      return primary;
    } catch (error) {
      if (readable) return readable;
      throw error instanceof AggregateError ? error.errors[0] : error;
    }
  });
  return {
    /** Returns the writable server, or a read-only one if none is writable. Throws if none responds. */
    primary: async () => primary ?? find(),
    /** Makes the next connection look for the primary again, because the last one has failed or is read-only. */
    suspect() {
      primary = undefined;
    },
  };
}

async function isWritable(address: string, server: Server): Promise<boolean> {
  const limits = { connectionTimeoutMillis: answerMs, query_timeout: answerMs };
  const client = Object.assign(new pg.Client({ connectionString: address, ...limits }), server);
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ writable: boolean }>(probe);
    return rows[0]?.writable === true;
  } finally {
    client.end().catch(() => undefined);
  }
}

/** A connection's parameters, and its hosts if the address has several. */
export interface ConnectionConfig extends pg.ClientConfig {
  readonly hosts?: Hosts | undefined;
  /** Set for connections through a pooler in transaction mode: whether the pooler supports prepared statements. */
  readonly pooler?: { readonly prepares: boolean } | undefined;
}

/** A socket that joins corked messages into one buffer. pg corks the messages of each statement. */
class OneBufferSocket extends Socket {
  override _writev(messages: readonly { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    // Writing several buffers would increase a command's CPU time by 10 to 20 % (bench/LOG.md).
    const buffer = Buffer.concat(messages.map(({ chunk }) => chunk));
    // Node itself passes this encoding with buffers, but its type BufferEncoding does not include it.
    this._write(buffer, 'buffer' as BufferEncoding, done);
  }
}

/** A pg client that finds the primary if the address names several hosts. */
export class DatabaseClient extends pg.Client {
  readonly #hosts: Hosts | undefined;
  // pg's types do not declare a client's connection.
  readonly #track = trackStatements(() => (this as unknown as { readonly connection: Connection }).connection);

  constructor(config: ConnectionConfig = {}) {
    super({ stream: () => new OneBufferSocket(), ...config });
    this.#hosts = config.hosts;
    // Without a listener, an early error from the server would crash the process. The next statement reports it anyway.
    this.on('error', () => undefined);
  }

  // The overloads of `query` in pg's types cannot be overridden one by one.
  override query = ((...given: unknown[]) => {
    checkParameters(given);
    return hasSpan() ? traceQuery(given, (values) => this.send(values)) : this.send(given);
  }) as pg.Client['query'];

  protected send(given: readonly unknown[]): unknown {
    const [query] = given;
    if (query instanceof TextQuery) for (const { name } of query.reads) this.#track(name);
    else this.#track((query as pg.QueryConfig).name);
    return Reflect.apply(super.query, this, given);
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const connected = this.#hosts ? this.#connectTo(this.#hosts) : super.connect();
    if (!callback) return connected;
    connected.then(() => (callback as (error: Error | null) => void)(null), callback);
    return undefined;
  }

  async #connectTo(hosts: Hosts): Promise<pg.Client> {
    // Sets the host and the port, which pg reads only when it connects.
    Object.assign(this, await hosts.primary());
    try {
      return await super.connect();
    } catch (error) {
      hosts.suspect();
      throw error;
    }
  }
}
