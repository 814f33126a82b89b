import { runCommandLine } from './program.ts';

// `npm run ops -- COMMAND` is the command line of operators.
process.exitCode = await runCommandLine(process.argv.slice(2));
