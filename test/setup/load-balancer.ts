import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type ChildGateway, startChildGateway } from './child-gateway.ts';
import { secretKey } from './cursors.ts';
import { listen } from './free-port.ts';
import type { TestGateway } from './gateway.ts';

/** A TCP load balancer in front of a service's instances. */
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
    /** Removes an instance. Its open connections are kept. */
    remove: (url: string) => void instances.splice(instances.indexOf(url), 1),
    /** Holds back everything that is in transit on the open connections. Returns the function that lets it pass. */
    hold() {
      const held = [...open];
      for (const socket of held) socket.pause();
      return () => {
        for (const socket of held) socket.resume();
      };
    },
    /** From now on, silently drops everything that is sent on the open connections, so that neither end notices. */
    halfOpen() {
      for (const socket of open) socket.unpipe().on('data', () => undefined);
    },
    /** Closes one direction of each open connection. Clients see the end of the stream, but can still send. */
    halfClose() {
      for (const socket of clients) socket.end();
    },
    /** Drops all open connections, along with any requests in progress on them. */
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

/** Two instances in separate processes, behind a load balancer. */
export type Fleet = Awaited<ReturnType<typeof startFleet>>;

export async function startFleet({ databaseUrl }: TestGateway) {
  const balancer = await startLoadBalancer();
  const instances: ChildGateway[] = [];
  const start = async () => {
    const instance = await startChildGateway({
      DATABASE_URL: databaseUrl,
      ROLE: 'serve',
      MIGRATE: 'off',
      CORS_ORIGINS: '*',
      CLIENT_TOKEN_KEY: 'a key that only tests use, for nothing else',
      // With the same key, a cursor from one instance is valid on the other.
      SECRET_KEY: secretKey,
    });
    instances.push(instance);
    balancer.add(instance.url);
  };
  await start();
  await start();
  return {
    balancer,
    async replace(signal: 'SIGKILL' | 'SIGTERM') {
      const instance = instances.shift();
      if (!instance) throw new Error('no instance');
      balancer.remove(instance.url);
      await instance.end(signal);
      await start();
    },
    /** Freezes an instance for a while, like a paused machine; its connections stay open. */
    async freeze(ms: number) {
      const [instance] = instances;
      instance?.process.kill('SIGSTOP');
      await delay(ms);
      instance?.process.kill('SIGCONT');
      // The next call freezes the other instance.
      instances.push(...instances.splice(0, 1));
    },
    async stop() {
      for (const instance of instances) await instance.end('SIGTERM');
      await balancer.close();
    },
  };
}
