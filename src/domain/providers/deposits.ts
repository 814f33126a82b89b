import { maxAmount } from '../../core/checks.ts';
import { formatMajor, requiredCurrency } from '../../core/currencies.ts';
import { accountNameIn, paymentReference, publicId, uuidOf } from '../../core/ids.ts';
import type { Database } from '../../infra/database/database.ts';
import type { Prisma, RailDeposit as StoredDeposit } from '../../infra/database/generated/client/client.ts';
import { type Lease, type LeasedTable, leasing, postponing, workOnDue } from '../../infra/database/leases.ts';
import { retryLostRaces } from '../../infra/database/retry.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import { inTransaction, type Transaction } from '../../infra/database/transaction.ts';
import type { RailDeposit } from '../../rails/rail-parts.ts';
import { actByHand, type Operator, RefusedByHand } from '../access/operator-acts.ts';
import { connectedRail, type Payments } from '../commands/command.ts';
import { deposit as depositJournal } from '../commands/movements.ts';
import { commitPlanOn } from '../ledger/commit.ts';
import type { Plan } from '../ledger/plan.ts';
import { depositId } from '../orders/order-ids.ts';
import { railAnswer } from '../orders/orders.ts';

/** The interval at which a provider is queried for unreported deposits, and each query's lease, in milliseconds. */
const askMs = 60_000;
/** How far a query reaches back before the last deposit, in ms, because providers may list deposits out of order. */
const overlapMs = 120_000;
/** The maximum time that the service waits for a pending deposit, in milliseconds: 31 days. */
const longestUnderWayMs = 31 * 86_400_000;

interface DueConnection extends Lease {
  readonly depositsFrom: Date;
}

const questions: LeasedTable = { table: 'rail_connection', rows: 'deposit_questions', dueAt: 'deposits_due_at' };
export const leaseDepositQuestions = leasing<DueConnection>(questions, { counter: null, reads: 'l.deposits_from' });
/** If a webhook has made the query due in the meantime, it stays due. */
const postpone = postponing(questions);

const askedStatement = statement<object>(
  'deposits_asked',
  'update rail_connection set deposits_from = greatest(deposits_from, $2) where platform_id = $1',
);

/** Stores deposits. Assigns each to the customer's account in its currency, or to none if there is no such account. */
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
 * Queries the due providers for deposits, and stores each settled deposit once, even if no webhook has reported it. A
 * query starts where the previous one ended, or where the oldest unsettled deposit began.
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

/** Queries one provider, and returns the time from which the next query starts. */
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

/** The maximum length of the name by which a provider refers to a deposit or an account. */
const longestName = 200;

/** Returns whether a deposit can be stored (rail_deposit_sound). An invalid deposit does not block others. */
function isSound({ amount, reference, heldAt }: RailDeposit): boolean {
  const isName = (text: string) => text.length >= 1 && text.length <= longestName;
  return amount >= 1n && amount <= maxAmount && isName(reference) && isName(heldAt);
}

async function storeDeposits(on: Queryable, platformId: string, deposits: readonly RailDeposit[]): Promise<void> {
  const settled = deposits.filter((deposit) => deposit.state === 'SETTLED' && isSound(deposit));
  if (settled.length === 0) return;
  const rows = settled.map(({ reference, heldAt, at, amount, currency, customerId, payer, memo }) => ({
    ...{ id: depositId(platformId, reference), reference, held_at: heldAt, began_at: at, customer_id: customerId },
    ...{ amount: String(amount), currency, payer, memo },
  }));
  await storeStatement(on, platformId, JSON.stringify(rows));
}

/** Makes the query for a platform's deposits due now. */
export const wakeDeposits = statement<object>(
  'wake_deposit_question',
  'update rail_connection set deposits_due_at = clock_ms() where platform_id = $1',
);

interface DueDeposit
  extends Lease,
    Pick<StoredDeposit, 'id' | 'reference' | 'heldAt' | 'amount' | 'currency' | 'payer' | 'memo' | 'attempts'> {
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

const postponeDeposit = postponing(deposits);

/**
 * Credits up to `limit` deposits. First the provider makes the money available. Then one transaction records the
 * payment and its journal, and marks the deposit as credited. Each deposit is leased for 30 seconds. If a process dies,
 * another takes over. Deposits that cannot be credited await an operator.
 * @returns the number of deposits processed
 */
export function creditDeposits(payments: Payments, limit: number): Promise<number> {
  return workOnDue(payments, limit, {
    ...{ lease: leaseDeposits, postpone: postponeDeposit, failure: 'could not credit a deposit' },
    about: ({ id }) => ({ deposit: id }),
    work: (due) => credit(payments, due),
  });
}

async function credit(payments: Payments, deposit: DueDeposit): Promise<void> {
  const { platformId, id, reference, amount, currency, heldAt } = deposit;
  const rail = connectedRail(payments, deposit);
  if (!rail?.takeDeposit) throw new Error(`the rail of platform ${platformId} does not support deposits`);
  const taken = await railAnswer(rail.takeDeposit({ id, reference, amount, currency, heldAt }));
  if (taken.kind === 'refused') return leaveToPerson(payments, payments.database.pool, deposit, taken.explanation);
  await retryLostRaces(() =>
    inTransaction(payments.database, async ({ client }) => {
      const locked = await lockStatement(client, platformId, id);
      // Another process has already credited the deposit or left it to an operator.
      if (locked.length === 0) return;
      const outcome = await commitPlanOn(client, platformId, planCredit(deposit));
      if (outcome.kind === 'done') return void (await creditedStatement(client, platformId, id, deposit.newId));
      const code = outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind;
      await leaveToPerson(payments, client, deposit, `the account cannot receive it: ${code}`);
    }),
  );
}

async function leaveToPerson(payments: Payments, on: Queryable, deposit: DueDeposit, reason: string): Promise<void> {
  const { platformId, id, currency } = deposit;
  const amount = formatMajor(deposit.amount, requiredCurrency(currency));
  const about = { deposit: publicId('Deposit', id), platformId, amount, reason };
  payments.log.error(about, 'a deposit cannot be credited: an operator must assign it');
  await unattributedStatement(on, platformId, id, reason);
}

/** Plans a deposit's payment, which is INCOMING and immediately COMPLETED, even if the account is frozen. */
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

// Deposits that could not be assigned automatically. Only operators' commands can assign them.

const withPlatform = { platform: { select: { name: true } } } as const satisfies Prisma.RailDepositInclude;

export type Deposit = Prisma.RailDepositGetPayload<{ include: typeof withPlatform }>;

/** Lists all platforms' deposits that await an operator, oldest first. */
export function listDeposits({ prisma }: Pick<Database, 'prisma'>): Promise<Deposit[]> {
  return prisma.railDeposit.findMany({
    where: { status: 'UNATTRIBUTED' },
    include: withPlatform,
    orderBy: [{ foundAt: 'asc' }, { id: 'asc' }],
  });
}

/**
 * Assigns a deposit to an account, which the workers then credit. Can also be used to retry a deposit that its account
 * could not receive.
 * @param id `Deposit:…`
 * @param accountId an internal account of the same platform and currency: `InternalAccount:…`
 * @throws RefusedByHand
 */
export function attributeDeposit(database: Database, id: string, accountId: string, operator: Operator): Promise<void> {
  return decide(database, id, operator, async ({ prisma }, deposit, dueAt) => {
    const name = accountNameIn(accountId);
    const { platformId, currency } = deposit;
    const where = { platformId, id: name?.id ?? '', kind: 'INTERNAL' } as const;
    const include = { customer: { select: { isDeleted: true } } } as const;
    const account = name?.kind === 'INTERNAL' ? await prisma.account.findFirst({ where, include }) : null;
    if (!account) throw new RefusedByHand(`the deposit's platform has no internal account ${accountId}`);
    if (account.currency !== currency) {
      throw new RefusedByHand(`${accountId} is in ${account.currency}, but the deposit is in ${currency}`);
    }
    if (account.customer?.isDeleted) throw new RefusedByHand(`the customer of ${accountId} is deleted`);
    return { data: { status: 'RECEIVED', accountId: account.id, reason: null, dueAt }, after: { account: accountId } };
  });
}

/** Closes a deposit that belongs to no account here, such as the operator's own money. @throws RefusedByHand */
export function closeDeposit(database: Database, id: string, operator: Operator & { readonly reason: string }) {
  return decide(database, id, operator, async () => ({
    data: { status: 'CLOSED', reason: operator.reason },
    after: { status: 'CLOSED' },
  }));
}

interface Change {
  readonly data: Prisma.RailDepositUncheckedUpdateManyInput;
  readonly after: Prisma.InputJsonObject;
}

async function decide(
  database: Database,
  id: string,
  operator: Operator,
  change: (transaction: Transaction, deposit: { platformId: string; currency: string }, now: Date) => Promise<Change>,
): Promise<void> {
  const uuid = uuidOf(id, 'Deposit');
  if (uuid === undefined) throw new RefusedByHand(`${id} is not a deposit id (Deposit:…)`);
  await actByHand(database, operator, async (transaction, now) => {
    const { prisma } = transaction;
    const deposit = await prisma.railDeposit.findFirst({ where: { id: uuid } });
    if (!deposit) throw new RefusedByHand(`there is no ${id}`);
    const { data, after } = await change(transaction, deposit, now);
    const { platformId, status, reason } = deposit;
    const where = { platformId, id: uuid, status: 'UNATTRIBUTED' } as const;
    const { count } = await prisma.railDeposit.updateMany({ where, data });
    if (count === 0) throw new RefusedByHand(`${id} needs no decision: it is ${status}`);
    return { platformId, subject: publicId('Deposit', uuid), before: { status, reason }, after };
  });
}
