import { runConformance } from '../rails/conformance/run.ts';
import type { RailTrial } from '../rails/conformance/trial.ts';
import { railAddress } from '../rails/load-rails.ts';

const usage = `Usage: npm run rail:conformance -- MODULE

Tries a rail: it settles, refuses, loses an answer, gets an order twice, contradicts itself, is slow, is down, is killed in
between. MODULE is a package or a file, such as ./my-rail.ts, that exports its trial as "trial" (src/rails/README.md).`;

// `npm run rail:conformance` prints each check with its result; it exits with 1 when one fails, or when none was tried.
const [name, ...rest] = process.argv.slice(2);
if (name === undefined || rest.length > 0) {
  console.error(usage);
  process.exitCode = 2;
} else await tryRail(name);

async function tryRail(name: string): Promise<void> {
  let trial: RailTrial | undefined;
  try {
    ({ trial } = await import(railAddress(name, process.cwd())));
  } catch (error) {
    console.error(`${name} cannot be loaded: ${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  if (typeof trial?.open !== 'function' || typeof trial.order !== 'function') {
    console.error(`${name} exports no trial.\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  const results = await runConformance(trial);
  await trial.close?.();
  for (const { check, kind, result, reason } of results) {
    console.log(`${result.padEnd(9)}  ${kind.padEnd(10)}  ${check}${reason === undefined ? '' : `: ${reason}`}`);
  }
  const failed = results.filter(({ result }) => result === 'failed').length;
  const passed = results.filter(({ result }) => result === 'passed').length;
  console.log(`\n${passed} passed, ${failed} failed, ${results.length - passed - failed} not tried`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}
