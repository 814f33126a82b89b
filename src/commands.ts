#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { Help } from 'commander';
import { addDevelopers } from './apps/terminal/developers.ts';
import { Program, run, type Screen } from './apps/terminal/program.ts';

const words = `
The API token is read from PAYMENTS_CLIENT_ID and PAYMENTS_CLIENT_SECRET; a sandbox on this machine needs none.
PAYMENTS_URL is the default for --url.`;

/** Runs a command. Returns 0 on success, 1 if something is wrong or was refused, 2 for invalid arguments. */
export async function runCommands(args: readonly string[], screen: Screen): Promise<number> {
  const program = new Program(screen, 'npm run cli --')
    .description('Watches a service and triggers events in its sandbox while you develop against it.')
    .option('--url <url>', 'the URL of the service (default: http://127.0.0.1:4000)')
    .option('--json', 'print JSON; commands that stream print one value per line')
    .addHelpText('after', words)
    .showHelpAfterError()
    .configureOutput({ writeOut: (text) => screen.out(text.trimEnd()), writeErr: (text) => screen.err(text.trimEnd()) })
    .configureHelp({
      commandUsage: (command) => new Help().commandUsage(command).replace('cli -- ops', 'ops --'),
      optionDescription: (option) => new Help().optionDescription(option) + (option.mandatory ? ' (required)' : ''),
    })
    .exitOverride();
  addDevelopers(program);
  const operators = program
    .command('ops')
    .description('Operates and repairs the service. Uses the same settings as the service itself (docs/settings.md).')
    .summary('operator commands')
    .option('--json', 'print the answer as JSON');
  if (args.includes('ops')) (await import('./ops/program.ts')).addOperators(operators);
  return run(program, args);
}

const terminal: Screen = {
  environment: process.env,
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  write: async (text) => {
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  },
  untilStopped: () => {
    const control = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => control.abort());
    return control.signal;
  },
};

// Run as `npm run cli -- COMMAND` or, for the operator commands, `npm run ops -- COMMAND`.
if (import.meta.main) {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endOutput);
  process.exitCode = await runCommands(process.argv.slice(2), terminal);
}

/** Ends the process when its output can no longer be written, silently if the reader (such as `head`) has exited. */
function endOutput({ code, message }: NodeJS.ErrnoException): never {
  if (code === 'EPIPE') process.exit(0);
  writeSync(2, `The output cannot be written (${message}).\n`);
  process.exit(1);
}
