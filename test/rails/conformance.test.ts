import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { runConformance } from '../../src/rails/conformance/run.ts';
import type { RailTrial } from '../../src/rails/conformance/trial.ts';
import { type IncomingMistake, incomingTrial } from './incoming-provider.ts';
import { type Mistake, providerTrial, quickTimes, shortTimes } from './provider.ts';

/** Correct rails pass the conformance suite. For faulty rails, the suite reports the fault. */

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
    passed: 27,
    notTried: ['PAYOUT reports an order as failed after refunding it'],
  });
});

test.for<readonly [mistake: Mistake, check: string, reason: RegExp]>([
  ['new keys', 'moves the money once, even if the answer is lost', /moved \d+ instead of 700/],
  ['guesses', 'treats a provider that is down as an unknown outcome', /did not answer, but the rail answered failed/],
  [
    'throws refusals',
    'ends an order that the provider refuses',
    /no outcome after 400 ms; .* an error \(422 refused\)/,
  ],
  ['forgets', 'continues the order of a killed process', /settled the order, but the rail answered failed/],
  ['believes the last', 'reports no other outcome after settling', /answered settled, and then failed/],
  ['asks never', 'reports a slow order as pending', /must be from 0 to 86400000 ms, not Infinity/],
])('a rail with the mistake “%s” is detected', async ([mistake, check, reason]) => {
  const { failed } = await resultsOf(providerTrial(mistake), shortTimes);
  const found = failed.filter((one) => one.check.startsWith(check));
  expect(found.map(({ kind }) => kind)).toEqual(['PAYOUT', 'COLLECTION']);
  for (const one of found) expect(one.reason).toMatch(reason);
});

test.for<readonly [mistake: Mistake, check: string, reason: RegExp]>([
  ['promises longer', 'keeps a lock for as long as it promises', /the lock held, but the rail answered failed/],
  ['takes more', 'takes and delivers the locked amounts', /locked 1000 for 792, and took 1001 and delivered 792/],
  ['delivers less', 'takes and delivers the locked amounts', /locked 1000 for 792, and took 1000 and delivered 791/],
  ['names no amounts', 'takes and delivers the locked amounts', /and took undefined and delivered undefined/],
  ['locks the other side', 'locks the requested amount', /should have locked 1000 SENDING, but locked 1260/],
  ['hides fees', 'locks the requested amount', /1000 less fees of 0 at 1.25 is not 792/],
  ['invents locks', 'locks nothing if the provider does not answer', /did not answer, but the rail answered locked/],
])('a rail with the mistake “%s” about its locks is detected', async ([mistake, check, reason]) => {
  const { failed } = await resultsOf(providerTrial(mistake));
  const found = failed.filter((one) => one.check.startsWith(check));
  expect(found).toHaveLength(1);
  expect(found[0]?.reason).toMatch(reason);
});

test.for<readonly [mistake: Mistake, check: string, reason: string]>([
  [
    'finds everybody',
    'finds the receiver at a known UMA address, and none at an unknown one',
    '$nobody@provider.example has no receiver, but it found one',
  ],
  [
    'guesses receivers',
    'treats a silent provider as unknown, not as no receiver',
    'the provider did not answer, but the rail answered nobody',
  ],
])('a rail with the mistake “%s” about receivers is detected', async ([mistake, check, reason]) => {
  expect((await resultsOf(providerTrial(mistake))).failed).toEqual([
    { kind: 'RECEIVER', check, result: 'failed', reason },
  ]);
});

test('a correct rail passes the checks on incoming money', async () => {
  expect(await resultsOf(incomingTrial())).toEqual({ failed: [], passed: 4, notTried: [] });
});

test.for<readonly [mistake: IncomingMistake, kind: string, reason: string]>([
  ['believes anybody', 'WEBHOOK', 'it accepted a webhook without header fields'],
  ['takes anew', 'DEPOSIT', 'the provider made 2700 available instead of 900'],
  ['lists all', 'DEPOSIT', 'a deposit is listed among the deposits that began a day later'],
])('a rail with the mistake “%s” about incoming money is detected', async ([mistake, kind, reason]) => {
  expect((await resultsOf(incomingTrial(mistake), shortTimes)).failed).toMatchObject([{ kind, reason }]);
});

const run = promisify(execFile);

test('the command tries a module given by its path, here the sandbox, and refuses one that exports no trial', async () => {
  const command = ['--disable-warning=ExperimentalWarning', 'src/commands.ts', 'ops', 'rails', 'try'];
  const { stdout } = await run(process.execPath, [...command, './src/rails/sandbox/sandbox-trial']);
  expect(stdout).toContain('passed     PAYOUT      settles an order, and moves its money once\n');
  expect(stdout).toMatch(/\n15 passed, 0 failed, 7 not tried\n$/);
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
