import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  act,
  ended,
  execute,
  fieldsOf,
  idsIn,
  pay,
  quote,
  refusal,
  setAccountStatus,
  transfer,
  usdToEur,
} from '../setup/acts.ts';
import { type Data, testGateway, uuidIn } from '../setup/gateway.ts';
import { defaultAccounts, externalAccount, makeScene, type Scene, usAccount } from '../setup/scene.ts';

// External accounts that change and are deleted (decision 68).

const t = await testGateway();
const { platform } = t;

const fields = 'account { id status isDeleted platformAccountId defaultUmaDepositAccount }';
const change = (accountId: string, more: object): Promise<Data> =>
  act(platform, 'updateExternalAccount', { accountId, ...more }, fields);
const remove = (accountId: string): Promise<Data> => act(platform, 'deleteExternalAccount', { accountId }, fields);

/** Returns the ids of a customer's external accounts that appear in lists. */
async function listed({ customerId }: Scene, isIncludingDeleted?: boolean): Promise<string[]> {
  return (await idsIn(platform, 'accounts', { kind: 'EXTERNAL', customerId, isIncludingDeleted })).sort();
}

const defaultOf = ({ customerId }: Scene) => defaultAccounts(platform, customerId);

test('the platform’s own id can be set, keeps its value and can be removed', async () => {
  const { outsideUsd } = await makeScene(platform, 0n);
  const own = async (more: object) => (await change(outsideUsd, more)).account.platformAccountId;
  expect(await own({ platformAccountId: 'ours-1' })).toBe('ours-1');
  expect(await own({ defaultUmaDepositAccount: true })).toBe('ours-1');
  expect(await own({ platformAccountId: null })).toBeNull();
  expect(await change(outsideUsd, { platformAccountId: 'x'.repeat(201) })).toMatchObject(
    refusal('INVALID_INPUT', 'platformAccountId'),
  );
});

test('removing the platform’s own id and leaving it unchanged are different inputs under one key', async () => {
  const { outsideUsd } = await makeScene(platform, 0n);
  await change(outsideUsd, { platformAccountId: 'ours-2' });
  const idempotencyKey = randomUUID();
  expect(await change(outsideUsd, { idempotencyKey })).toMatchObject({ account: { platformAccountId: 'ours-2' } });
  expect(await change(outsideUsd, { idempotencyKey, platformAccountId: null })).toMatchObject({
    code: 'IDEMPOTENCY_MISMATCH',
  });
  expect(await change(outsideUsd, { idempotencyKey })).toMatchObject({ replayed: true });
});

test('a customer has one default deposit account: a new one replaces it, and it can be unset', async () => {
  const scene = await makeScene(platform, 0n);
  for (const account of [scene.outsideUsd, scene.outsideEur]) {
    expect(await change(account, { defaultUmaDepositAccount: true })).toMatchObject({
      account: { id: account, status: 'ACTIVE', defaultUmaDepositAccount: true },
    });
    expect(await defaultOf(scene)).toEqual([account]);
  }
  await change(scene.outsideUsd, { defaultUmaDepositAccount: false });
  expect(await defaultOf(scene)).toEqual([scene.outsideEur]);
  await change(scene.outsideEur, { defaultUmaDepositAccount: false });
  expect(await defaultOf(scene)).toEqual([]);
  // The same is true if both are set concurrently.
  const both = [scene.outsideUsd, scene.outsideEur].map((id) => change(id, { defaultUmaDepositAccount: true }));
  for (const answer of await Promise.all(both)) expect(answer.code).toBeUndefined();
  expect(await defaultOf(scene)).toHaveLength(1);
});

test('the reason for a status is kept when other fields change', async () => {
  const { outsideUsd: accountId } = await makeScene(platform, 0n);
  const reason = 'a name to look at';
  await setAccountStatus(platform, accountId, { status: 'UNDER_REVIEW', reason });
  await change(accountId, { platformAccountId: 'ours-3' });
  const read = '... on ExternalAccount { status statusReason version }';
  const after = { status: 'UNDER_REVIEW', statusReason: reason, version: 3 };
  expect(await fieldsOf(platform, 'account', accountId, read)).toEqual(after);
});

test('making an account the default changes it and its predecessor, once each, and no other account', async () => {
  const scene = await makeScene(platform, 0n);
  /** Returns the versions of the customer's accounts that are higher than the first. */
  const versions = async (): Promise<Record<string, number>> => {
    const text = 'select id, version from account where customer_id = $1 and version > 1';
    const { rows } = await t.owner.query(text, [uuidIn(scene.customerId)]);
    return Object.fromEntries(rows.map(({ id, version }) => [`ExternalAccount:${id}`, version]));
  };
  await change(scene.outsideUsd, { defaultUmaDepositAccount: true });
  expect(await versions()).toEqual({ [scene.outsideUsd]: 2 });
  await change(scene.outsideUsd, { defaultUmaDepositAccount: true });
  expect(await versions()).toEqual({ [scene.outsideUsd]: 3 });
  await change(scene.outsideEur, { defaultUmaDepositAccount: true });
  expect(await versions()).toEqual({ [scene.outsideUsd]: 4, [scene.outsideEur]: 2 });
  const wallet = { baseWallet: { address: `0x${'d'.repeat(40)}` } };
  const rest = { beneficiary: undefined, defaultUmaDepositAccount: true };
  await externalAccount(platform, scene.customerId, 'USDC', wallet, rest);
  expect(await versions()).toEqual({ [scene.outsideUsd]: 4, [scene.outsideEur]: 3 });
});

test('a deleted account remains in old payments, but is in no list and cannot be used in new payments', async () => {
  const scene = await makeScene(platform, 10_000n);
  const paid = await pay(platform, scene, 100, { sandboxScenario: { delayMs: 200 } });
  const waiting = await quote(platform, usdToEur(scene));
  await change(scene.outsideUsd, { defaultUmaDepositAccount: true });
  for (const account of [scene.outsideUsd, scene.outsideEur]) {
    expect(await remove(account)).toMatchObject({
      account: { id: account, status: 'INACTIVE', isDeleted: true, defaultUmaDepositAccount: false },
    });
  }
  // Payments in flight continue.
  const delivered = { status: 'COMPLETED', destination: { accountId: scene.outsideUsd } };
  expect(await ended(platform, paid.id)).toMatchObject(delivered);
  expect(await execute(platform, waiting.id)).toMatchObject({ code: 'INVALID_BANK_ACCOUNT' });
  expect(await transfer(platform, 'transferOut', scene, 1)).toMatchObject({ code: 'INVALID_BANK_ACCOUNT' });

  expect(await listed(scene)).toEqual([]);
  expect(await listed(scene, true)).toEqual([scene.outsideUsd, scene.outsideEur].sort());
  const node = await fieldsOf(platform, 'node', scene.outsideUsd, '... on ExternalAccount { status isDeleted }');
  expect(node).toEqual({ status: 'INACTIVE', isDeleted: true });
});

test('a deleted account is immutable, and can be registered again', async () => {
  const { customerId, outsideUsd } = await makeScene(platform, 0n);
  const beneficiary = { individual: { fullName: 'Grace Hopper' } };
  const input = { customerId, currency: 'USD', accountInfo: usAccount('8800001'), beneficiary };
  const again = () => act(platform, 'createExternalAccount', input, 'account { id }');
  const first = (await again()).account.id;
  expect((await again()).code).toBe('CONFLICT');
  await remove(first);
  for (const refused of [
    await remove(first),
    await change(first, { platformAccountId: 'late' }),
    await setAccountStatus(platform, first, { status: 'ACTIVE' }),
  ]) {
    expect(refused).toMatchObject({ __typename: 'ConflictError', code: 'CONFLICT' });
    expect(refused.message).toContain('DELETED');
  }
  expect((await again()).account.id).not.toBe(first);
  expect(await change(outsideUsd, {})).toMatchObject({ account: { id: outsideUsd, isDeleted: false } });
});
