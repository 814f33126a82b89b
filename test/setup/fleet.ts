import { setTimeout as delay } from 'node:timers/promises';
import { type ChildGateway, startChildGateway } from './child-gateway.ts';
import { secretKey } from './cursors.ts';
import type { TestGateway } from './gateway.ts';
import type { LoadBalancer } from './load-balancer.ts';

/** Instances in separate processes, behind a load balancer. */
export class Fleet {
  readonly #one: TestGateway;
  readonly #balancer: LoadBalancer;
  readonly #instances: ChildGateway[] = [];

  constructor(one: TestGateway, balancer: LoadBalancer) {
    this.#one = one;
    this.#balancer = balancer;
  }

  async start(): Promise<void> {
    const instance = await startChildGateway({
      DATABASE_URL: this.#one.databaseUrl,
      ROLE: 'serve',
      MIGRATE: 'off',
      CORS_ORIGINS: '*',
      CLIENT_TOKEN_KEY: 'a key that only tests use, for nothing else',
      // A cursor from one instance is valid on the others.
      SECRET_KEY: secretKey,
    });
    this.#instances.push(instance);
    this.#balancer.add(instance.url);
  }

  /** Ends the oldest instance, and replaces it with a new one. */
  async replace(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const instance = this.#instances.shift();
    if (!instance) throw new Error('no instance');
    this.#balancer.remove(instance.url);
    await instance.end(signal);
    await this.start();
  }

  /** Freezes the oldest instance for a while, like a paused machine; its connections stay open. */
  async freeze(ms: number): Promise<void> {
    const [instance] = this.#instances;
    instance?.process.kill('SIGSTOP');
    await delay(ms);
    instance?.process.kill('SIGCONT');
    // The next call freezes the other one.
    this.#instances.push(...this.#instances.splice(0, 1));
  }

  async stop(): Promise<void> {
    for (const instance of this.#instances) await instance.end('SIGTERM');
  }
}
