import { expect, test } from 'vitest';
import { checkDueIdentities, wakeIdentityCheck } from '../../src/domain/customers/customers.ts';
import type { IdentityAnswer, IdentityRequest } from '../../src/rails/rail-parts.ts';
import { testGateway, uuidIn, withRail } from '../setup/gateway.ts';

// How the gateway works with a rail that rechecks identities. The test plays the rail.

let answer: (asked: IdentityRequest) => Promise<IdentityAnswer>;
let asked: string[] = [];
const t = await testGateway({ ROLE: 'serve' });
const checkIdentity = async (request: IdentityRequest) => {
  asked.push(`Customer:${request.customerId} ${request.attempts}`);
  return answer(request);
};
const payments = withRail(t, { checkIdentity });

const wake = (id: string) => wakeIdentityCheck(t.owner, t.platform.platformId, uuidIn(id));
const set = (id: string, due: string) =>
  t.owner.query(`update identity_check set due_at = ${due} where customer_id = $1`, [uuidIn(id)]);

/** Runs the checks that are due. Returns the checked customers, each with its number of earlier checks. */
async function checked(next: IdentityAnswer | typeof answer): Promise<string[]> {
  answer = typeof next === 'function' ? next : async () => next;
  asked = [];
  await checkDueIdentities(payments, 10);
  return asked;
}

/** Returns the customer's status, its version, and in how many seconds it is checked again (null for never). */
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
  await set(id, `clock_timestamp() + interval '1 minute'`);
  expect(await checked('REJECTED')).toEqual([]);
  await set(id, 'clock_timestamp()');
  expect(await checked({ status: 'PENDING_REVIEW', checkInMs: 600_000 })).toEqual([`${id} 1`]);
  expect(await standing(id)).toEqual(['PENDING_REVIEW', 2, 600]);
  await set(id, 'clock_timestamp()');
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

test('a check that needs an unavailable rail is retried at growing intervals', async () => {
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
