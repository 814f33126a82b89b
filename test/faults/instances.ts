import path from 'node:path';
import { servingUrl } from '../../src/database/embedded/serving-login.ts';
import { type ChildGateway, startChildGateway } from '../setup/child-gateway.ts';
import { type DatabaseProxy, databaseProxy } from '../setup/database-proxy.ts';
import { present } from './version.ts';

/** An instance of the service, whatever process it is at present, and its way to the database. */
export interface Instance {
  /** The present address, or the last one. */
  readonly url: string;
  readonly isUp: boolean;
  /** The address of its metrics, where its settings name a port for them. */
  readonly metricsUrl: string | undefined;
  readonly proxy: DatabaseProxy;
  /** Kills it without a word, and waits for its end. */
  kill(): Promise<void>;
  /** Starts it again, and waits until it serves: until the database is there. */
  start(): Promise<void>;
  /**
   * Starts another process, and then stops the old one in an orderly way.
   * @param root the tree of the version that it runs from now on
   */
  replace(root?: string): Promise<void>;
  /** Stops the process without its knowledge, and lets it go on. */
  pause(): void;
  goOn(): void;
  stop(): Promise<void>;
}

interface InstanceOptions {
  /** The database's address through a connection pooler, for requests. */
  readonly poolerUrl?: string | undefined;
  /** The tree of the version that it runs; by default, this one. */
  readonly root?: string | undefined;
}

/** Starts an instance that reaches the database through a proxy of its own. */
export async function startInstance(
  databaseUrl: string,
  environment: Record<string, string>,
  { poolerUrl, root = present }: InstanceOptions = {},
): Promise<Instance> {
  let tree = root;
  const proxy = await databaseProxy(databaseUrl);
  const launch = async (): Promise<ChildGateway> => {
    for (;;) {
      const addresses: Record<string, string> =
        poolerUrl === undefined
          ? { DATABASE_URL: proxy.url }
          : { DATABASE_URL: poolerUrl, DATABASE_DIRECT_URL: servingUrl(proxy.url) };
      const program = path.join(tree, 'test/faults/instance-process.ts');
      const command = [process.execPath, '--disable-warning=ExperimentalWarning', program];
      const begun = startChildGateway({ ...environment, ...addresses }, command, tree);
      // It does not start while the database is away: as whatever runs services does, this tries again.
      const child = await begun.catch(() => undefined);
      if (child) return child;
      failures += 1;
      if (failures > 100) return begun;
    }
  };
  let failures = 0;
  let child = await launch();
  let isUp = true;
  let starting: Promise<ChildGateway> | undefined;
  return {
    get url() {
      return child.url;
    },
    get isUp() {
      return isUp;
    },
    get metricsUrl() {
      return /^metrics (http\S+)$/m.exec(child.output())?.[1];
    },
    proxy,
    async kill() {
      isUp = false;
      await child.end('SIGKILL');
    },
    async start() {
      starting = launch();
      child = await starting;
      isUp = true;
    },
    async replace(next = tree) {
      tree = next;
      const old = child;
      child = await launch();
      const code = await old.end('SIGTERM');
      if (code !== 0) throw new Error(`an orderly stop ended with ${code}:\n${old.output()}`);
    },
    pause: () => void child.process.kill('SIGSTOP'),
    goOn: () => void child.process.kill('SIGCONT'),
    async stop() {
      child = (await starting) ?? child;
      child.process.kill('SIGCONT');
      await child.end('SIGTERM');
      await proxy.close();
    },
  };
}
