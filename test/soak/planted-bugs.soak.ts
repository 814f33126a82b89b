import { afterAll, expect, test } from 'vitest';
import { CheckoutCopy } from './planted-bugs/checkout-copy.ts';
import { bugs, planted, standsFor, type TestName } from './planted-bugs/plant.ts';

/**
 * Plants each listed bug, one at a time, in a copy of the checkout, and runs the test named for the bug, which must
 * fail. Before that, all these tests must pass in the same copy with no bug planted.
 */

const sound = new Set<TestName>();
const caught = new Set<string>();
const missed = new Set<string>();
const copy = new CheckoutCopy(process.cwd());
afterAll(() => {
  copy.remove();
  for (const { name, caughtBy } of bugs) {
    const outcome = caught.has(name) ? 'caught' : missed.has(name) ? 'NOT CAUGHT' : 'not tried';
    console.log(`${outcome.padEnd(10)}  ${caughtBy.file} › ${name}`);
  }
  console.log(`planted ${caught.size + missed.size}, caught ${caught.size}, not caught ${missed.size}`);
});

const named = ({ title }: TestName, ran: readonly string[]) => ran.some((other) => standsFor(title, other));

/** Runs the tests with no bug planted, and records which of them pass. */
async function findSound(tests: readonly TestName[]): Promise<string> {
  const { passed, failed, output } = await copy.run(tests);
  for (const each of tests) if (named(each, passed) && !named(each, failed)) sound.add(each);
  return output;
}

test('every named test passes without a bug', async () => {
  const tests = bugs.map(({ caughtBy }) => caughtBy);
  const output = await findSound(tests);
  expect(
    tests.filter((each) => !sound.has(each)).map(({ title }) => title),
    output,
  ).toEqual([]);
});

test.each(bugs.map((bug) => [bug.name, bug] as const))('fails with the bug: %s', async (_name, bug) => {
  missed.add(bug.name);
  if (!sound.has(bug.caughtBy)) await findSound([bug.caughtBy]);
  expect(sound, 'the test passes without the bug').toContain(bug.caughtBy);
  const undo = copy.write(planted(copy.root, bug));
  try {
    const { failed, output } = await copy.run([bug.caughtBy], true);
    expect(
      failed.filter((title) => standsFor(bug.caughtBy.title, title)),
      output,
    ).not.toEqual([]);
  } finally {
    undo();
  }
  missed.delete(bug.name);
  caught.add(bug.name);
});
