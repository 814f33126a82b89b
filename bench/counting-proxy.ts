import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy between a server and Postgres that counts statements, that is, Query and Execute messages. */
export interface CountingProxy {
  /** The URL for connecting to the database through the proxy. */
  readonly url: string;
  readonly count: () => number;
  close(): Promise<void>;
}

/**
 * Message types. The first message on a connection has none:
 * https://www.postgresql.org/docs/18/protocol-message-formats.html
 */
const query = 'Q'.charCodeAt(0);
const execute = 'E'.charCodeAt(0);

export async function countStatements(databaseUrl: string): Promise<CountingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    let rest = Buffer.alloc(0);
    let started = false;
    client.on('data', (data: Buffer) => {
      upstream.write(data);
      rest = Buffer.concat([rest, data]);
      for (;;) {
        const typed = started ? 1 : 0;
        if (rest.length < typed + 4) return;
        const length = typed + rest.readInt32BE(typed);
        if (rest.length < length) return;
        if (started && (rest[0] === query || rest[0] === execute)) count += 1;
        started = true;
        rest = rest.subarray(length);
      }
    });
    upstream.on('data', (data) => client.write(data));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    count: () => count,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
