import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { runConformance } from '../../src/rails/conformance/run.ts';
import type { RailTrial } from '../../src/rails/conformance/trial.ts';
import { type Mistake, providerTrial, quickTimes, shortTimes } from './provider.ts';

/** Tests that the conformance suite passes correct rails and reports the mistakes in faulty ones. */

async function resultsOf(trial: RailTrial, times = quickTimes) {
  const results = await runConformance(trial, times);
  return {
    failed: results.filter(({ result }) => result === 'failed'),
    passed: results.filter(({ result }) => result === 'passed').length,
    notTried: results.filter(({ result }) => result === 'not tried').map(({ kind, check }) => `${kind} ${check}`),
  };
}

test('a correct rail passes every check, for payouts and collections', async () => {
  expect(await resultsOf(providerTrial())).toEqual({
    failed: [],
    passed: 19,
    notTried: ['PAYOUT reports an order as failed after refunding it'],
  });
});

test.for<readonly [mistake: Mistake, check: string, reason: RegExp]>([
  ['new keys', 'moves the money once, even if the answer is lost', /moved \d+ instead of 700/],
  ['guesses', 'treats a provider that is down', /did not answer, but the rail answered failed/],
  ['throws refusals', 'ends a refused order', /no outcome .* an error \(422 refused\)/],
  ['forgets', 'continues the order of a killed process', /settled the order, but the rail answered failed/],
  ['believes the last', 'reports no other outcome after settling', /answered settled, and then failed/],
  ['asks never', 'reports a slow order as pending', /must be from 0 to 86400000 ms, not Infinity/],
])('a rail with the mistake “%s” is detected', async ([mistake, check, reason]) => {
  const { failed } = await resultsOf(providerTrial(mistake), shortTimes);
  const found = failed.filter((one) => one.check.startsWith(check));
  expect(found.map(({ kind }) => kind)).toEqual(['PAYOUT', 'COLLECTION']);
  for (const one of found) expect(one.reason).toMatch(reason);
});

const run = promisify(execFile);

test('the command tries the module at the given path, and refuses one that exports no trial', async () => {
  const command = ['--disable-warning=ExperimentalWarning', 'src/commands.ts', 'ops', 'rails', 'try'];
  const { stdout } = await run(process.execPath, [...command, './src/rails/sandbox/sandbox-trial.ts']);
  expect(stdout).toContain('passed     PAYOUT      settles an order, and moves its money once\n');
  expect(stdout).toMatch(/\n14 passed, 0 failed, 6 not tried\n$/);
  await expect(run(process.execPath, [...command, './src/rails/port.ts'])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('./src/rails/port.ts exports no trial.'),
  });
  for (const none of ['./my-rail', 'no-such-package']) {
    await expect(run(process.execPath, [...command, none])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        new RegExp(`^${none} cannot be loaded: Cannot find (module|package) .*\\n\\nUsage:`),
      ),
    });
  }
});
