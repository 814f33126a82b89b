import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';
import { afterAll } from 'vitest';
import { testDatabase } from './database.ts';
import { listen } from './free-port.ts';

/** A proxy for Postgres that can fail in all the ways a network can. */
export type DatabaseProxy = Awaited<ReturnType<typeof databaseProxy>>;

/** Matches the statement that commits the plan with the given idempotency key. */
export const planWithKey = (key: string) => new RegExp(`"key":"${key}"`);

/** Matches the end of a transaction that writes plain records. */
export const commit = /Q....commit\0/s;

/** Matches any commit: of a plan, or of plain records. */
export const anyCommit = new RegExp(`commit_batches|${commit.source}`, 's');

/** Every Postgres response, inside or outside a transaction, ends with a message that begins with these bytes. */
const readyForQuery = Buffer.from('Z\0\0\0\u0005');

interface Rule {
  readonly to: RegExp;
  readonly andAfter: boolean;
  matched: boolean;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** The client's first message, which names its application. */
  hello: string | undefined;
  frozen: boolean;
  held: Buffer | undefined;
}

export async function databaseProxy(databaseUrl: string) {
  const url = new URL(databaseUrl);
  const [host, port] = [url.hostname, Number(url.port)];
  const pairs = new Set<Pair>();
  let givenUp = 0;
  let isShut = false;
  let stalling: RegExp | undefined;
  let freezing: RegExp | undefined;
  let counted: { readonly message: RegExp; count: number } | undefined;
  let rule: Rule | undefined;
  let told = Promise.withResolvers<void>();

  const cut = ({ client, server }: Pair) => {
    client.destroy();
    server.destroy();
  };

  function join(client: Socket): void {
    if (isShut) return void client.resetAndDestroy();
    const server = dial({ host, port });
    const pair: Pair = { client, server, hello: undefined, frozen: false, held: undefined };
    let losing = false;
    pairs.add(pair);
    client.on('data', (data) => {
      const text = data.toString('latin1');
      pair.hello ??= text;
      pair.frozen ||= freezing?.test(pair.hello) ?? false;
      if (pair.frozen) return;
      if (counted?.message.test(text)) counted.count += 1;
      if (stalling?.test(text)) {
        pair.held = data;
        for (const socket of [client, server]) socket.pause();
        return;
      }
      if (rule?.matched && rule.andAfter) return cut(pair);
      if (rule && !rule.matched && rule.to.test(text)) {
        rule.matched = true;
        losing = !rule.andAfter;
        if (rule.andAfter) told.resolve();
      }
      server.write(data);
    });
    server.on('data', (data) => {
      if (pair.frozen) return;
      if (!losing) return void client.write(data);
      if (!data.includes(readyForQuery)) return;
      rule = undefined;
      cut(pair);
      told.resolve();
    });
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (pair.frozen && socket === client) givenUp += 1;
        pairs.delete(pair);
        cut(pair);
      });
    }
  }

  const listener = createServer(join);
  url.hostname = '127.0.0.1';
  url.port = String(await listen(listener));
  return {
    url: url.href,
    get connections() {
      return pairs.size;
    },
    /** The number of frozen connections that clients have abandoned. */
    get givenUp() {
      return givenUp;
    },
    /** Counts the client messages that match, until called again. */
    counting(message: RegExp) {
      const matching = { message, count: 0 };
      counted = matching;
      return matching;
    },
    /** The number of connections that `stallOn` holds back. */
    get stalled() {
      return [...pairs].filter(({ held }) => held).length;
    },
    /** Returns the open connections whose first message matches. */
    of: (application: RegExp) => [...pairs].filter(({ hello = '' }) => application.test(hello)),
    /** From now until called with undefined, freezes each connection of the given application at its next message. */
    freezeNew(application: RegExp | undefined) {
      freezing = application;
    },
    /** Stops forwarding on all open connections. Returns the number of connections stopped. */
    freeze() {
      for (const pair of pairs) pair.frozen = true;
      return pairs.size;
    },
    /** Holds back everything on the connections that are open now, until `goOn` forwards it without loss. */
    stall() {
      for (const { client, server } of pairs) for (const socket of [client, server]) socket.pause();
    },
    goOn() {
      stalling = undefined;
      for (const pair of pairs) {
        if (pair.held) pair.server.write(pair.held);
        pair.held = undefined;
        for (const socket of [pair.client, pair.server]) socket.resume();
      }
    },
    /** Once a message on a connection matches, holds back that message and everything after it until `goOn`. */
    stallOn(message: RegExp) {
      stalling = message;
    },
    /** Drops the open connections, and accepts no new ones until `reopen`. */
    shut() {
      isShut = true;
      for (const pair of pairs) cut(pair);
    },
    reopen() {
      isShut = false;
      rule = undefined;
    },
    /** Drops the open connections, and refuses new ones until `startListening`. */
    async stopListening() {
      const closed = once(listener, 'close');
      listener.close();
      for (const pair of pairs) cut(pair);
      await closed;
    },
    async startListening() {
      listener.listen(Number(url.port), '127.0.0.1');
      await once(listener, 'listening');
    },
    /**
     * Loses the response to the next statement whose message matches. The statement is executed, and then its
     * connection is dropped.
     * @param andAfter if true, the response still arrives, but any later request causes its connection to be dropped
     */
    loseAnswer(to: RegExp, andAfter = false) {
      told = Promise.withResolvers();
      rule = { to, andAfter, matched: false };
    },
    lost: () => told.promise,
    async close() {
      for (const pair of pairs) cut(pair);
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

/** Creates a database behind a proxy, shared by all tests in a file. */
export async function testProxy() {
  const database = await testDatabase();
  const proxy = await databaseProxy(database.url);
  afterAll(() => proxy.close());
  return { database, proxy };
}
