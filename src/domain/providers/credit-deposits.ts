import { formatMajor, requiredCurrency } from '../../core/currencies.ts';
import { paymentReference, publicId } from '../../core/ids.ts';
import type { RailDeposit } from '../../infra/database/generated/client/client.ts';
import { type Lease, type LeasedTable, leasing, postponing, workOnDue } from '../../infra/database/leases.ts';
import { retryLostRaces } from '../../infra/database/retry.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import { inTransaction } from '../../infra/database/transaction.ts';
import { connectedRail, type Payments } from '../commands/command.ts';
import { deposit as depositJournal } from '../commands/movements.ts';
import { commitPlanOn } from '../ledger/commit.ts';
import type { Plan } from '../ledger/plan.ts';
import { railAnswer } from '../orders/rail-answer.ts';

interface DueDeposit
  extends Lease,
    Pick<RailDeposit, 'id' | 'reference' | 'heldAt' | 'amount' | 'currency' | 'payer' | 'memo' | 'attempts'> {
  readonly accountId: string;
  readonly customerId: string | null;
  readonly newId: string;
}

const deposits: LeasedTable = { table: 'rail_deposit', rows: 'deposits', key: ['id', 'uuid'] };

export const leaseDeposits = leasing<DueDeposit>(deposits, {
  where: "status = 'RECEIVED'",
  reads: `l.id, l.reference, l.held_at, l.amount, l.currency, l.payer, l.memo, l.attempts, l.account_id, a.customer_id,
     uuid_v7() as new_id`,
  joins: 'join account a on a.platform_id = l.platform_id and a.id = l.account_id',
});

const lockStatement = statement<object>(
  'lock_deposit',
  "select from rail_deposit where platform_id = $1 and id = $2 and status = 'RECEIVED' for update",
);

const creditedStatement = statement<object>(
  'deposit_credited',
  "update rail_deposit set status = 'CREDITED', reason = null, transaction_id = $3, due_at = null where platform_id = $1 and id = $2",
);

const unattributedStatement = statement<object>(
  'deposit_unattributed',
  `update rail_deposit set status = 'UNATTRIBUTED', reason = left($3, 1000), due_at = null
   where platform_id = $1 and id = $2 and status = 'RECEIVED'`,
);

const postpone = postponing(deposits);

/**
 * Credits up to `limit` deposits. First the provider makes the money available; then one transaction records the
 * payment and its journal, and marks the deposit as credited. Each deposit is leased for 30 seconds; if a process dies,
 * another takes over. Deposits that cannot be credited await an operator.
 * @returns the number processed
 */
export function creditDeposits(payments: Payments, limit: number): Promise<number> {
  return workOnDue(payments, limit, {
    ...{ lease: leaseDeposits, postpone, failure: 'could not credit a deposit' },
    about: ({ id }) => ({ deposit: id }),
    work: (due) => credit(payments, due),
  });
}

async function credit(payments: Payments, deposit: DueDeposit): Promise<void> {
  const { platformId, id, reference, amount, currency, heldAt } = deposit;
  const rail = connectedRail(payments, deposit);
  if (!rail?.takeDeposit) throw new Error(`the rail of the platform ${platformId} does not support deposits`);
  const taken = await railAnswer(rail.takeDeposit({ id, reference, amount, currency, heldAt }));
  if (taken.kind === 'refused') return leaveToPerson(payments, payments.database.pool, deposit, taken.explanation);
  await retryLostRaces(() =>
    inTransaction(payments.database, async ({ client }) => {
      const locked = await lockStatement(client, platformId, id);
      // Another process has credited the deposit or left it to an operator.
      if (locked.length === 0) return;
      const outcome = await commitPlanOn(client, platformId, planCredit(deposit));
      if (outcome.kind === 'done') return void (await creditedStatement(client, platformId, id, deposit.newId));
      const code = outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind;
      await leaveToPerson(payments, client, deposit, `the account cannot receive it: ${code}`);
    }),
  );
}

/** Leaves a deposit to an operator, who assigns it (docs/rails.md). */
async function leaveToPerson(payments: Payments, on: Queryable, deposit: DueDeposit, reason: string): Promise<void> {
  const { platformId, id, amount, currency } = deposit;
  const about = {
    deposit: publicId('Deposit', id),
    platformId,
    amount: formatMajor(amount, requiredCurrency(currency)),
  };
  payments.log.error({ ...about, reason }, 'a deposit cannot be credited: an operator must assign it');
  await unattributedStatement(on, platformId, id, reason);
}

/** Plans the payment of a deposit: INCOMING and COMPLETED at once, even to a frozen account. */
function planCredit(deposit: DueDeposit): Plan {
  const { platformId, newId: id, customerId, accountId, amount, currency, payer, memo } = deposit;
  return {
    insert: {
      transaction: [
        {
          ...{ platformId, id, customerId },
          type: 'INCOMING',
          status: 'PENDING',
          statusReason: 'deposited',
          receivedAmount: amount,
          receivedCurrency: currency,
          sourceKind: payer === null ? 'REALTIME_FUNDING' : 'UMA_ADDRESS',
          sourceUmaAddress: payer,
          destinationKind: 'ACCOUNT',
          destinationAccountId: accountId,
          reference: paymentReference(id),
          counterpartyInformation: {},
          description: memo,
        },
      ],
    },
    transactions: [{ id, from: ['PENDING'], to: 'COMPLETED', reason: 'received', isNew: true }],
    journals: [depositJournal(accountId, currency, amount, id)],
  };
}
