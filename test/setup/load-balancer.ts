import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';
import { listen } from './free-port.ts';

/** A TCP load balancer in front of instances, to which the clients of a service connect. */
export type LoadBalancer = Awaited<ReturnType<typeof startLoadBalancer>>;

export async function startLoadBalancer() {
  const instances: string[] = [];
  const open = new Set<Socket>();
  const clients = new Set<Socket>();
  let turn = 0;
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    const target = instances[turn % Math.max(1, instances.length)];
    turn += 1;
    client.on('error', () => undefined);
    if (target === undefined) return void client.resetAndDestroy();
    const { hostname: host, port } = new URL(target);
    const instance = dial({ host, port: Number(port) });
    clients.add(client);
    client.on('close', () => clients.delete(client));
    for (const [from, to] of [
      [client, instance],
      [instance, client],
    ] as const) {
      open.add(from);
      from.setNoDelay(true).on('error', () => undefined);
      from.pipe(to);
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  return {
    url: `http://127.0.0.1:${await listen(listener)}`,
    /** Adds an instance. New connections go to the instances in turn. */
    add: (url: string) => void instances.push(url),
    /** Removes an instance: its open connections stay. */
    remove: (url: string) => void instances.splice(instances.indexOf(url), 1),
    /** Delays everything that is in transit on open connections. */
    delay(ms: number) {
      for (const socket of open) {
        socket.pause();
        setTimeout(() => socket.resume(), ms);
      }
    },
    /** Silently drops everything that is sent on the open connections from now on: neither end notices. */
    halfOpen() {
      for (const socket of open) socket.unpipe().on('data', () => undefined);
    },
    /** Closes one direction of each open connection: clients see the end of the stream, and can still send. */
    halfClose() {
      for (const socket of clients) socket.end();
    },
    /** Cuts all open connections, together with the requests on them. */
    cut() {
      for (const socket of open) socket.resetAndDestroy();
    },
    async close() {
      const closed = once(listener, 'close');
      listener.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
