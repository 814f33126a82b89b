import { expect, test } from 'vitest';
import { checkDueAccounts } from '../../src/domain/accounts/external-accounts.ts';
import type { AccountCheck } from '../../src/rails/rail.ts';
import { type Data, sandboxOf, testGateway, uuidIn, withoutTriggers } from '../setup/gateway.ts';
import { usAccount } from '../setup/scene.ts';

// A rail rechecks an external account while a caller changes it. The test plays the rail, and runs the background work
// itself.

/** The rail's responses, in order, and the account ages passed to the rail. */
let answers: (() => Promise<AccountCheck>)[] = [];
const ages: number[] = [];
const t = await testGateway({ ROLE: 'serve' });
const checkAccount = async (_account: unknown, _name: unknown, ageMs: number) => {
  ages.push(ageMs);
  const answer = answers.shift();
  if (!answer) throw new Error('nothing more was expected');
  return answer();
};
Object.assign(sandboxOf(t.gateway.payments), { checkAccount });

const says = (rest: object = {}): AccountCheck => ({
  ...{ accepted: true, status: 'ACTIVE', verification: 'PENDING', verifiedName: null },
  ...rest,
});

let made = 0;

/** Registers an account that the rail must check again immediately. */
async function register(rest: object = {}): Promise<string> {
  made += 1;
  answers = [async () => says({ checkInMs: 0, ...rest })];
  return t.platform.externalAccount(await t.platform.newCustomer(), 'USD', usAccount(`${810_000 + made}`));
}

/** Makes the rail check the accounts that are due and return these results. Returns the account's resulting state. */
async function check(accountId: string, ...given: readonly (() => Promise<AccountCheck>)[]): Promise<Data> {
  answers = [...given];
  await t.owner.query('update account_check set due_at = clock_ms()');
  expect(await checkDueAccounts(t.gateway.payments, 10)).toBe(given.length);
  return t.platform.fieldsOf(
    'account',
    accountId,
    '... on ExternalAccount { status version beneficiaryVerificationStatus }',
  );
}

const checks = async (accountId: string) =>
  t.gateway.payments.database.prisma.accountCheck.count({ where: { accountId: uuidIn(accountId) } });

test("a rail's answer about an account that has changed since is discarded, and the rail is asked again", async () => {
  const accountId = await register();
  const about = (beneficiaryVerificationStatus: string, version: number) => {
    return { status: 'ACTIVE', beneficiaryVerificationStatus, version };
  };
  const changed = await check(accountId, async () => {
    await t.platform.succeed('updateExternalAccount', { accountId, platformAccountId: 'ours' });
    return says({ verification: 'NOT_MATCHED' });
  });
  expect(changed).toMatchObject(about('PENDING', 2));
  expect(await checks(accountId)).toBe(1);
  expect(await check(accountId, async () => says({ verification: 'MATCHED' }))).toMatchObject(about('MATCHED', 3));
  expect(await checks(accountId)).toBe(0);
});

test("a verification status that is set during the rail's check is kept", async () => {
  const accountId = await register();
  const said = { accountId, beneficiaryVerificationStatus: 'MATCHED' };
  const changed = await check(accountId, async () => {
    await t.platform.succeed('sandboxSetExternalAccountStatus', said);
    return says({ verification: 'NOT_MATCHED' });
  });
  expect(changed).toMatchObject({ beneficiaryVerificationStatus: 'MATCHED', version: 2 });
  expect(await checks(accountId)).toBe(0);
});

test('a deleted account is no longer checked', async () => {
  const accountId = await register();
  expect(await checks(accountId)).toBe(1);
  await t.platform.succeed('deleteExternalAccount', { accountId });
  expect(await checks(accountId)).toBe(0);
});

test("an account that the rail refuses becomes INACTIVE, and its owner's verification status stays", async () => {
  const accountId = await register({ verification: 'MATCHED' });
  const refused = await check(accountId, async () => ({ accepted: false, explanation: 'closed' }));
  expect(refused).toMatchObject({ status: 'INACTIVE', beneficiaryVerificationStatus: 'MATCHED', version: 2 });
});

test('registering an account that the rail reports as INACTIVE is refused', async () => {
  await expect(register({ status: 'INACTIVE', explanation: 'closed' })).rejects.toThrow('INVALID_BANK_ACCOUNT: closed');
});

test('an account does not go back to PENDING, whatever the rail reports', async () => {
  const accountId = await register();
  const after = await check(accountId, async () => says({ status: 'PENDING' }));
  expect(after).toMatchObject({ status: 'ACTIVE', version: 1 });
});

test('an account created in the future is reported to the rail with the maximum age', async () => {
  const accountId = await register({ checkInMs: 0 });
  const later = "update account set created_at = created_at + interval '1 hour' where id = $1";
  await withoutTriggers(t.databaseUrl, (client) => client.query(later, [uuidIn(accountId)]));
  await check(accountId, async () => says());
  expect(ages.at(-1)).toBe(86_400_000);
});
