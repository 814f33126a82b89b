import { expect, test } from 'vitest';
import { freezeAccount, freezeCustomer } from '../../src/domain/commands/freezing.ts';
import { act, actOn, ended, execute, lookUp, payByUma, succeed, umaAddressOf, umaQuote } from '../setup/acts.ts';
import { type Data, tester, testGateway } from '../setup/gateway.ts';
import { balanceOf, makeScene, type Scene } from '../setup/scene.ts';

// The customer and the account that receive a payment to a UMA address are determined when the money arrives.

const t = await testGateway();
const payer = await makeScene(t.platform, 1_000_000n);

const freezing = { ...tester, frozen: true, reason: 'a test' };
const decide = (customerId: string, kycStatus: string) =>
  succeed(t.platform, 'sandboxSetKycStatus', { customerId, kycStatus });
const makeDefault = (accountId: string) =>
  succeed(t.platform, 'updateExternalAccount', { accountId, defaultUmaDepositAccount: true });

test.each([
  ['APPROVED', true],
  ['MANUALLY_APPROVED', true],
  ['PENDING_REVIEW', false],
  ['REJECTED', false],
  ['EXPIRED', false],
  ['frozen', false],
  ['deleted', false],
])('a customer whose identity is %s is found at its address: %s', async (status, isFound) => {
  const { customerId } = await makeScene(t.platform, 0n);
  const umaAddress = await umaAddressOf(t.platform, customerId);
  if (status === 'frozen') await freezeCustomer(t.gateway.payments.database, customerId, freezing);
  else if (status === 'deleted') await act(t.platform, 'deleteCustomer', { customerId });
  else await decide(customerId, status);
  const found = await lookUp(t.platform, umaAddress);
  if (isFound) expect(found.id).toMatch(/^Lookup:/);
  else expect(found).toMatchObject({ code: 'UMA_NOT_FOUND' });
});

test('a lookup lists the currency of the default deposit account first, while that account is ACTIVE', async () => {
  const { customerId, outsideEur } = await makeScene(t.platform, 0n);
  const umaAddress = await umaAddressOf(t.platform, customerId);
  const first = async () => (await lookUp(t.platform, umaAddress)).supportedCurrencies[0].currency.code;
  expect(await first()).toBe('USD');
  await makeDefault(outsideEur);
  expect(await first()).toBe('EUR');
  await succeed(t.platform, 'sandboxSetExternalAccountStatus', { accountId: outsideEur, status: 'UNDER_REVIEW' });
  expect(await first()).toBe('USD');
});

test("a lookup offers only currencies of the receiver's platform, even if a deposit account has another", async () => {
  const platform = await t.newPlatform('dollars');
  const { customerId, outsideEur: accountId } = await makeScene(platform, 0n);
  await succeed(platform, 'updateExternalAccount', { accountId, defaultUmaDepositAccount: true });
  await succeed(platform, 'updatePlatform', { currencies: ['USD'] });
  const { supportedCurrencies } = await lookUp(t.platform, await umaAddressOf(platform, customerId));
  expect(supportedCurrencies.map(({ currency }: Data) => currency.code)).toEqual(['USD']);
});

test("a receiver on this installation requires the sender's full name and nothing else", async () => {
  const { customerId } = await makeScene(t.platform, 0n);
  const umaAddress = await umaAddressOf(t.platform, customerId);
  const said = (...senderCustomerInfo: object[]) => umaQuote(t.platform, payer.usd, umaAddress, { senderCustomerInfo });
  expect(await said({ name: 'FULL_NAME', value: 'Grace Hopper' })).toMatchObject({ status: 'PENDING' });
  const missing = { code: 'MISSING_MANDATORY_USER_INFO' };
  expect(await said({ name: 'BIRTH_DATE', value: '1906-12-09' })).toMatchObject(missing);
});

const ways: Readonly<Record<string, (payee: Scene) => Promise<unknown>>> = {
  'is no longer approved': ({ customerId }) => decide(customerId, 'REJECTED'),
  'is frozen': ({ customerId }) => freezeCustomer(t.gateway.payments.database, customerId, freezing),
  'has its account frozen': ({ usd }) => freezeAccount(t.gateway.payments.database, usd, freezing),
  'is deleted': ({ customerId }) => act(t.platform, 'deleteCustomer', { customerId }),
};

test.each(Object.keys(ways))(
  'a payment is rejected and its money returned if, when it is sent, the receiver %s',
  async (way) => {
    const payee = await makeScene(t.platform, 0n);
    const { id, transaction } = await umaQuote(t.platform, payer.usd, await umaAddressOf(t.platform, payee.customerId));
    const before = await balanceOf(t.platform, payer.usd);
    await ways[way]?.(payee);
    await execute(t.platform, id);
    expect(await ended(t.platform, transaction.id)).toMatchObject({ status: 'REJECTED' });
    expect(await balanceOf(t.platform, payer.usd)).toBe(before);
    expect(await balanceOf(t.platform, payee.usd)).toBe(0n);
  },
);

test('a default deposit account in a different currency is skipped: the internal account gets the money', async () => {
  const payee = await makeScene(t.platform, 0n);
  await makeDefault(payee.outsideEur);
  const { incoming } = await payByUma(t.platform, payer.usd, payee.customerId);
  expect(incoming).toMatchObject({ destination: { accountId: payee.usd } });
  await actOn(t.platform, 'approveTransaction', { transactionId: incoming.id });
  const done = await ended(t.platform, incoming.id);
  expect(await balanceOf(t.platform, payee.usd)).toBe(BigInt(done.receivedAmount.amount));
});
