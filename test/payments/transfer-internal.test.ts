import { expect, test } from 'vitest';
import { moving, refusal, went } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';

// Transfers between internal accounts in the same currency (decision 63).

const t = await testGateway();
const { platform } = t;
const scene = await platform.makeScene(10_000n);
const other = await platform.makeScene(0n);
/** The platform's own account. */
const own = await platform.ownAccount('USD');

const send = (from: string, to: string, rest: object = {}, by = platform): Promise<Data> =>
  by.act('transferInternal', moving(from, to, 100, rest), 'transaction { id status type }');

/** Returns the transaction on the receiving side of a payment, which has the same reference. */
async function arrivalOf({ id, reconciliationReference }: Data): Promise<Data> {
  const ids = await platform.idsIn('transactions', { reference: reconciliationReference });
  return platform.transactionOf(ids.find((one) => one !== id) ?? expect.fail('nothing arrived'));
}

test.each([
  ['a customer to the platform', () => scene.usd, () => own],
  ['the platform to a customer', () => own, () => other.usd],
  ['a customer to another customer', () => scene.usd, () => other.usd],
])('from %s, money moves immediately, with a payment on each side', async (_what, from, to) => {
  const [less, more] = [await platform.balanceOf(from()), await platform.balanceOf(to())];
  const { transaction } = await send(from(), to(), { amount: 40, description: 'closing' });
  expect(transaction).toMatchObject({ status: 'COMPLETED', type: 'OUTGOING' });
  expect([await platform.balanceOf(from()), await platform.balanceOf(to())]).toEqual([less - 40n, more + 40n]);
  const [minus, plus] = [{ amount: '-40' }, { amount: '40' }];
  const both = {
    ...{ timeline: went('PENDING', 'COMPLETED'), description: 'closing' },
    ...{ source: { accountId: from() }, destination: { accountId: to() }, receivedAmount: plus },
  };
  const sent = await platform.transactionOf(transaction.id);
  const out = [
    { amount: minus, account: { id: from() } },
    { amount: plus, system: 'OUTSIDE' },
  ];
  expect(sent).toMatchObject({ ...both, sentAmount: plus, ledgerEntries: out });
  const into = [
    { amount: minus, system: 'OUTSIDE' },
    { amount: plus, account: { id: to() } },
  ];
  expect(await arrivalOf(sent)).toMatchObject({ ...both, type: 'INCOMING', ledgerEntries: into });
});

test('an impossible transfer is refused, and the error names the field', async () => {
  const poor = await platform.makeScene(0n);
  const cases: [from: string, to: string, code: string, field: string][] = [
    [scene.usd, scene.usd, 'SELF_PAYMENT', 'destinationAccountId'],
    [scene.usd, scene.eur, 'INVALID_CURRENCY', 'destinationAccountId'],
    [scene.usd, scene.outsideUsd, 'INVALID_INPUT', 'destinationAccountId'],
    [scene.outsideUsd, own, 'INVALID_INPUT', 'sourceAccountId'],
    [poor.usd, own, 'INSUFFICIENT_BALANCE', 'sourceAccountId'],
  ];
  for (const [from, to, code, field] of cases) expect(await send(from, to)).toMatchObject(refusal(code, field));
});

test('a customer whose identity was rejected can pay only the platform, and cannot be paid', async () => {
  const stopped = await platform.newCustomer('Grace Hopper 002');
  const usd = await platform.internalAccount(stopped, 'USD');
  await platform.fund(usd, 1_000n);
  expect(await send(usd, other.usd)).toMatchObject({ code: 'USER_NOT_READY' });
  expect(await send(own, usd)).toMatchObject({ code: 'USER_NOT_READY' });
  expect(await send(usd, own)).toMatchObject({ __typename: 'TransferInternalSuccess' });
  expect(await platform.balanceOf(usd)).toBe(900n);
});
