import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { runConformance } from '../../src/rails/conformance/run.ts';
import type { RailTrial } from '../../src/rails/conformance/trial.ts';
import { type Mistake, providerTrial, quickTimes, shortTimes } from './provider.ts';

/** Correct rails pass the conformance suite, and it reports the mistakes of faulty ones. */

async function resultsOf(trial: RailTrial, times = quickTimes) {
  const results = await runConformance(trial, times);
  return {
    failed: results.filter(({ result }) => result === 'failed'),
    passed: results.filter(({ result }) => result === 'passed').length,
    notTried: results.filter(({ result }) => result === 'not tried').map(({ kind, check }) => `${kind} ${check}`),
  };
}

test('a correct rail passes every check, for payouts, collections, receivers and incoming money', async () => {
  expect(await resultsOf(providerTrial())).toEqual({
    failed: [],
    passed: 31,
    notTried: ['PAYOUT reports an order as failed after refunding it'],
  });
});

const orders = ['PAYOUT', 'COLLECTION'];
const [locks, receivers, webhooks, deposits] = [['PAYOUT'], ['RECEIVER'], ['WEBHOOK'], ['DEPOSIT']];

test.for<readonly [mistake: Mistake, kinds: readonly string[], check: string, reason: RegExp]>([
  ['new keys', orders, 'moves the money once, even if the answer is lost', /moved \d+ instead of 700/],
  ['guesses', orders, 'treats a provider that is down', /did not answer, but the rail answered failed/],
  ['throws refusals', orders, 'ends an order that the provider refuses', /no outcome .* an error \(422 refused\)/],
  ['forgets', orders, 'continues the order of a killed process', /settled the order, but the rail answered failed/],
  ['believes the last', orders, 'reports no other outcome after settling', /answered settled, and then failed/],
  ['asks never', orders, 'reports a slow order as pending', /must be from 0 to 86400000 ms, not Infinity/],
  ['promises longer', locks, 'keeps a lock for as long as it promises', /the lock held, but the rail answered failed/],
  ['takes more', locks, 'takes and delivers the locked amounts', /792, and took 1001 and delivered 792/],
  ['delivers less', locks, 'takes and delivers the locked amounts', /792, and took 1000 and delivered 791/],
  ['names no amounts', locks, 'takes and delivers the locked amounts', /and took undefined and delivered undefined/],
  ['locks the other side', locks, 'locks the requested amount', /should have locked 1000 SENDING, but locked 1260/],
  ['hides fees', locks, 'locks the requested amount', /1000 less fees of 0 at 1.25 is not 792/],
  ['invents locks', locks, 'locks nothing if the provider', /did not answer, but the rail answered locked/],
  ['finds everybody', receivers, 'finds the receiver', /nobody@provider.example has no receiver, but it found one/],
  ['guesses receivers', receivers, 'treats a silent provider', /did not answer, but the rail answered nobody/],
  ['believes anybody', webhooks, 'refuses webhooks', /accepted a webhook without header fields/],
  ['takes anew', deposits, 'takes a deposit once', /made 2700 available instead of 900/],
  ['lists all', deposits, 'lists a deposit once', /is listed among the deposits that began a day later/],
])('a rail with the mistake “%s” is detected', async ([mistake, kinds, check, reason]) => {
  const isAboutTime = mistake === 'promises longer';
  const { failed } = await resultsOf(providerTrial(mistake), isAboutTime ? quickTimes : shortTimes);
  const found = failed.filter((one) => one.check.startsWith(check));
  expect(found.map(({ kind }) => kind)).toEqual(kinds);
  for (const one of found) expect(one.reason).toMatch(reason);
});

const run = promisify(execFile);

test('the command tries a module given by its path, here the sandbox, and refuses one that exports no trial', async () => {
  const command = ['--disable-warning=ExperimentalWarning', 'src/commands.ts', 'ops', 'rails', 'try'];
  const { stdout } = await run(process.execPath, [...command, './src/rails/sandbox/sandbox-trial.ts']);
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
