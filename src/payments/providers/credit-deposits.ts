import { formatMajor, requiredCurrency } from '../../core/currencies.ts';
import { paymentReference, publicId } from '../../core/ids.ts';
import type { Environment, RailDeposit } from '../../database/generated/client/client.ts';
import { retryLostRaces } from '../../database/retry.ts';
import { type Queryable, statement } from '../../database/statement.ts';
import { inTransaction } from '../../database/transaction.ts';
import { commitGroupsOn } from '../../ledger/commit.ts';
import type { Plan } from '../../ledger/plan.ts';
import { connectedRail, type Payments } from '../command.ts';
import { deposit as depositJournal } from '../movements.ts';
import { railAnswer } from '../orders/rail-answer.ts';

/** A deposit that is to be credited, with the account that it is for. */
interface DueDeposit
  extends Pick<
    RailDeposit,
    'platformId' | 'id' | 'reference' | 'heldAt' | 'amount' | 'currency' | 'payer' | 'memo' | 'attempts'
  > {
  readonly environment: Environment;
  readonly accountId: string;
  readonly customerId: string | null;
  /** The id for its payment. */
  readonly newId: string;
}

const leaseStatement = statement<DueDeposit>(
  'lease_deposits',
  `with due as (
     select platform_id, id from rail_deposit where status = 'RECEIVED' and due_at <= clock_timestamp() order by due_at limit $1
     for update skip locked
   )
   update rail_deposit d set due_at = clock_ms() + interval '30 seconds', attempts = d.attempts + 1
   from due join platform p on p.id = due.platform_id, account a
   where d.platform_id = due.platform_id and d.id = due.id and a.platform_id = d.platform_id and a.id = d.account_id
   returning d.platform_id, d.id, d.reference, d.held_at, d.amount, d.currency, d.payer, d.memo, d.attempts, p.environment,
     d.account_id, a.customer_id, uuid_v7() as new_id`,
);

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

const postponeStatement = statement<object>(
  'postpone_deposit',
  `update rail_deposit set due_at = clock_ms() + $3::bigint * interval '1 millisecond'
   where platform_id = $1 and id = $2 and status = 'RECEIVED'`,
);

/**
 * Credits up to `limit` deposits: the provider makes the money available, and then one transaction has the payment, its journal
 * and that the deposit is credited. Each is leased for 30 seconds; when a process dies, another one takes it. What cannot be
 * credited is left to a person.
 * @returns how many there were
 */
export async function creditDeposits(payments: Payments, limit: number): Promise<number> {
  const due = await leaseStatement(payments.database.pool, limit);
  await Promise.all(
    due.map((deposit) =>
      credit(payments, deposit).catch(async (error: unknown) => {
        const { platformId, id, attempts } = deposit;
        const dueInMs = Math.min(3_600_000, 500 * 2 ** Math.min(attempts, 20));
        payments.log.error(
          { err: error, platformId, deposit: id },
          'a deposit could not be credited; it is tried again',
        );
        await postponeStatement(payments.database.pool, platformId, id, dueInMs);
      }),
    ),
  );
  return due.length;
}

async function credit(payments: Payments, deposit: DueDeposit): Promise<void> {
  const { platformId, id, reference, amount, currency, heldAt } = deposit;
  const rail = connectedRail(payments, deposit);
  if (!rail?.takeDeposit) throw new Error(`the rail of the platform ${platformId} takes no deposits`);
  const taken = await railAnswer(rail.takeDeposit({ id, reference, amount, currency, heldAt }));
  if (taken.kind === 'refused') return leaveToPerson(payments, payments.database.pool, deposit, taken.explanation);
  await retryLostRaces(() =>
    inTransaction(payments.database, async ({ client }) => {
      const locked = await lockStatement(client, platformId, id);
      // Another process has credited it, or a person has it.
      if (locked.length === 0) return;
      const [outcome] = await commitGroupsOn(client, [[{ platformId, plan: planCredit(deposit) }]]);
      if (outcome?.kind === 'done') await creditedStatement(client, platformId, id, deposit.newId);
      else await leaveToPerson(payments, client, deposit, `the account cannot take it: ${codeOf(outcome)}`);
    }),
  );
}

function codeOf(outcome: Awaited<ReturnType<typeof commitGroupsOn>>[number] | undefined): string {
  return outcome?.kind === 'refused' ? outcome.refusal.code : 'unknown';
}

/** Leaves a deposit to a person, who says whose it is (docs/rails.md). */
async function leaveToPerson(payments: Payments, on: Queryable, deposit: DueDeposit, reason: string): Promise<void> {
  const { platformId, id, amount, currency } = deposit;
  const about = {
    deposit: publicId('Deposit', id),
    platformId,
    amount: formatMajor(amount, requiredCurrency(currency)),
  };
  payments.log.error({ ...about, reason }, 'a deposit cannot be credited; a person must look at it');
  await unattributedStatement(on, platformId, id, reason);
}

/** Plans the payment of a deposit: INCOMING, and COMPLETED at once. Also a frozen account gets it, as all money from outside. */
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
