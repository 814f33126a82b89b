import { expect, test } from 'vitest';
import { moving, refusal, usdToEur } from '../setup/acts.ts';
import { fundedQuote, sendDeposit } from '../setup/funded-quote.ts';
import { type Data, testGateway } from '../setup/gateway.ts';

// Tests actions on existing objects: canceling a quote (decision 67) and deciding an identity check (decision 53).

const t = await testGateway();
const { platform } = t;
const scene = await platform.makeScene(100_000n);

const cancel = (quoteId: string, rest: object = {}, by = platform): Promise<Data> =>
  by.act('cancelQuote', { quoteId, ...rest }, 'quote { id status expiresAt transaction { id } }');

test('a canceled quote expires immediately, with its transaction, and can no longer be executed', async () => {
  const made = await platform.quote(usdToEur(scene));
  const balance = await platform.balanceOf(scene.usd);
  const first = await cancel(made.id, { idempotencyKey: 'cancel-1' });
  expect(first).toMatchObject({ replayed: false, quote: { id: made.id, status: 'EXPIRED' } });
  expect(Date.parse(first.quote.expiresAt)).toBeGreaterThan(Date.now() + 60_000);
  expect(await cancel(made.id, { idempotencyKey: 'cancel-1' })).toEqual({ ...first, replayed: true });
  const timeline = [
    { status: 'PENDING', reason: null },
    { status: 'EXPIRED', reason: 'canceled before it was executed or funded' },
  ];
  const expired = { status: 'EXPIRED', failureReason: 'QUOTE_EXPIRED', timeline };
  expect(await platform.transactionOf(made.transaction.id)).toMatchObject(expired);
  for (const late of [await platform.execute(made.id), await cancel(made.id)]) {
    expect(late).toMatchObject({ __typename: 'QuoteExpiredError', path: ['input', 'quoteId'] });
    // The time at which the quote was canceled, which is before its original expiry.
    const [, moment = ''] = /expired at ([^;]+);/.exec(late.message) ?? [];
    expect(Date.parse(moment)).toBeLessThan(Date.parse(first.quote.expiresAt));
  }
  expect(await platform.balanceOf(scene.usd)).toBe(balance);
});

test('if a quote is canceled and executed concurrently, one of the two is refused', async () => {
  for (let round = 0; round < 6; round++) {
    const made = await platform.quote(usdToEur(scene));
    const [cancelled, executed] = await Promise.all([cancel(made.id), platform.execute(made.id)]);
    expect([
      ['done', 'QUOTE_EXPIRED'],
      ['CONFLICT', 'done'],
    ]).toContainEqual([cancelled.code ?? 'done', executed.code ?? 'done']);
  }
});

test('a deposit for a canceled quote is credited to its customer; a paid quote cannot be canceled', async () => {
  const funded = await fundedQuote(platform, await platform.makeScene(0n));
  expect(await cancel(funded.quoteId)).toMatchObject({ quote: { status: 'EXPIRED' } });
  expect(await sendDeposit(platform, funded)).toMatchObject({ transaction: { status: 'EXPIRED' } });
  expect(await platform.balanceOf(funded.account)).toBe(funded.due);
  const paid = await fundedQuote(platform, await platform.makeScene(0n));
  expect(await sendDeposit(platform, paid)).toMatchObject({ replayed: false });
  expect(await cancel(paid.quoteId)).toMatchObject({ code: 'CONFLICT' });
});

test("an app can cancel its customer's quotes, and no others", async () => {
  const app = await platform.payingApp({ customerId: scene.customerId });
  const foreign = await platform.quote(usdToEur(await platform.makeScene(1_000n)));
  expect((await cancel(foreign.id, {}, app)).code).toBe('QUOTE_NOT_FOUND');
  expect(await cancel((await platform.quote(usdToEur(scene))).id, {}, app)).toMatchObject({
    quote: { status: 'EXPIRED' },
  });
});

test('in the sandbox a platform decides whether a customer may move money', async () => {
  const customerId = await platform.newCustomer('Grace Hopper 001');
  const usd = await platform.internalAccount(customerId, 'USD');
  await platform.fund(usd, 500n);
  const send = async () => (await platform.act('transferInternal', moving(usd, scene.usd, 100))).code;
  const decide = (kycStatus: string): Promise<Data> =>
    platform.act('sandboxSetKycStatus', { customerId, kycStatus }, 'customer { kycStatus }');
  expect(await send()).toBe('USER_NOT_READY');
  expect(await decide('MANUALLY_APPROVED')).toMatchObject({ customer: { kycStatus: 'MANUALLY_APPROVED' } });
  expect(await send()).toBeUndefined();
  expect(await decide('REJECTED')).toMatchObject({ customer: { kycStatus: 'REJECTED' } });
  expect(await send()).toBe('USER_NOT_READY');

  const empty = await platform.newCustomer();
  await platform.succeed('deleteCustomer', { customerId: empty });
  const input = { customerId: empty, kycStatus: 'APPROVED' };
  expect(await platform.act('sandboxSetKycStatus', input)).toMatchObject(refusal('CUSTOMER_DELETED', 'customerId'));
  const live = await t.newPlatform('live', 'PRODUCTION');
  expect((await live.act('sandboxSetKycStatus', input)).code).toBe('FORBIDDEN');
});
