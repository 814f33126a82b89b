import { InvalidArgumentError } from 'commander';
import type { Answer } from '../apps/terminal/answer.ts';
import type { Job } from '../apps/terminal/program.ts';
import { runConformance } from '../rails/conformance/run.ts';
import type { RailTrial } from '../rails/conformance/trial.ts';
import { railAddress } from '../rails/load-rails.ts';

/** Prints each check of a rail with its result. It exits with 1 when one fails, or when none was tried. */
export async function tryRail({ screen, json }: Job, name: string): Promise<Answer> {
  const trial = await trialOf(name);
  const results = await runConformance(trial);
  await trial.close?.();
  const failed = results.filter(({ result }) => result === 'failed').length;
  const passed = results.filter(({ result }) => result === 'passed').length;
  if (!json) {
    for (const { check, kind, result, reason } of results)
      screen.out(`${result.padEnd(9)}  ${kind.padEnd(10)}  ${check}${reason === undefined ? '' : `: ${reason}`}`);
    screen.out(`\n${passed} passed, ${failed} failed, ${results.length - passed - failed} not tried`);
  }
  return { data: results, exitCode: failed === 0 && passed > 0 ? 0 : 1 };
}

async function trialOf(name: string): Promise<RailTrial> {
  const { trial }: { trial?: RailTrial } = await import(railAddress(name, process.cwd())).catch((error: unknown) => {
    throw new InvalidArgumentError(`${name} cannot be loaded: ${error instanceof Error ? error.message : error}`);
  });
  if (typeof trial?.open !== 'function' || typeof trial.order !== 'function')
    throw new InvalidArgumentError(`${name} exports no trial.`);
  return trial;
}
