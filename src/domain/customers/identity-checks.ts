import { type Lease, type LeasedTable, leasing, postponing, workOnDue } from '../../infra/database/leases.ts';
import type { Customer } from '../../infra/database/rows.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import { inTransaction, retryLostRaces } from '../../infra/database/transaction.ts';
import { connectedRail, type Payments } from '../commands/command.ts';
import { commitPlanOn } from '../ledger/commit.ts';
import { railAnswer, wholeMs } from '../orders/orders.ts';
import { checkOf } from './customers.ts';

/** Pending identity checks: the rail is queried again at the time it named, or when its webhook reports a change. */

interface DueCheck extends Lease {
  readonly customer: Customer;
  readonly attempts: number;
}

const checks: LeasedTable = { table: 'identity_check', rows: 'identity_checks', key: ['customer_id', 'uuid'] };

export const leaseIdentityChecks = leasing<DueCheck>(
  checks,
  {
    reads: 'l.customer_id, l.attempts, to_jsonb(c) as customer',
    joins: 'join customer c on c.platform_id = l.platform_id and c.id = l.customer_id',
  },
  { customer: 'Customer' },
);

const postpone = postponing(checks);

/** Locks the customer, as do the commands that change its name and thereby restart its check. */
const lockStatement = statement<{ isDeleted: boolean }>(
  'lock_checked_customer',
  'select is_deleted from customer where platform_id = $1 and id = $2 for no key update',
);

const endStatement = statement<{ customerId: string }>(
  'end_identity_check',
  'delete from identity_check where platform_id = $1 and customer_id = $2 and due_at = $3::timestamptz returning customer_id',
);

const wakeStatement = statement<object>(
  'wake_identity_check',
  `insert into identity_check (platform_id, customer_id, due_at)
   select platform_id, id, clock_ms() from customer where platform_id = $1 and id = $2 and not is_deleted
   on conflict (platform_id, customer_id) do update set due_at = excluded.due_at`,
);

/**
 * Checks the identities of up to `limit` due customers with their rails, and commits the results. A customer is checked
 * again if its name has changed in the meantime, or if a webhook has made its check due.
 * @returns the number processed
 */
export function checkDueIdentities(payments: Payments, limit: number): Promise<number> {
  return workOnDue(payments, limit, {
    ...{ lease: leaseIdentityChecks, postpone, failure: 'could not check an identity' },
    about: ({ customer }) => ({ customer: customer.id }),
    work: (due) => check(payments, due),
  });
}

async function check(payments: Payments, due: DueCheck): Promise<void> {
  const { platformId, customer, attempts } = due;
  const rail = connectedRail(payments, due);
  if (!rail?.checkIdentity) throw new Error(`the rail of the platform ${platformId} does not support identity checks`);
  const { id: customerId, customerType, name } = customer;
  const answer = checkOf(await railAnswer(rail.checkIdentity({ customerId, customerType, name, attempts })));
  await retryLostRaces(() =>
    inTransaction(payments.database, async ({ client }) => {
      const [locked] = await lockStatement(client, platformId, customerId);
      if (!(await isOurs(client, due, locked?.isDeleted ? undefined : answer.checkInMs))) return;
      if (locked?.isDeleted !== false || answer.status === customer.kycStatus) return;
      const plan = { customers: [{ id: customerId, set: { kycStatus: answer.status } }] };
      const { kind } = await commitPlanOn(client, platformId, plan);
      if (kind !== 'done') throw new Error(`the identity status of customer ${customerId} could not be stored`);
    }),
  );
}

/** Ends the lease, and schedules the next check, if any. Returns false if another worker has since taken the lease. */
async function isOurs(client: Queryable, due: DueCheck, checkInMs: number | undefined): Promise<boolean> {
  const { platformId, customer, leasedUntil } = due;
  if (checkInMs === undefined) return (await endStatement(client, platformId, customer.id, leasedUntil)).length > 0;
  const [dueAt] = await postpone(client, [{ lease: due, dueInMs: wholeMs(checkInMs) }]);
  return dueAt !== undefined;
}

/** Schedules a customer's check for now, even after a final answer, because the provider has reported a change. */
export async function wakeIdentityCheck(on: Queryable, platformId: string, customerId: string): Promise<void> {
  await wakeStatement(on, platformId, customerId);
}
