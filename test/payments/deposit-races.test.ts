import { describe, expect, test } from 'vitest';
import { refusal } from '../setup/acts.ts';
import { type FundedQuote, fundedQuote, sendDeposit } from '../setup/funded-quote.ts';
import { type Data, type TestGateway, testGateway, uuidIn, whileLocked } from '../setup/gateway.ts';
import { waitForLocks } from '../setup/locks.ts';
import { until } from '../setup/passing-time.ts';

// Every gateway here is audited when it stops. The auditor checks that a payment has at most one deposit, and that its
// postings match its row.

/** Quotes expire immediately, or after a second where a test uses `brief`. */
const expired = await testGateway({ SANDBOX_QUOTE_SECONDS: 0 });
const brief = await testGateway({ SANDBOX_QUOTE_SECONDS: 1 });

/** Creates a quote for a customer whose account in the funding currency is empty. */
const newQuote = async ({ platform }: TestGateway) => fundedQuote(platform, await platform.makeScene(0n));

/** Returns the outcomes of deposits: `done` if a deposit took effect, otherwise its code. */
function outcomes(answers: readonly Data[]): string[] {
  return answers.map((answer) => (answer.replayed === false ? 'done' : (answer.code ?? 'replayed'))).sort();
}

const conflicts = (count: number) => Array.from({ length: count }, () => 'CONFLICT');

/**
 * Runs `act` while another connection has locked the quote's row. Once a statement is waiting for the row, releases the
 * lock at the given moment.
 */
async function withQuoteLocked(t: TestGateway, quote: FundedQuote, act: () => Promise<Data>[], untilMoment = 0) {
  const lock = ['select from quote where id = $1 for update', uuidIn(quote.quoteId)] as const;
  const answers = await whileLocked(t.databaseUrl, lock, async (holder) => {
    const begun = act();
    await waitForLocks(holder, 1);
    await until(untilMoment);
    return begun;
  });
  return Promise.all(answers);
}

describe('an expired quote', () => {
  test('accepts only one of several deposits that were planned before the first was committed', async () => {
    const quote = await newQuote(expired);
    await expired.platform.ended(quote.transactionId);
    const keys = ['a', 'b', 'c'].map((word) => `${quote.quoteId}-${word}`);
    const send = () => keys.map((idempotencyKey) => sendDeposit(expired.platform, quote, { idempotencyKey }));
    const answers = await withQuoteLocked(expired, quote, send);
    expect(outcomes(answers)).toEqual([...conflicts(2), 'done']);
    const message = 'the deposit for this quote has already arrived: it is EXPIRED';
    expect(answers.find(({ code }) => code)).toMatchObject({ ...refusal('CONFLICT', 'quoteId'), message });
    expect(await expired.platform.balanceOf(quote.account)).toBe(quote.due);
    // The original responses are still returned.
    expect(outcomes(await Promise.all(send()))).toEqual([...conflicts(2), 'replayed']);
    expect(await expired.platform.balanceOf(quote.account)).toBe(quote.due);
  });

  test('credits a deposit once, whether it is sent twice or falls short', async () => {
    for (const [more, total] of [
      [{ sandboxScenario: { deposit: 'TWICE' } }, (due: bigint) => 2n * due],
      [{ amount: 7 }, () => 7n],
    ] as const) {
      const quote = await newQuote(expired);
      await expired.platform.ended(quote.transactionId);
      const answers = await Promise.all([1, 2, 3].map(() => sendDeposit(expired.platform, quote, more)));
      expect(outcomes(answers)).toEqual([...conflicts(2), 'done']);
      expect(await expired.platform.balanceOf(quote.account)).toBe(total(quote.due));
    }
  });
});

test('a deposit that was planned before the expiry, and then waited for the quote until after, is credited', async () => {
  const quote = await newQuote(brief);
  const send = () => [sendDeposit(brief.platform, quote, { idempotencyKey: `waits-${quote.quoteId}` })];
  await until(quote.expiresAt - 300);
  const [answer] = await withQuoteLocked(brief, quote, send, quote.expiresAt + 20);
  expect(answer).toMatchObject({ replayed: false, transaction: { failureReason: 'QUOTE_EXPIRED' } });
  const { status, failureReason } = await brief.platform.ended(quote.transactionId);
  expect(['FAILED', 'EXPIRED']).toContain(status);
  expect(failureReason).toBe('QUOTE_EXPIRED');
  expect(await brief.platform.balanceOf(quote.account)).toBe(quote.due);
});
