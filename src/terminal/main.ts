#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { runTerminal } from './program.ts';

// `npm run cli -- COMMAND`, or `npx payments COMMAND`, is the command line of developers.
const control = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => control.abort());

process.exitCode = await runTerminal(process.argv.slice(2), {
  environment: process.env,
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  signal: control.signal,
});
