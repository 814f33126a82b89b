import { servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import { type ChildGateway, startChildGateway } from '../setup/child-gateway.ts';
import { databaseProxy } from '../setup/database-proxy.ts';

/** An instance of the service, with its current process and its proxy to the database. */
export type Instance = Awaited<ReturnType<typeof startInstance>>;

const program = ['--disable-warning=ExperimentalWarning', 'test/faults/instance-process.ts'];

export interface Place {
  /** The address of the connection pooler through which requests reach the database. */
  readonly poolerUrl?: string | undefined;
  /** The host name of the database. By default, its address is used instead. */
  readonly databaseName?: string | undefined;
  /** A command that runs the instance, for example with less memory. */
  readonly wrapper?: readonly string[] | undefined;
}

/** Starts an instance that reaches the database through its own proxy. */
export async function startInstance(
  databaseUrl: string,
  environment: Record<string, string>,
  { poolerUrl, databaseName, wrapper = [] }: Place = {},
) {
  const proxy = await databaseProxy(databaseUrl);
  const url = new URL(proxy.url);
  if (databaseName !== undefined) url.hostname = databaseName;
  const launch = async (): Promise<ChildGateway> => {
    for (;;) {
      const addresses: Record<string, string> =
        poolerUrl === undefined
          ? { DATABASE_URL: url.href }
          : { DATABASE_URL: poolerUrl, DATABASE_DIRECT_URL: servingUrl(url.href) };
      const begun = startChildGateway({ ...environment, ...addresses }, [...wrapper, process.execPath, ...program]);
      // An instance does not start while the database is unavailable, so this retries as a supervisor would.
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
    /** The current address, or the last one if the instance is down. */
    get url() {
      return child.url;
    },
    get isUp() {
      return isUp;
    },
    proxy,
    async kill() {
      isUp = false;
      await child.end('SIGKILL');
    },
    /** Starts the process again and waits until it serves requests, which requires the database to be available. */
    async start() {
      starting = launch();
      child = await starting;
      isUp = true;
    },
    /** Starts another process and then shuts the old one down gracefully. */
    async replace() {
      const old = child;
      child = await launch();
      const code = await old.end('SIGTERM');
      if (code !== 0) throw new Error(`a graceful shutdown ended with ${code}:\n${old.output()}`);
    },
    /** Freezes the process with a signal that it cannot handle. `goOn` lets it continue. */
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
