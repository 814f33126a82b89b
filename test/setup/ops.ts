import { vi } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import { servingUrl } from '../../src/database/embedded/serving-login.ts';

/**
 * Runs a command line of operators on a database, as `npm run ops --` does, in this process: a process of its own takes most of
 * a second. One at a time, since it takes the process' output meanwhile. Returns its exit code and what it printed.
 */
export async function runOps(
  databaseUrl: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) {
  const settings = { NODE_ENV: 'test', DATABASE_URL: servingUrl(databaseUrl), ...environment };
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
