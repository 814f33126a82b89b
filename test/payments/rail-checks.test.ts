import { expect, test } from 'vitest';
import { checkDueAccounts } from '../../src/domain/accounts/external-accounts.ts';
import { checkDueIdentities, wakeIdentityCheck } from '../../src/domain/customers/customers.ts';
import type { AccountCheck } from '../../src/rails/rail.ts';
import type { IdentityAnswer, IdentityRequest } from '../../src/rails/rail-parts.ts';
import { type Data, sandboxOf, testGateway, uuidIn, withoutTriggers, withRail } from '../setup/gateway.ts';
import { usAccount } from '../setup/scene.ts';

// A rail rechecks accounts and identities while callers change them. The test acts as the rail, and runs the background
// work itself.

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

/** Runs all account checks, with the rail returning the given results. Returns the account's resulting state. */
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

test("a rail's answer about an account that has changed in the meantime is discarded, and the rail is asked again", async () => {
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

test('a deleted account is no longer checked', async () => {
  const accountId = await register();
  expect(await checks(accountId)).toBe(1);
  await t.platform.succeed('deleteExternalAccount', { accountId });
  expect(await checks(accountId)).toBe(0);
});

test('a rail that cannot check an account now is asked again later', async () => {
  const accountId = await register();
  const state = { status: 'ACTIVE', beneficiaryVerificationStatus: 'PENDING', version: 1 };
  expect(await check(accountId, () => Promise.reject(new Error('the bank is closed')))).toEqual(state);
  expect(await check(accountId, async () => says({ verification: 'MATCHED' }))).toMatchObject({ version: 2 });
});

test("an account that the rail refuses becomes INACTIVE, and keeps its owner's verification status", async () => {
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

test('an account whose creation time is in the future is reported to the rail with the maximum age', async () => {
  const accountId = await register({ checkInMs: 0 });
  const later = "update account set created_at = created_at + interval '1 hour' where id = $1";
  await withoutTriggers(t.databaseUrl, (client) => client.query(later, [uuidIn(accountId)]));
  await check(accountId, async () => says());
  expect(ages.at(-1)).toBe(86_400_000);
});

let answer: (asked: IdentityRequest) => Promise<IdentityAnswer>;
let asked: string[] = [];
const checkIdentity = async (request: IdentityRequest) => {
  asked.push(`Customer:${request.customerId} ${request.attempts}`);
  return answer(request);
};
const payments = withRail(t, { checkIdentity });

const wake = (id: string) => wakeIdentityCheck(t.owner, t.platform.platformId, uuidIn(id));
const setDue = (id: string, due: string) =>
  t.owner.query(`update identity_check set due_at = ${due} where customer_id = $1`, [uuidIn(id)]);

/** Runs the checks that are due. Returns the checked customers, each with the number of earlier checks. */
async function checked(next: IdentityAnswer | typeof answer): Promise<string[]> {
  answer = typeof next === 'function' ? next : async () => next;
  asked = [];
  await checkDueIdentities(payments, 10);
  return asked;
}

/** Returns the customer's status and version, and the seconds until its next check (null if none is due). */
async function standing(id: string): Promise<[status: string, version: number, seconds: number | null]> {
  const { rows } = await t.owner.query(
    `select kyc_status, version, abs(100 * round(extract(epoch from due_at - clock_timestamp()) / 100))::int as seconds
     from customer c left join identity_check i on i.customer_id = c.id where c.id = $1`,
    [uuidIn(id)],
  );
  return [rows[0].kyc_status, rows[0].version, rows[0].seconds];
}

test('a due check is made once, and its result is kept until the next check is due', async () => {
  const id = await t.platform.newCustomer();
  expect(await checked('REJECTED')).toEqual([]);
  await wake(id);
  await setDue(id, `clock_timestamp() + interval '1 minute'`);
  expect(await checked('REJECTED')).toEqual([]);
  await setDue(id, 'clock_timestamp()');
  expect(await checked({ status: 'PENDING_REVIEW', checkInMs: 600_000 })).toEqual([`${id} 1`]);
  expect(await standing(id)).toEqual(['PENDING_REVIEW', 2, 600]);
  await setDue(id, 'clock_timestamp()');
  // The same result again changes nothing.
  expect(await checked({ status: 'PENDING_REVIEW', checkInMs: 300_000 })).toEqual([`${id} 2`]);
  expect(await standing(id)).toEqual(['PENDING_REVIEW', 2, 300]);
  await wake(id);
  expect(await checked('REJECTED')).toEqual([`${id} 3`]);
  expect(await standing(id)).toEqual(['REJECTED', 3, null]);
});

test('a result counts only if the name is unchanged, the customer is not deleted, and no newer check is pending', async () => {
  const ids: string[] = [];
  for (let made = 0; made < 4; made += 1) ids.push(await t.platform.newCustomer());
  const [renamed = '', deleted = '', woken = '', wokenAtEnd = ''] = ids;
  for (const id of ids) await wake(id);
  const details = { individual: { fullName: 'Grace Hopper 001' } };
  const meanwhile: Readonly<Record<string, () => Promise<unknown>>> = {
    [renamed]: () => t.platform.succeed('updateCustomer', { customerId: renamed, details }),
    [deleted]: () => t.platform.act('deleteCustomer', { customerId: deleted }),
    [woken]: () => wake(woken),
    [wokenAtEnd]: () => wake(wokenAtEnd),
  };
  await checked(async ({ customerId }) => {
    const id = `Customer:${customerId}`;
    await meanwhile[id]?.();
    return id === wokenAtEnd ? 'REJECTED' : { status: 'REJECTED', checkInMs: 600_000 };
  });
  expect(await standing(renamed)).toEqual(['PENDING_REVIEW', 2, null]);
  expect(await standing(deleted)).toEqual(['APPROVED', 2, null]);
  for (const id of [woken, wokenAtEnd]) expect(await standing(id)).toEqual(['APPROVED', 1, 0]);
  // A deleted customer is not checked again; the others are.
  await wake(deleted);
  expect((await checked('EXPIRED')).sort()).toEqual([`${woken} 2`, `${wokenAtEnd} 2`].sort());
  for (const id of [woken, wokenAtEnd]) expect(await standing(id)).toEqual(['EXPIRED', 2, null]);
});

test('a check that needs an unavailable rail is retried at increasing intervals', async () => {
  const id = await t.platform.newCustomer();
  await wake(id);
  for (const [attempts, seconds] of [
    [7, 100],
    [12, 3_600],
  ] as const) {
    const text = 'update identity_check set due_at = clock_timestamp(), attempts = $2 where customer_id = $1';
    await t.owner.query(text, [uuidIn(id), attempts]);
    await checked(() => Promise.reject(new Error('no answer')));
    expect(await standing(id)).toEqual(['APPROVED', 1, seconds]);
  }
});
