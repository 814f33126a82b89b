import { spawn, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { servingUrl } from '../../src/infra/database/embedded/serving-login.ts';

/** A gateway in a separate process. */
export type ChildGateway = Awaited<ReturnType<typeof startChildGateway>>;

const root = path.resolve(import.meta.dirname, '../..');

const program = [process.execPath, '--disable-warning=ExperimentalWarning', 'src/main.ts'];

/** Runs one of the service's programs, by default the one that `npm start` runs, until it exits. */
export function runToEnd(
  environment: Readonly<Record<string, string>>,
  { script = ['src/main.ts'], wrapper = [] }: { script?: readonly string[]; wrapper?: readonly string[] } = {},
) {
  const [command = '', ...args] = [...wrapper, ...program.slice(0, -1), ...script];
  const env = { ...process.env, NODE_ENV: 'development', PORT: '0', LOG_LEVEL: 'silent', ...environment };
  return spawnSync(command, args, { cwd: root, encoding: 'utf8', env, timeout: 50_000 });
}

/** Starts a gateway and waits until it is ready. Only migrations use `environment.DATABASE_URL`, the owner's URL. */
export async function startChildGateway(
  environment: Readonly<Record<string, string>>,
  [command = '', ...args]: readonly string[] = program,
  cwd = root,
) {
  const child = spawn(command, args, {
    cwd,
    env: {
      ...process.env,
      NODE_ENV: 'development',
      PORT: '0',
      LOG_LEVEL: 'warn',
      ...environment,
      ...(environment.DATABASE_URL !== undefined && {
        DATABASE_URL: servingUrl(environment.DATABASE_URL),
        DATABASE_OWNER_URL: environment.DATABASE_URL,
      }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exited = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        output += `${line}\n`;
        const address = /GraphQL +(http:\S+)\/graphql/.exec(line)?.[1];
        if (address) resolve(address);
      });
    }
    exited.then((code) => reject(new Error(`the gateway exited with ${code}:\n${output}`)));
  });
  return {
    url,
    output: () => output,
    process: child,
    /** Sends a signal and waits until the process exits; returns its exit code, or the signal that ended it. */
    async end(signal: NodeJS.Signals) {
      child.kill(signal);
      return exited;
    },
  };
}

/** Creates a data directory for the test. The user that runs Postgres can enter it even if this process is root. */
export async function temporaryDataDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gateway-'));
  await chmod(directory, 0o711);
  return { path: directory, remove: () => rm(directory, { recursive: true, force: true }) };
}
