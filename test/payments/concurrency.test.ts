import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/server/config.ts';
import { moving, refusal, usdToEur } from '../setup/acts.ts';
import { type Data, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { patient } from '../setup/locks.ts';
import type { Scene } from '../setup/scene.ts';

/**
 * Creates a quote for `amount` cents from the scene's USD account to its external EUR account. Returns the quote's id.
 */
const quote = async (platform: TestPlatform, scene: Scene, amount: bigint): Promise<string> =>
  (await platform.quote(usdToEur(scene, { lockedCurrencyAmount: amount }))).id;

/**
 * Retries commands that failed because no connection became free in time, as happens on a busy machine. These tests are
 * about races between commands, not about how soon a connection becomes free.
 */
async function patiently(act: () => Promise<Data>): Promise<Data> {
  let answer = await act();
  while (answer.code === 'SERVICE_UNAVAILABLE') answer = await act();
  return answer;
}

const execute = (platform: TestPlatform, quoteId: string, idempotencyKey?: string): Promise<Data> =>
  patiently(() =>
    platform.act('executeQuote', { quoteId, idempotencyKey }, 'quote { id status version transaction { id } }'),
  );

function transfer(platform: TestPlatform, scene: Scene, amount: bigint, idempotencyKey?: string): Promise<Data> {
  const input = moving(scene.usd, scene.outsideUsd, amount, idempotencyKey === undefined ? {} : { idempotencyKey });
  return patiently(() => platform.act('transferOut', input, 'transaction { id status version sentAmount { amount } }'));
}

const transactionCount = async (platform: TestPlatform, customerId: string): Promise<number> =>
  (await platform.fieldsOf('customer', customerId, 'transactions { totalCount }')).transactions.totalCount;

const times = <T>(count: number, act: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)));

/** Expects one response to be the original, and all others to be replays of it. */
function expectRepeats(answers: readonly Data[]): void {
  const [first, ...more] = answers.filter(({ replayed }) => replayed === false);
  const repeated = answers.filter((answer) => answer !== first);
  expect([first === undefined, more]).toEqual([false, []]);
  for (const answer of repeated) expect(answer).toEqual({ ...first, replayed: true });
}

const { DATABASE_POOL } = readConfig({});

describe.each([DATABASE_POOL, 1])('with a database pool of %i', (poolSize) => {
  let t: TestGateway;
  beforeAll(async () => {
    // Payments do not settle during these tests, but the source account is debited immediately.
    const settings = { DATABASE_POOL: poolSize, SANDBOX_PACE_MS: 600_000 };
    t = await startTestGateway(settings, undefined, { pace: patient });
  });
  afterAll(() => t.stop());

  test('100 parallel executions of a quote move money once: one succeeds, 99 conflict', async () => {
    const scene = await t.platform.makeScene(100_000n);
    const quoteId = await quote(t.platform, scene, 10_000n);
    const answers = await times(100, () => execute(t.platform, quoteId));
    const executed = { id: quoteId, status: 'PROCESSING', version: 2 };
    expect(answers.filter((answer) => answer.quote)).toMatchObject([{ replayed: false, quote: executed }]);
    expect(answers.filter((answer) => answer.code === 'CONFLICT')).toHaveLength(99);
    expect(await t.platform.balanceOf(scene.usd)).toBe(90_000n);
  });

  test('100 parallel executions with one idempotency key all get the same response, 99 marked as replayed', async () => {
    const scene = await t.platform.makeScene(100_000n);
    const quoteId = await quote(t.platform, scene, 10_000n);
    expectRepeats(await times(100, () => execute(t.platform, quoteId, 'execute-once')));
    expect(await t.platform.balanceOf(scene.usd)).toBe(90_000n);
  });

  test('200 parallel transfers that together exceed a balance leave exactly the remainder', async () => {
    const scene = await t.platform.makeScene(100_500n);
    const answers = await times(200, () => transfer(t.platform, scene, 1_000n));
    expect(answers.filter((answer) => answer.transaction)).toHaveLength(100);
    const refused = answers.filter((answer) => answer.code);
    expect(new Set(refused.map((answer) => answer.code))).toEqual(new Set(['INSUFFICIENT_BALANCE']));
    expect(refused[0].path).toEqual(['input', 'sourceAccountId']);
    expect(await t.platform.balanceOf(scene.usd)).toBe(500n);
    expect(await transactionCount(t.platform, scene.customerId)).toBe(100);
  });

  test('of 20 parallel calls with one key and different inputs, one takes effect and the others get a mismatch', async () => {
    const scene = await t.platform.makeScene(100_000n);
    const answers = await times(20, (index) => transfer(t.platform, scene, 1_000n + BigInt(index), 'one-of-many'));
    const [done] = answers.filter((answer) => answer.transaction);
    const refused = answers.filter((answer) => answer.code);
    expect(refused).toHaveLength(19);
    for (const answer of refused) expect(answer).toMatchObject(refusal('IDEMPOTENCY_MISMATCH', 'idempotencyKey'));
    expect(await t.platform.balanceOf(scene.usd)).toBe(100_000n - BigInt(done.transaction.sentAmount.amount));
  });

  test('an idempotency key belongs to one platform and one operation', async () => {
    const other = await t.newPlatform(`other-${poolSize}`);
    const [here, there] = [await t.platform.makeScene(5_000n), await other.makeScene(5_000n)];
    const key = 'shared-key';
    expect(await transfer(t.platform, here, 1_000n, key)).toMatchObject({ replayed: false });
    expect(await transfer(other, there, 2_000n, key)).toMatchObject({ replayed: false });
    const quoteId = await quote(t.platform, here, 1_000n);
    expect(await execute(t.platform, quoteId, key)).toMatchObject({ replayed: false });
    expect(await t.platform.balanceOf(here.usd)).toBe(3_000n);
    expect(await other.balanceOf(there.usd)).toBe(3_000n);
  });

  test('a key mismatch is reported before errors in the rest of the input, and invalid input does not use up a key', async () => {
    const scene = await t.platform.makeScene(5_000n);
    const nowhere = { ...scene, usd: 'InternalAccount:01900000-0000-7000-8000-000000000000' };
    expect(await transfer(t.platform, nowhere, 1_000n, 'mistyped')).toMatchObject({ code: 'ACCOUNT_NOT_FOUND' });
    const first = await transfer(t.platform, scene, 1_000n, 'mistyped');
    expect(first).toMatchObject({ replayed: false });
    expect(await transfer(t.platform, nowhere, 1_000n, 'mistyped')).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect(await transfer(t.platform, scene, 1_000n, 'mistyped')).toEqual({ ...first, replayed: true });
    expect(await t.platform.balanceOf(scene.usd)).toBe(4_000n);
  });
});
