import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { decodeEvents, encodeEvents } from './messages.ts';
import { type NatsAddress, optionsOf } from './nats-address.ts';
import type { Relay, RelayedBatch, RelayReader } from './relay.ts';
import { answerMs, makeStream, passedOnSubject, publishedSubject, wantedSubject } from './stream.ts';
import { Wanted } from './wanted.ts';

/** The header with the name of the database's server. */
const serverHeader = 'Payments-Server';

/** How often a connection must show that it is alive, in milliseconds, and how often in a row it may fail to. */
const pingMs = 5_000;
const mostPings = 2;
/** How many milliseconds to wait before the next attempt to connect, or to find the stream. */
const retryMs = 1_000;
/** How often an instance says which platforms it follows. */
const wantedMs = 5_000;

/** The client library, which only an instance with a relay loads. */
const loadLibrary = async () => {
  const [transport, jetstream] = await Promise.all([import('@nats-io/transport-node'), import('@nats-io/jetstream')]);
  return { ...transport, ...jetstream };
};
type Library = Awaited<ReturnType<typeof loadLibrary>>;

/** A connection whose stream is there. */
interface Open {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly newHeaders: Library['headers'];
  readonly subscriptions: Map<string, Subscription>;
}

/**
 * A relay over NATS JetStream. Publishers send to the stream, which drops what it has had (by message id) and passes the rest on
 * under another subject for each platform. So an instance gets what it follows, and the server needs no consumer for it.
 */
export class NatsRelay implements Relay {
  readonly #address: NatsAddress;
  readonly #log: Logger;
  readonly #wanted = new Wanted();
  readonly #followed = new Set<string>();
  readonly #closing = new AbortController();
  #reader: RelayReader | undefined;
  #open: Open | undefined;
  #running: Promise<void> | undefined;
  #hasWarned = false;
  published = 0;

  constructor(address: NatsAddress, log: Logger) {
    this.#address = address;
    this.#log = log;
  }

  get isUp(): boolean {
    return this.#open !== undefined;
  }

  open(reader: RelayReader): void {
    this.#reader = reader;
    this.#running = this.#run();
  }

  follow(platformId: string): void {
    if (this.#followed.has(platformId)) return;
    this.#followed.add(platformId);
    if (!this.#open) return;
    this.#subscribe(this.#open, platformId);
    this.#sayWanted(this.#open, [platformId]);
  }

  unfollow(platformId: string): void {
    this.#followed.delete(platformId);
    this.#open?.subscriptions.get(platformId)?.unsubscribe();
    this.#open?.subscriptions.delete(platformId);
  }

  isWanted(platformId: string): boolean {
    return this.#wanted.has(platformId);
  }

  publish({ platformId, server, events }: RelayedBatch): void {
    const open = this.#open;
    if (!open) return;
    const most = Math.floor((open.connection.info?.max_payload ?? 0) / 2);
    for (const { id, count, json } of encodeEvents(events, most)) {
      const headers = open.newHeaders();
      headers.set(serverHeader, server);
      open.client
        .publish(publishedSubject(platformId), json, { msgID: id, headers, timeout: answerMs })
        .catch((error: unknown) => this.#fail(open, error));
      this.published += count;
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#open?.connection.close();
    await this.#running;
  }

  /** Connects, for ever: after each end of a connection, and where none comes about. */
  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const closed = await this.#connect();
        if (!signal.aborted) this.#warn(closed ?? new Error('the connection has ended'));
      } catch (error) {
        this.#warn(error);
      }
      if (this.#open) {
        this.#open = undefined;
        this.#reader?.lost();
      }
      if (!signal.aborted) await pause(retryMs, signal);
    }
  }

  /** Opens a connection. Resolves when it has ended, with the reason. */
  async #connect(): Promise<unknown> {
    const library = await loadLibrary();
    const connection = await library.connect({
      ...optionsOf(this.#address, library.credsAuthenticator),
      // A connection that ends is replaced here, in the same way as the first one.
      reconnect: false,
      timeout: answerMs,
      pingInterval: pingMs,
      maxPingOut: mostPings,
      noEcho: true,
      name: 'payments-gateway',
    });
    try {
      if (this.#closing.signal.aborted) return undefined;
      const manager = await library.jetstreamManager(connection, { timeout: answerMs });
      await makeStream(manager);
      this.#use({
        ...{ connection, manager, client: manager.jetstream(), newHeaders: library.headers },
        subscriptions: new Map(),
      });
      return await connection.closed();
    } finally {
      await connection.close();
    }
  }

  #use(open: Open): void {
    const { connection } = open;
    connection.subscribe(wantedSubject, {
      callback: (error, message) => (error ? this.#fail(open, error) : this.#wanted.note(message)),
    });
    for (const platformId of this.#followed) this.#subscribe(open, platformId);
    const sayAll = () => this.#sayWanted(open, [...this.#followed]);
    sayAll();
    const timer = setInterval(sayAll, wantedMs).unref();
    connection.closed().finally(() => clearInterval(timer));
    this.#open = open;
    this.#hasWarned = false;
    this.#log.info({ server: connection.getServer() }, 'the relay is up');
  }

  #subscribe(open: Open, platformId: string): void {
    const subscription = open.connection.subscribe(passedOnSubject(platformId), {
      callback: (error, message) => (error ? this.#fail(open, error) : this.#take(platformId, message)),
    });
    open.subscriptions.set(platformId, subscription);
  }

  #take(platformId: string, message: Msg): void {
    const events = decodeEvents(platformId, message.string());
    if (events) this.#reader?.take({ platformId, server: message.headers?.get(serverHeader) ?? '', events });
    else this.#log.warn({ platform: platformId }, 'the relay has brought what no instance publishes');
  }

  #sayWanted({ connection }: Open, platformIds: readonly string[]): void {
    if (connection.isClosed()) return;
    for (const part of this.#wanted.messagesOf(platformIds)) connection.publish(wantedSubject, part);
  }

  /** Ends a connection over which nothing comes or goes: the next one makes the stream anew where it is missing. */
  #fail({ connection }: Open, error: unknown): void {
    if (connection.isClosed()) return;
    this.#warn(error);
    connection.close().catch(() => undefined);
  }

  /** Warns once until the relay is up again. */
  #warn(error: unknown): void {
    if (this.#hasWarned || this.#closing.signal.aborted) return;
    this.#hasWarned = true;
    this.#log.warn({ err: error }, 'the relay is away: live events are read from the database');
  }
}

/** Waits, but no longer than the relay is open. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms).unref();
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
