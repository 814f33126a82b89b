import { expect, test } from 'vitest';
import { freezeAccount, freezeCustomer } from '../../src/domain/commands/freezing.ts';
import { type Data, tester, testGateway } from '../setup/gateway.ts';
import type { Scene } from '../setup/scene.ts';

// The customer and the account that receive a payment to a UMA address are determined when the money arrives.

const t = await testGateway();
const payer = await t.platform.makeScene(1_000_000n);

const freezing = { ...tester, frozen: true, reason: 'a test' };
const decide = (customerId: string, kycStatus: string) =>
  t.platform.succeed('sandboxSetKycStatus', { customerId, kycStatus });
const makeDefault = (accountId: string) =>
  t.platform.succeed('updateExternalAccount', { accountId, defaultUmaDepositAccount: true });

test.each([
  ['APPROVED', true],
  ['MANUALLY_APPROVED', true],
  ['PENDING_REVIEW', false],
  ['REJECTED', false],
  ['EXPIRED', false],
  ['frozen', false],
  ['deleted', false],
])('a customer whose identity is %s is found at its address: %s', async (status, isFound) => {
  const { customerId } = await t.platform.makeScene(0n);
  const umaAddress = await t.platform.umaAddressOf(customerId);
  if (status === 'frozen') await freezeCustomer(t.gateway.payments.database, customerId, freezing);
  else if (status === 'deleted') await t.platform.act('deleteCustomer', { customerId });
  else await decide(customerId, status);
  const found = await t.platform.lookUp(umaAddress);
  if (isFound) expect(found.id).toMatch(/^Lookup:/);
  else expect(found).toMatchObject({ code: 'UMA_NOT_FOUND' });
});

test('a lookup lists the currency of the default deposit account first, while that account is ACTIVE', async () => {
  const { customerId, outsideEur } = await t.platform.makeScene(0n);
  const umaAddress = await t.platform.umaAddressOf(customerId);
  const first = async () => (await t.platform.lookUp(umaAddress)).supportedCurrencies[0].currency.code;
  expect(await first()).toBe('USD');
  await makeDefault(outsideEur);
  expect(await first()).toBe('EUR');
  await t.platform.succeed('sandboxSetExternalAccountStatus', { accountId: outsideEur, status: 'UNDER_REVIEW' });
  expect(await first()).toBe('USD');
});

test("a lookup offers only currencies of the receiver's platform, even if a deposit account has another", async () => {
  const platform = await t.newPlatform('dollars');
  const { customerId, outsideEur: accountId } = await platform.makeScene(0n);
  await platform.succeed('updateExternalAccount', { accountId, defaultUmaDepositAccount: true });
  await platform.succeed('updatePlatform', { currencies: ['USD'] });
  const { supportedCurrencies } = await t.platform.lookUp(await platform.umaAddressOf(customerId));
  expect(supportedCurrencies.map(({ currency }: Data) => currency.code)).toEqual(['USD']);
});

test("a receiver on this installation requires the sender's full name and nothing else", async () => {
  const { customerId } = await t.platform.makeScene(0n);
  const umaAddress = await t.platform.umaAddressOf(customerId);
  const said = (...senderCustomerInfo: object[]) => t.platform.umaQuote(payer.usd, umaAddress, { senderCustomerInfo });
  expect(await said({ name: 'FULL_NAME', value: 'Grace Hopper' })).toMatchObject({ status: 'PENDING' });
  const missing = { code: 'MISSING_MANDATORY_USER_INFO' };
  expect(await said({ name: 'BIRTH_DATE', value: '1906-12-09' })).toMatchObject(missing);
});

const ways: Readonly<Record<string, (payee: Scene) => Promise<unknown>>> = {
  'is no longer approved': ({ customerId }) => decide(customerId, 'REJECTED'),
  'is frozen': ({ customerId }) => freezeCustomer(t.gateway.payments.database, customerId, freezing),
  'has its account frozen': ({ usd }) => freezeAccount(t.gateway.payments.database, usd, freezing),
  'is deleted': ({ customerId }) => t.platform.act('deleteCustomer', { customerId }),
};

test.each(Object.keys(ways))(
  'a payment is rejected and its money returned if, when it is sent, the receiver %s',
  async (way) => {
    const payee = await t.platform.makeScene(0n);
    const { id, transaction } = await t.platform.umaQuote(payer.usd, await t.platform.umaAddressOf(payee.customerId));
    const before = await t.platform.balanceOf(payer.usd);
    await ways[way]?.(payee);
    await t.platform.execute(id);
    expect(await t.platform.ended(transaction.id)).toMatchObject({ status: 'REJECTED' });
    expect(await t.platform.balanceOf(payer.usd)).toBe(before);
    expect(await t.platform.balanceOf(payee.usd)).toBe(0n);
  },
);

test('a default deposit account in a different currency is skipped: the internal account gets the money', async () => {
  const payee = await t.platform.makeScene(0n);
  await makeDefault(payee.outsideEur);
  const { incoming } = await t.platform.payByUma(payer.usd, payee.customerId);
  expect(incoming).toMatchObject({ destination: { accountId: payee.usd } });
  await t.platform.actOn('approveTransaction', { transactionId: incoming.id });
  const done = await t.platform.ended(incoming.id);
  expect(await t.platform.balanceOf(payee.usd)).toBe(BigInt(done.receivedAmount.amount));
});
