import { describe, expect, test } from 'vitest';
import { onAccount, refusal, usdToEur, went } from '../setup/acts.ts';
import { type FundedQuote, fundedQuote, sendDeposit } from '../setup/funded-quote.ts';
import { type Data, type TestGateway, testGateway, uuidIn, whileLocked } from '../setup/gateway.ts';
import { patient, waitForLocks } from '../setup/locks.ts';

// Every gateway is audited when it stops. The auditor checks that a payment has at most one deposit, and that its
// postings match its row.

const t = await testGateway();
/** Gateways whose quotes expire immediately. `still` does no background work, so it marks no quote as expired. */
const short = await testGateway({ SANDBOX_QUOTE_SECONDS: 0 }, undefined, { pace: patient });
const still = await testGateway({ SANDBOX_QUOTE_SECONDS: 0, ROLE: 'serve' });
const scene = await t.platform.makeScene(0n);

const newQuote = (currency = 'USDC', of = scene) => fundedQuote(t.platform, of, currency);
const send = (quote: FundedQuote, more: object = {}, platform = t.platform) => sendDeposit(platform, quote, more);

const statuses = (transactionId: string, platform = t.platform) => platform.statusesOf(transactionId);

const payment = ({ transactionId }: FundedQuote, platform = t.platform) => platform.transactionOf(transactionId);

describe('a deposit of the quoted amount', () => {
  test.each(['USDC', 'USDT', 'BTC', 'USD', 'MXN'])(
    'in %s is credited, converted and delivered automatically',
    async (currency) => {
      const quote = await newQuote(currency);
      const transaction = { id: quote.transactionId, status: 'PROCESSING', failureReason: null };
      expect(await send(quote)).toMatchObject({ replayed: false, transaction });
      expect((await statuses(quote.transactionId)).at(-1)).toBe('COMPLETED');
      expect(await t.platform.balanceOf(quote.account)).toBe(0n);
      const done = await payment(quote);
      const timeline = went('PENDING', 'PROCESSING', 'COMPLETED');
      expect(done).toMatchObject({ status: 'COMPLETED', quote: { status: 'COMPLETED' }, timeline });
      expect(onAccount(done, quote.account).sort()).toEqual([-quote.due, quote.due].sort());
    },
  );

  test('may state its amount, and has no further effect when it is sent again with the same key', async () => {
    const quote = await newQuote();
    const input = { amount: quote.due, idempotencyKey: 'deposit-1' };
    expect(await send(quote, input)).toMatchObject({ replayed: false, transaction: { status: 'PROCESSING' } });
    expect(await send(quote, input)).toMatchObject({ replayed: true, transaction: { status: 'PROCESSING' } });
    expect((await statuses(quote.transactionId)).at(-1)).toBe('COMPLETED');
    expect(await t.platform.balanceOf(quote.account)).toBe(0n);
  });

  test('appears in the feed as a balance change before the payment proceeds', async () => {
    const quote = await newQuote();
    await send(quote);
    await statuses(quote.transactionId);
    const ofPayment = { transactionId: uuidIn(quote.transactionId), type: 'OUTGOING_PAYMENT' } as const;
    const events = await t.gateway.payments.database.prisma.event.findMany({
      where: { OR: [ofPayment, { accountId: uuidIn(quote.account) }] },
      orderBy: { sequence: 'desc' },
      take: 4,
    });
    expect(events.reverse().map(({ type, status, newBalance }) => [type, status ?? newBalance])).toEqual([
      ['ACCOUNT_STATUS', quote.due],
      ['ACCOUNT_STATUS', 0n],
      ['OUTGOING_PAYMENT', 'PROCESSING'],
      ['OUTGOING_PAYMENT', 'COMPLETED'],
    ]);
  });

  test('is accepted once: further deposits are refused, whether concurrent or later', async () => {
    const quote = await newQuote();
    expect(outcomes(await Promise.all([1, 2, 3].map(() => send(quote))))).toEqual(['CONFLICT', 'CONFLICT', 'done']);
    expect((await statuses(quote.transactionId)).at(-1)).toBe('COMPLETED');
    expect(await send(quote)).toMatchObject({ __typename: 'ConflictError', code: 'CONFLICT' });
    expect(await t.platform.balanceOf(quote.account)).toBe(0n);
  });

  test('is returned to the customer’s account in the same currency if the delivery fails', async () => {
    const quote = await newQuote('USDC', await t.platform.makeScene(0n, '003'));
    await send(quote);
    expect((await statuses(quote.transactionId)).at(-1)).toBe('FAILED');
    const failed = { failureReason: 'QUOTE_EXECUTION_FAILED', refund: { reference: expect.any(String) } };
    expect(await payment(quote)).toMatchObject({ ...failed, quote: { status: 'FAILED' } });
    expect(await t.platform.balanceOf(quote.account)).toBe(quote.due);
  });
});

describe('a deposit that does not match', () => {
  test.each([
    ['too low', -1n],
    ['too high', 1n],
  ])('because it is one unit %s fails the payment and stays with the customer', async (_word, difference) => {
    const quote = await newQuote('USDC', await t.platform.makeScene(0n));
    const amount = quote.due + difference;
    const transaction = { status: 'FAILED', failureReason: 'QUOTE_EXECUTION_FAILED' };
    expect(await send(quote, { amount })).toMatchObject({ transaction });
    const failed = await payment(quote);
    expect(failed.quote.status).toBe('FAILED');
    expect(failed.timeline.at(-1).reason).toContain(`${amount} arrived instead of the ${quote.due} due`);
    expect(onAccount(failed, quote.account)).toEqual([amount]);
    expect(await t.platform.balanceOf(quote.account)).toBe(amount);
    expect(await send(quote)).toMatchObject({ code: 'CONFLICT' });
    expect(await t.platform.balanceOf(quote.account)).toBe(amount);
  });

  test('is refused if its currency differs, its amount is zero or its quote is paid from an account', async () => {
    const quote = await newQuote();
    expect(await send(quote, { currency: 'USD' })).toMatchObject(refusal('INVALID_CURRENCY', 'currency'));
    expect(await send(quote, { amount: 0n })).toMatchObject(refusal('INVALID_AMOUNT', 'amount', 'units'));
    const paidFromAccount = await t.platform.quote(usdToEur(scene));
    const forOther = (quoteId: string) => send({ ...quote, quoteId, currency: 'USD' });
    expect(await forOther(paidFromAccount.id)).toMatchObject(refusal('INVALID_INPUT', 'quoteId'));
    const unknown = 'Quote:00000000-0000-7000-8000-000000000000';
    expect(await forOther(unknown)).toMatchObject({ code: 'QUOTE_NOT_FOUND' });
    expect(await t.platform.balanceOf(quote.account)).toBe(0n);
  });
});

test('a quote funded by a deposit cannot be executed manually', async () => {
  const quote = await newQuote();
  const refused = await t.platform.execute(quote.quoteId);
  expect(refused).toMatchObject({ code: 'INVALID_INPUT', path: ['input', 'quoteId'] });
  expect(refused.message).toContain('payment instructions');
});

/** Returns the sorted outcomes of deposits: `done` for each that took effect, `replayed` or an error code otherwise. */
function outcomes(answers: readonly Data[]): string[] {
  return answers.map((answer) => (answer.replayed === false ? 'done' : (answer.code ?? 'replayed'))).sort();
}

describe('a late deposit', () => {
  /** Creates a quote for a customer whose account in the funding currency is empty. */
  const quoteAt = async ({ platform }: TestGateway) => fundedQuote(platform, await platform.makeScene(0n));

  test('for an expired quote is credited to the customer, and the payment stays EXPIRED', async () => {
    const quote = await quoteAt(short);
    expect((await statuses(quote.transactionId, short.platform)).at(-1)).toBe('EXPIRED');
    expect(await payment(quote, short.platform)).toMatchObject({ failureReason: 'QUOTE_EXPIRED' });

    const expired = { status: 'EXPIRED', failureReason: 'QUOTE_EXPIRED' };
    expect(await send(quote, {}, short.platform)).toMatchObject({ transaction: expired });
    expect(await short.platform.balanceOf(quote.account)).toBe(quote.due);
    const late = await payment(quote, short.platform);
    expect(late.quote.status).toBe('EXPIRED');
    expect(onAccount(late, quote.account)).toEqual([quote.due]);
  });

  test('for an expired quote is accepted once, even if several deposits are processed concurrently', async () => {
    const quote = await quoteAt(short);
    await short.platform.ended(quote.transactionId);
    const keys = ['a', 'b', 'c'].map((word) => `${quote.quoteId}-${word}`);
    const sendAll = () => keys.map((idempotencyKey) => send(quote, { idempotencyKey }, short.platform));
    const lock = ['select from quote where id = $1 for update', uuidIn(quote.quoteId)] as const;
    const planned = await whileLocked(short.databaseUrl, lock, async (holder) => {
      const begun = sendAll();
      await waitForLocks(holder, 1);
      return begun;
    });
    const answers = await Promise.all(planned);
    expect(outcomes(answers)).toEqual(['CONFLICT', 'CONFLICT', 'done']);
    const message = 'the deposit for this quote has already arrived: it is EXPIRED';
    expect(answers.find(({ code }) => code)).toMatchObject({ ...refusal('CONFLICT', 'quoteId'), message });
    // The original responses are still returned.
    expect(outcomes(await Promise.all(sendAll()))).toEqual(['CONFLICT', 'CONFLICT', 'replayed']);
    expect(await short.platform.balanceOf(quote.account)).toBe(quote.due);
  });

  test.each([
    ['arrives twice', { sandboxScenario: { deposit: 'TWICE' } }, (due: bigint) => 2n * due],
    ['falls short', { amount: 7 }, () => 7n],
  ])('for an expired quote is credited as received, even if it %s; others are refused', async (_how, more, total) => {
    const quote = await quoteAt(short);
    await short.platform.ended(quote.transactionId);
    const answers = await Promise.all([1, 2, 3].map(() => send(quote, more, short.platform)));
    expect(outcomes(answers)).toEqual(['CONFLICT', 'CONFLICT', 'done']);
    expect(await short.platform.balanceOf(quote.account)).toBe(total(quote.due));
  });

  test('for a quote not yet marked as expired fails the payment with QUOTE_EXPIRED', async () => {
    const quote = await quoteAt(still);
    const failed = { status: 'FAILED', failureReason: 'QUOTE_EXPIRED' };
    expect(await send(quote, {}, still.platform)).toMatchObject({ transaction: failed });
    expect(await still.platform.balanceOf(quote.account)).toBe(quote.due);
    expect((await still.platform.fieldsOf('quote', quote.quoteId, 'status')).status).toBe('FAILED');
    expect(await send(quote, {}, still.platform)).toMatchObject({ code: 'CONFLICT' });
    expect(await still.platform.balanceOf(quote.account)).toBe(quote.due);
  });
});
