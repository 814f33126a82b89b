import { expect, vi } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import { servingUrl } from '../../src/database/embedded/serving-login.ts';
import type { Data } from './gateway.ts';

/** What a command line of operators printed, and its exit code. */
export interface OpsResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs a command line of operators on a database, as `npm run ops --` does, in this process: a process of its own takes most of
 * a second. One at a time, since it takes the process' output meanwhile.
 */
export async function runOps(
  databaseUrl: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<OpsResult> {
  const settings = {
    ...{ NODE_ENV: 'test', DATABASE_URL: servingUrl(databaseUrl) },
    CLIENT_TOKEN_KEY: 'a key that only tests use, for nothing else',
    ...environment,
  };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  const out: string[] = [];
  const err: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => void out.push(line));
  vi.spyOn(console, 'error').mockImplementation((line: string) => void err.push(line));
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => out.push(String(text)) > 0);
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => err.push(String(text)) > 0);
  try {
    const code = await runCommandLine(args);
    return { code, out: out.join('\n'), err: err.join('\n') };
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
}

/** Runs a command line of operators that must succeed, and answers its JSON. */
export async function askOps(...[databaseUrl, args, environment]: Parameters<typeof runOps>): Promise<Data> {
  const { code, out, err } = await runOps(databaseUrl, ['--json', ...args], environment);
  expect({ args, code, err }).toEqual({ args, code: 0, err: '' });
  return JSON.parse(out);
}
