import { describe, expect, test } from 'vitest';
import { releaseSuspense } from '../../src/domain/settlement/order-by-hand.ts';
import { between, moving, refusal, usdToEur } from '../setup/acts.ts';
import { fundedQuote, sendDeposit } from '../setup/funded-quote.ts';
import { type Data, inTurn, type TestPlatform, tester, testGateway } from '../setup/gateway.ts';
import { patient } from '../setup/locks.ts';
import { expireToken, passDelay } from '../setup/passing-time.ts';
import { restClient } from '../setup/rest.ts';
import { type Scene, usAccount } from '../setup/scene.ts';

// A customer who holds money or has payments in flight cannot be deleted. The database checks this while it holds locks
// on the accounts.

const t = await testGateway({}, undefined, { pace: patient });
const { platform } = t;
/** The platform's own account. */
const own = await platform.ownAccount('USD');

const refusalFields = `... on CustomerInUseError { balances { amount currency { code } } paymentsUnderWay transactionIds }`;

/** Deletes a customer, and returns the result. */
const remove = (customerId: string, by: TestPlatform = platform): Promise<Data> =>
  by.act('deleteCustomer', { customerId }, 'customer { id }', refusalFields);

const deleted = { __typename: 'DeleteCustomerSuccess' };
const moveOut = (from: string, amount: bigint) => platform.act('transferInternal', moving(from, own, amount));
const never = { sandboxScenario: { delayMs: 3_600_000 } };

describe('a customer with money', () => {
  test('cannot be deleted before the money is paid out, and the refusal lists the balances', async () => {
    const scene = await platform.makeScene(12_550n);
    await platform.fund(scene.eur, 300n);
    expect(await remove(scene.customerId)).toEqual({
      __typename: 'CustomerInUseError',
      code: 'CUSTOMER_IN_USE',
      message: 'the customer cannot be deleted: it still holds 125.50 USD, 3.00 EUR',
      path: ['input', 'customerId'],
      balances: [
        { amount: '12550', currency: { code: 'USD' } },
        { amount: '300', currency: { code: 'EUR' } },
      ],
      paymentsUnderWay: 0,
      transactionIds: [],
    });
    const rest = await restClient(t.url, platform.authorization);
    const { code, details } = await rest.ask('DELETE', `/customers/${scene.customerId}`, undefined, 409);
    expect(code).toBe('CUSTOMER_IN_USE');
    expect(details).toMatchObject({ field: 'customerId', paymentsUnderWay: 0, transactionIds: [] });
    expect(details.balances).toMatchObject([
      { accountId: scene.usd, amount: 12_550, currency: { code: 'USD' } },
      { accountId: scene.eur, amount: 300, currency: { code: 'EUR' } },
    ]);
    expect(await moveOut(scene.usd, 12_550n)).toMatchObject({ __typename: 'TransferInternalSuccess' });
    const sent = await platform.actOn('transferOut', moving(scene.eur, scene.outsideEur, 300));
    await platform.ended(sent.transaction.id);
    expect(await remove(scene.customerId)).toMatchObject(deleted);
  });

  test('has its balances listed in the refusal only if the caller may read them', async () => {
    const scene = await platform.makeScene(100n);
    const blind = await platform.serverOf('MANAGE');
    const message = 'the customer still holds money, or has payments in flight';
    const hidden = { balances: null, paymentsUnderWay: null, transactionIds: null };
    expect(await remove(scene.customerId, blind)).toMatchObject({ code: 'CUSTOMER_IN_USE', message, ...hidden });
  });
});

describe('a customer with a payment in flight', () => {
  const underWay = (transactionId: string) => ({
    code: 'CUSTOMER_IN_USE',
    message: 'the customer cannot be deleted: 1 of its payments is under way',
    balances: [],
    paymentsUnderWay: 1,
    transactionIds: [transactionId],
  });

  test('cannot be deleted, whether it pays or is paid', async () => {
    const [payer, payee] = [await platform.makeScene(100n), await platform.makeScene(0n)];
    const out = await platform.pay(payer, 100, never);
    expect(await remove(payer.customerId)).toMatchObject(underWay(out.id));

    const other = await platform.makeScene(1_000n);
    const made = await platform.quote(between(other.usd, payee.eur, 1_000, { immediatelyExecute: true, ...never }));
    expect(await remove(payee.customerId)).toMatchObject(underWay(made.transaction.id));

    const { customerId } = await platform.makeScene(0n);
    const sandboxScenario = { step: 'PAY_REQUEST', delayMs: 3_600_000 };
    const { id, status } = await platform.announce(customerId, 100, { sandboxScenario });
    expect(status).toBe('CREATED');
    expect(await remove(customerId)).toMatchObject(underWay(id));
  });

  test('can be deleted despite its unexecuted quotes, which can then no longer be executed', async () => {
    const scene = await platform.makeScene(0n);
    const { id } = await platform.quote(usdToEur(scene));
    const funded = await fundedQuote(platform, scene);
    expect(await remove(scene.customerId)).toMatchObject(deleted);
    expect(await platform.execute(id)).toMatchObject({ code: 'USER_NOT_READY' });
    expect(await sendDeposit(platform, funded)).toMatchObject({ code: 'USER_NOT_READY' });
  });
});

describe('a deleted customer', () => {
  test('has its valid client tokens revoked, and no other token changes', async () => {
    const { customerId } = await platform.makeScene(0n);
    const [living, expired, revoked] = await Promise.all([1, 2, 3].map(() => platform.mint({ customerId })));
    await platform.succeed('revokeClientToken', { tokenId: revoked.tokenId });
    await expireToken(t, expired.tokenId);
    const read = async () => {
      const tokens = await platform.listed('clientTokens', { customerId }, 'id revokedAt');
      return Object.fromEntries(tokens.map(({ id, revokedAt }) => [id, revokedAt]));
    };
    const before = await read();
    const moment = expect.any(String);
    expect(before).toEqual({ [living.tokenId]: null, [expired.tokenId]: null, [revoked.tokenId]: moment });
    expect(await remove(customerId)).toMatchObject(deleted);
    expect(await read()).toEqual({ ...before, [living.tokenId]: moment });
  });

  test('accepts no deposit, not even a late one for its own quote', async () => {
    const scene = await platform.makeScene(0n);
    const late = await fundedQuote(platform, scene);
    await platform.succeed('cancelQuote', { quoteId: late.quoteId });
    expect(await remove(scene.customerId)).toMatchObject(deleted);
    const funded = await platform.act('sandboxFundAccount', { accountId: scene.usd, amount: 5 });
    expect(funded).toMatchObject(refusal('CUSTOMER_DELETED', 'accountId'));
    for (const more of [{}, { amount: 7 }, { sandboxScenario: { deposit: 'TWICE' } }])
      expect(await sendDeposit(platform, late, more)).toMatchObject(refusal('CUSTOMER_DELETED', 'quoteId'));
    expect(await platform.balanceOf(late.account)).toBe(0n);
  });

  test('gets no money back: a returned payment is held in suspense until it is released to the platform', async () => {
    const scene = await platform.makeScene(500n);
    const returned = await platform.pay(scene, 500, { sandboxScenario: { returnAfterMs: 3_600_000 } });
    expect(await platform.ended(returned.id)).toMatchObject({ status: 'COMPLETED' });
    expect(await remove(scene.customerId)).toMatchObject(deleted);
    await passDelay(t, returned.id);
    await platform.untilStatus(returned.id, 'REFUNDED');
    const waiting = await platform.transactionOf(returned.id);
    expect(waiting).toMatchObject({ status: 'REFUNDED', refund: { settledAt: null } });
    expect(waiting.timeline.at(-1).reason).toMatch(
      /; the account cannot receive the refund, which is held in suspense$/,
    );
    expect(await platform.balanceOf(scene.usd)).toBe(0n);

    const before = await platform.balanceOf(own);
    const { database } = t.gateway.payments;
    expect(await releaseSuspense(database, returned.id, tester)).toMatchObject({ kind: 'paid' });
    expect([await platform.balanceOf(scene.usd), await platform.balanceOf(own)]).toEqual([0n, before + 500n]);
    expect((await platform.transactionOf(returned.id)).refund.settledAt).not.toBeNull();
    expect(await releaseSuspense(database, returned.id, tester)).toMatchObject({ kind: 'paid-before' });
    expect(await platform.balanceOf(own)).toBe(before + 500n);
  });
});

describe('a concurrent deletion', () => {
  const deposit = (scene: Scene) => () => platform.act('sandboxFundAccount', { accountId: scene.usd, amount: 700 });

  test('is refused if a deposit comes first; if the deletion comes first, the deposit is refused', async () => {
    const scene = await platform.makeScene(0n);
    const late = await platform.makeScene(0n);
    const [, refused] = await inTurn(t, ['account', scene.usd], deposit(scene), () => remove(scene.customerId));
    expect(refused).toMatchObject({ code: 'CUSTOMER_IN_USE', balances: [{ amount: '700' }] });
    const [done, back] = await inTurn(t, ['account', late.usd], () => remove(late.customerId), deposit(late));
    expect([done, back]).toMatchObject([deleted, { code: 'CUSTOMER_DELETED' }]);
    expect(await platform.balanceOf(late.usd)).toBe(0n);
  });

  test('is refused if a quote is executed first, by the command or by a deposit', async () => {
    const scene = await platform.makeScene(1_000n);
    const { id, transaction } = await platform.quote(usdToEur(scene, never));
    const payer = await platform.makeScene(0n);
    const funded = await fundedQuote(platform, payer);
    for (const [account, owner, payment, pays] of [
      [scene.usd, scene.customerId, transaction.id, () => platform.execute(id)],
      [funded.account, payer.customerId, funded.transactionId, () => sendDeposit(platform, funded, never)],
    ] as const) {
      const [paid, refused] = await inTurn(t, ['account', account], pays, () => remove(owner));
      expect(paid).toMatchObject({ replayed: false });
      expect(refused).toMatchObject({ code: 'CUSTOMER_IN_USE', balances: [], transactionIds: [payment] });
    }
  });

  test('keeps an external account registered before it; an account registered after it is refused', async () => {
    const [first, second] = [await platform.newCustomer(), await platform.newCustomer()];
    const register = (customerId: string) => () => platform.externalAccount(customerId, 'USD', usAccount('12345678'));
    const [account, done] = await inTurn(t, ['customer', first], register(first), () => remove(first));
    expect([account, done]).toMatchObject([expect.stringMatching(/^ExternalAccount:/), deleted]);
    const late = () => register(second)().catch(String);
    const [, refused] = await inTurn(t, ['customer', second], () => remove(second), late);
    expect(refused).toMatch('CUSTOMER_DELETED');
  });
});
