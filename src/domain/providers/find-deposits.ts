import { maxAmount } from '../../core/checks.ts';
import { type Lease, type LeasedTable, leasing, postponing } from '../../infra/database/leases.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import type { RailDeposit } from '../../rails/rail-deposits.ts';
import { connectedRail, type Payments } from '../commands/command.ts';
import { depositId } from '../orders/order-ids.ts';
import { railAnswer } from '../orders/rail-answer.ts';

/** The time between two queries of a provider for unreported deposits, in milliseconds, and the lease of each query. */
const askMs = 60_000;
/** How far a query reaches back before the last deposit, in milliseconds: a provider may list deposits out of order. */
const overlapMs = 120_000;
/** The longest time for which the service waits for a deposit under way, in milliseconds: 31 days. */
const longestUnderWayMs = 31 * 86_400_000;

interface DueConnection extends Lease {
  readonly depositsFrom: Date;
}

const questions: LeasedTable = { table: 'rail_connection', rows: 'deposit_questions', dueAt: 'deposits_due_at' };
export const leaseDepositQuestions = leasing<DueConnection>(questions, { counter: null, reads: 'l.deposits_from' });
/** A query that a webhook has made due in the meantime stays due. */
const postpone = postponing(questions);

const askedStatement = statement<object>(
  'deposits_asked',
  'update rail_connection set deposits_from = greatest(deposits_from, $2) where platform_id = $1',
);

/** Stores deposits for the customer's account in their currency; unassigned if the customer is deleted. */
const storeStatement = statement<object>(
  'store_deposits',
  `insert into rail_deposit (platform_id, id, reference, held_at, began_at, amount, currency, payer, memo, account_id, status,
     reason, due_at)
   select $1, d.id, d.reference, d.held_at, d.began_at, d.amount, d.currency, d.payer, left(d.memo, 1000), a.id,
     case when a.id is null then 'UNATTRIBUTED' else 'RECEIVED' end::deposit_status,
     case when d.customer_id is null then 'the provider did not name a customer'
       when c.id is null then 'its customer is unknown' when c.is_deleted then 'its customer is deleted'
       when a.id is null then 'its customer has no account in this currency' end,
     case when a.id is not null then clock_ms() end
   from jsonb_to_recordset($2) as d (id uuid, reference text, held_at text, began_at timestamptz, amount bigint, currency text,
     payer text, memo text, customer_id uuid)
   left join customer c on c.platform_id = $1 and c.id = d.customer_id
   left join account a on a.platform_id = $1 and a.customer_id = c.id and a.kind = 'INTERNAL' and a.currency = d.currency
     and not c.is_deleted
   on conflict do nothing`,
);

/**
 * Queries the due providers for deposits, and stores each settled one once, even if no webhook has reported it. The
 * period of a query begins where the previous one ended, or where the oldest unsettled deposit began.
 * @returns the number of providers queried
 */
export async function findDeposits(payments: Payments, limit: number): Promise<number> {
  const { pool } = payments.database;
  const due = await leaseDepositQuestions(pool, limit, askMs);
  await Promise.all(
    due.map(async (connection) => {
      const { platformId } = connection;
      try {
        await askedStatement(pool, platformId, await ask(payments, connection));
      } catch (error) {
        payments.log.error({ err: error, platformId }, 'could not query a provider for deposits; will retry');
      }
      await postpone(pool, [{ lease: connection, dueInMs: askMs }]);
    }),
  );
  return due.length;
}

/** Queries one provider. Returns where the period of the next query begins. */
async function ask(payments: Payments, { platformId, environment, depositsFrom }: DueConnection): Promise<Date> {
  const rail = connectedRail(payments, { platformId, environment });
  if (!rail?.deposits) return depositsFrom;
  const from = new Date(depositsFrom.getTime() - overlapMs);
  let latest = depositsFrom.getTime();
  let oldestUnderWay = Number.POSITIVE_INFINITY;
  for (let cursor: string | undefined; ; ) {
    const page = await railAnswer(rail.deposits({ from, cursor }));
    const unsound = page.deposits.filter((deposit) => deposit.state === 'SETTLED' && !isSound(deposit));
    for (const { reference, amount } of unsound) {
      const about = { platformId, reference: reference.slice(0, longestName), amount: String(amount) };
      payments.log.error(about, 'could not store a deposit; will query its provider again');
    }
    await storeDeposits(payments.database.pool, platformId, page.deposits);
    latest = Math.max(latest, page.lookedUpTo?.getTime() ?? 0);
    for (const deposit of page.deposits) {
      latest = Math.max(latest, deposit.at.getTime());
      const isOpen = deposit.state === 'UNDER_WAY' || unsound.includes(deposit);
      if (isOpen) oldestUnderWay = Math.min(oldestUnderWay, deposit.at.getTime());
    }
    cursor = page.nextCursor;
    if (cursor === undefined) return new Date(Math.min(latest, Math.max(oldestUnderWay, latest - longestUnderWayMs)));
  }
}

/** The maximum length of a provider's name for a deposit or an account. */
const longestName = 200;

/** Returns whether a deposit can be stored (rail_deposit_sound). An invalid one does not block others. */
function isSound({ amount, reference, heldAt }: RailDeposit): boolean {
  const isName = (text: string) => text.length >= 1 && text.length <= longestName;
  return amount >= 1n && amount <= maxAmount && isName(reference) && isName(heldAt);
}

async function storeDeposits(on: Queryable, platformId: string, deposits: readonly RailDeposit[]): Promise<void> {
  const settled = deposits.filter((deposit) => deposit.state === 'SETTLED' && isSound(deposit));
  if (settled.length === 0) return;
  const rows = settled.map(({ reference, heldAt, at, amount, currency, customerId, payer, memo }) => ({
    ...{
      id: depositId(platformId, reference),
      reference,
      held_at: heldAt,
      began_at: at,
      amount: String(amount),
      currency,
    },
    ...{ payer, memo, customer_id: customerId },
  }));
  await storeStatement(on, platformId, JSON.stringify(rows));
}

const wakeStatement = statement<object>(
  'wake_deposit_question',
  'update rail_connection set deposits_due_at = clock_ms() where platform_id = $1',
);

/** Schedules the query for a platform's deposits for now. */
export async function wakeDeposits(on: Queryable, platformId: string): Promise<void> {
  await wakeStatement(on, platformId);
}
