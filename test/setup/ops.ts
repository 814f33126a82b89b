import { Readable } from 'node:stream';
import { expect, vi } from 'vitest';
import { runCommands } from '../../src/commands.ts';
import { servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import type { Data } from './gateway.ts';

export interface OpsResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs an `npm run ops` command in this process, because a separate process takes almost a second to start. */
export async function runOps(
  databaseUrl: string | undefined,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<OpsResult> {
  const settings = {
    ...{ NODE_ENV: 'test', DATABASE_URL: databaseUrl && servingUrl(databaseUrl) },
    CLIENT_TOKEN_KEY: 'a key that only tests use, for nothing else',
    ...environment,
  };
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runCommands(['ops', ...args], {
    environment: settings,
    out: (text) => void out.push(text),
    write: async (text) => void out.push(text),
    err: (text) => void err.push(text),
    untilStopped: () => new AbortController().signal,
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

/** Sets what commands read from standard input. */
export function typeIn(text: string): void {
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([text]) as typeof process.stdin);
}

/** Runs an operator command, which must succeed, and returns the JSON that it prints. */
export async function askOps(...[databaseUrl, args, environment]: Parameters<typeof runOps>): Promise<Data> {
  const { code, out, err } = await runOps(databaseUrl, ['--json', ...args], environment);
  expect({ args, code, err }).toEqual({ args, code: 0, err: '' });
  return JSON.parse(out);
}
