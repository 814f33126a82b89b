import type { Period } from '../../core/checks.ts';
import { formatForeign } from '../../core/currencies.ts';
import { idAtMoment, publicId, uuidOf } from '../../core/ids.ts';
import type { Tenant } from '../../core/tenant.ts';
import { withConnection } from '../../infra/database/advisory-lock.ts';
import { connectionConfig, type Database } from '../../infra/database/database.ts';
import type { Prisma, ReconciliationFault } from '../../infra/database/generated/client/client.ts';
import { statement } from '../../infra/database/statement.ts';
import { inTransaction, readClock, type Transaction, transactionOn } from '../../infra/database/transaction.ts';
import { actByHand, type Operator, RefusedByHand } from '../access/operator-acts.ts';
import { connectedRail, type Payments, railOf } from '../commands/command.ts';
import { railAnswer } from '../orders/orders.ts';
import { type Difference, type Reconciled, reconcile, type Total } from './differences.ts';

/** A difference between an order and a movement, or between two balances. A side without a record is undefined. */
export interface Found extends Partial<Omit<Difference, 'fault'>> {
  readonly fault: ReconciliationFault;
  readonly currency?: string | undefined;
  readonly beyond?: Beyond | undefined;
}

/** The result of a reconciliation. `balances` is undefined if the rail reports none. */
export interface Outcome extends Omit<Reconciled, 'differences'> {
  readonly balances: readonly BothBalances[] | undefined;
  readonly differences: readonly Found[];
}

/** The sums of a period's movements in one currency, as strings of digits, in the currency's smallest unit. */
export interface DayTotal extends Readonly<Record<keyof Total, string>> {
  /** The balance according to the books at the time of the comparison; null if the provider reports no balance. */
  readonly booked: string | null;
  readonly held: string | null;
}

/** Begins a comparison. Without an operator (null), skips a period whose comparison began in the last 15 minutes. */
const beginStatement = statement<{ id: string }>(
  'begin_reconciliation',
  `insert into reconciliation as r (platform_id, period_from, period_to, started_by) values ($1, $2, $3, $4)
   on conflict (platform_id, period_from, period_to) do update set started_at = clock_ms(), started_by = $4, failure = null
     where $4::text is not null or r.started_at < clock_timestamp() - interval '15 minutes'
   returning id`,
);

/**
 * Compares the service's records for a period with the provider's, and stores the differences.
 * @param by the operator
 * @throws Refusal SERVICE_UNAVAILABLE if the rail cannot list movements; any error from the rail, which is also stored
 */
export async function runReconciliation(payments: Payments, tenant: Tenant, period: Period, by: string) {
  railOf(payments, tenant, 'movements');
  const [run] = await beginStatement(payments.database.pool, tenant.platformId, period.from, period.to, by);
  if (!run) throw new Error('begin_reconciliation returned no row');
  return compare(payments, tenant, period, run.id);
}

async function compare(payments: Payments, tenant: Tenant, period: Period, id: string) {
  try {
    const { differences, ...compared } = await reconcile(payments, tenant, period);
    const balances = await readBalances(payments, tenant);
    return await inTransaction(payments.database, async (act) => {
      const wrong = await wrongBalances(act, tenant.platformId, balances ?? []);
      const outcome = { ...compared, balances, differences: [...differences, ...wrong] };
      await store(act, tenant.platformId, period, outcome);
      await finish(act, { platformId: tenant.platformId, id }, outcome);
      return outcome;
    });
  } catch (error) {
    const failure = (error instanceof Error ? error.message : String(error)).slice(0, 1_000);
    await payments.database.prisma.reconciliation
      .update({ where: { platformId_id: { platformId: tenant.platformId, id } }, data: { failure } })
      .catch((unstored: unknown) => payments.log.warn({ err: unstored }, 'could not record a failed reconciliation'));
    throw error;
  }
}

/** Returns the balances whose two sides differ by anything other than the difference on record. */
async function wrongBalances({ prisma }: Transaction, platformId: string, balances: readonly BothBalances[]) {
  const closed = await prisma.reconciliationDifference.findMany({
    where: { platformId, fault: 'OTHER_BALANCE', closedAt: { not: null } },
    orderBy: { closedAt: 'desc' },
    distinct: ['currency'],
  });
  return balances.flatMap((balance): Found[] => {
    const last = closed.find(({ currency }) => currency === balance.currency);
    const { beyondLow: low = null, beyondHigh: high = null } = last ?? {};
    const known = low !== null && high !== null ? { beyondLow: low, beyondHigh: high } : undefined;
    if (agrees(balance, known)) return [];
    const { currency, held, beyondLow, beyondHigh } = balance;
    const there = held === undefined ? undefined : `${formatForeign(held, currency)} held`;
    const sides = { here: bookedWords(balance, known), there };
    return [{ fault: 'OTHER_BALANCE', currency, reference: last?.id, ...sides, beyond: { beyondLow, beyondHigh } }];
  });
}

const noteStatement = statement<object>(
  'note_difference',
  `insert into reconciliation_difference as d (platform_id, fault, order_id, transaction_id, reference, currency, here, there,
     period_from, period_to, beyond_low, beyond_high, same_as)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
   on conflict (platform_id, same_as) do update set times = d.times + 1, last_found_at = clock_ms(), gone_at = null,
     period_from = $9, period_to = $10, here = $7, there = $8,
     beyond_low = case when d.closed_at is null then $11::bigint else d.beyond_low end,
     beyond_high = case when d.closed_at is null then $12::bigint else d.beyond_high end`,
);

/**
 * Stores the differences found, and marks the period's other open differences as gone. A difference in an order counts
 * as one already stored, and so stays closed, as long as both sides report the same values. A difference in a balance
 * counts as one already stored until that one is closed.
 */
async function store(
  { client, prisma }: Transaction,
  platformId: string,
  { from, to }: Period,
  { differences, balances }: Pick<Outcome, 'differences' | 'balances'>,
): Promise<void> {
  const noted: string[] = [];
  for (const found of differences) {
    const { fault, orderId = null, transactionId = null, currency = null, here = null, there = null, beyond } = found;
    const reference = found.reference ?? null;
    const sides = fault === 'OTHER_BALANCE' ? [currency] : [here, there];
    const sameAs = JSON.stringify([fault, orderId, reference, ...sides]);
    noted.push(sameAs);
    const about = [fault, orderId, transactionId, fault === 'OTHER_BALANCE' ? null : reference, currency, here, there];
    const range = [beyond?.beyondLow ?? null, beyond?.beyondHigh ?? null];
    await noteStatement(client, platformId, ...about, from, to, ...range, sameAs);
  }
  const open = { platformId, closedAt: null, goneAt: null, sameAs: { notIn: noted } };
  const { now: goneAt } = await readClock(client);
  await prisma.reconciliationDifference.updateMany({
    where: { ...open, fault: { not: 'OTHER_BALANCE' }, periodFrom: { gte: from }, periodTo: { lte: to } },
    data: { goneAt },
  });
  if (balances) {
    await prisma.reconciliationDifference.updateMany({ where: { ...open, fault: 'OTHER_BALANCE' }, data: { goneAt } });
  }
}

async function finish(
  { client, prisma }: Transaction,
  run: { readonly platformId: string; readonly id: string },
  { orders, movements, totals, balances }: Outcome,
): Promise<void> {
  const { now: finishedAt } = await readClock(client);
  const held = (balances ?? []).filter(({ booked, held: there = 0n }) => booked !== 0n || there !== 0n);
  const codes = new Set([...totals, ...held].map(({ currency }) => currency));
  const days = [...codes].sort().map((currency): DayTotal & Prisma.InputJsonObject => {
    const sums = totals.find((total) => total.currency === currency);
    const balance = balances?.find((one) => one.currency === currency);
    const digits = (sum: Exclude<keyof Total, 'currency'>) => String(sums?.[sum] ?? 0n);
    return {
      ...{ currency, receivedHere: digits('receivedHere'), receivedThere: digits('receivedThere') },
      ...{ paidHere: digits('paidHere'), paidThere: digits('paidThere') },
      booked: balance ? String(balance.booked) : null,
      held: balance?.held === undefined ? null : String(balance.held),
    };
  });
  await prisma.reconciliation.update({
    where: { platformId_id: run },
    data: { finishedAt, failure: null, orders, movements, totals: days },
  });
}

// The daily reconciliation: the service compares each day once it is over, and again while it has open differences.

/** How many days back the service looks for missed days and for days with open differences. */
const missedDays = 7;
const openDays = 31;

/**
 * Selects a platform's due days, oldest first, in UTC: days without a finished reconciliation and, once a day, days
 * with open differences. The previous day is due from hour `$2` on. A worker that starts to reconcile a day reserves it
 * for 15 minutes.
 */
const dueStatement = statement<{ from: Date; to: Date }>(
  'due_reconciliations',
  `with now as (select clock_timestamp() as now,
       date_trunc('day', clock_timestamp() - $2::int * interval '1 hour', 'UTC') as today),
     day as (select today - d * interval '24 hours' as period_from, today - (d - 1) * interval '24 hours' as period_to,
       today + $2::int * interval '1 hour' as due_since, d from now, generate_series(1, ${openDays}) d)
   select day.period_from as "from", day.period_to as "to" from day
   cross join now
   join platform p on p.id = $1 and p.created_at < day.period_to
   left join reconciliation r on r.platform_id = $1 and r.period_from = day.period_from and r.period_to = day.period_to
   where (r.started_at is null or r.started_at < now.now - interval '15 minutes')
     and (r.finished_at is null and day.d <= ${missedDays} or r.finished_at < day.due_since and exists (
       select from reconciliation_difference x where x.platform_id = $1 and x.closed_at is null and x.gone_at is null
         and x.period_from >= day.period_from and x.period_to <= day.period_to))
   order by day.period_from`,
);

/**
 * Reconciles the due days of all platforms whose rails list movements. A provider that cannot be queried does not delay
 * the others: its day is retried 15 minutes later.
 * @param hour the hour of the day, in UTC, from which the previous day is compared
 * @returns the number of days compared
 */
export async function reconcileDueDays(payments: Payments, hour: number): Promise<number> {
  const { pool, prisma } = payments.database;
  let done = 0;
  for (const { id: platformId, environment } of await prisma.platform.findMany({ orderBy: { id: 'asc' } })) {
    const tenant = { platformId, environment };
    if (!connectedRail(payments, tenant)?.movements) continue;
    for (const { from, to } of await dueStatement(pool, platformId, hour)) {
      const [run] = await beginStatement(pool, platformId, from, to, null);
      if (!run) continue;
      try {
        const { differences } = await compare(payments, tenant, { from, to }, run.id);
        const day = from.toISOString().slice(0, 10);
        const found = { platform: platformId, day, differences: differences.length };
        if (differences.length > 0) payments.log.error(found, 'the ledger and the provider differ: see reconcile list');
        else payments.log.info(found, 'the ledger and the provider agree');
        done += 1;
      } catch (error) {
        payments.log.error({ err: error, platform: platformId }, 'could not compare the ledger with the provider');
        break;
      }
    }
  }
  return done;
}

const withPlatform = { platform: { select: { name: true } } } as const satisfies Prisma.ReconciliationDifferenceInclude;

export function listDifferences({ prisma }: Pick<Database, 'prisma'>, { all }: { readonly all: boolean }) {
  return prisma.reconciliationDifference.findMany({
    where: all ? {} : { closedAt: null, goneAt: null },
    orderBy: { id: 'asc' },
    take: 10_000,
    include: withPlatform,
  });
}

/**
 * Closes a difference after an investigation, without moving money. For a balance, the amount by which the provider's
 * balance exceeds the books then becomes the difference on record.
 * @param id such as `ReconciliationDifference:…`
 * @throws RefusedByHand
 */
export async function closeDifference(
  database: Database,
  id: string,
  operator: Operator & { readonly reason: string },
): Promise<void> {
  const uuid = uuidOf(id, 'ReconciliationDifference');
  const found = uuid && (await database.prisma.reconciliationDifference.findFirst({ where: { id: uuid } }));
  if (!found) throw new RefusedByHand(`there is no ${id}`);
  const { platformId, fault, here, there } = found;
  await actByHand(database, operator, async ({ prisma }, now) => {
    const { count } = await prisma.reconciliationDifference.updateMany({
      where: { platformId, id: found.id, closedAt: null, goneAt: null },
      data: { closedAt: now, closedBy: operator.by, closedReason: operator.reason },
    });
    if (count === 0) throw new RefusedByHand(`${id} is no longer open`);
    return { platformId, subject: publicId('ReconciliationDifference', found.id), before: { fault, here, there } };
  });
}

// Compares a provider's balance with the amount that the provider should hold for a platform according to the books:
// all external money that came in, minus all money that went out. Payments in flight may be counted on one side only,
// so the difference is a range.

/** The two sides of a balance, in the currency's smallest unit. */
export interface BothBalances extends Beyond {
  readonly currency: string;
  readonly booked: bigint;
  /** The amount that the provider holds; undefined if it reports no account in this currency. */
  readonly held: bigint | undefined;
}

/** The minimum and maximum amounts by which the provider's balance exceeds the books. */
export type Beyond = Readonly<Record<'beyondLow' | 'beyondHigh', bigint>>;

/**
 * `booked` is the amount that came from OUTSIDE minus the amount that went there. `less` and `more` say how much less
 * or more the provider may hold. Payments in flight, and payments that ended after the provider was queried, may be
 * counted on one side only. The provider also holds deposits not yet credited.
 */
const bookedStatement = statement<{ currency: string; booked: string; less: string; more: string }>(
  'booked_outside',
  `select l.currency, sum(l.booked)::text as booked, sum(l.less)::text as less, sum(l.more)::text as more from (
     select p.currency, -p.amount as booked, r.recent as less, r.recent as more
     from posting p, lateral (select case when p.journal_id >= $3 then abs(p.amount) else 0 end as recent) r
     where p.platform_id = $1 and p.system = 'OUTSIDE'
     union all
     select m.currency, 0, m.less, m.more
     from rail_order o
     join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id,
     lateral (
       select t.sent_currency as currency, 0 as less, t.sent_amount as more where o.kind = 'COLLECTION' and t.type = 'OUTGOING'
       union all
       select t.received_currency, 0, t.received_amount
       where o.kind = 'COLLECTION' and t.type <> 'OUTGOING' or o.rate_lock is not null and exists (
         select from account d where d.platform_id = t.platform_id and d.id = t.destination_account_id and d.kind = 'INTERNAL')
       union all
       select t.received_currency, t.received_amount, 0 where o.kind = 'PAYOUT' and o.rate_lock is null
       union all
       select t.sent_currency, (o.rate_lock ->> 'sent')::bigint, 0 where o.kind = 'PAYOUT' and o.rate_lock is not null) m
     where o.platform_id = $1 and (o.due_at is not null and t.status in ('PENDING', 'PROCESSING')
       or t.updated_at >= $2 and t.status in ('FAILED', 'REJECTED', 'REFUNDED'))
     union all
     select d.currency, 0, 0, d.amount from rail_deposit d where d.platform_id = $1 and d.status in ('RECEIVED', 'UNATTRIBUTED')
   ) l group by l.currency`,
);

/** The longest time between a change and its commit, in milliseconds. */
const commitMs = 60_000;

/** Reads both sides of a platform's current balances; undefined if the rail reports no balances. */
export async function readBalances(payments: Payments, tenant: Tenant): Promise<BothBalances[] | undefined> {
  const rail = connectedRail(payments, tenant);
  if (!rail?.balances) return undefined;
  const { now } = await readClock(payments.database.pool);
  const held = await railAnswer(rail.balances());
  const since = new Date(now.getTime() - commitMs);
  const { url } = payments.database;
  const config = connectionConfig({ url, role: 'gateway_work', use: 'reconciliation' });
  const books = await withConnection(config, (client) =>
    transactionOn(client, async () => {
      // The statement reads all of a platform's postings, so it may exceed the usual timeout.
      await client.query('set local statement_timeout = 0');
      return bookedStatement(client, tenant.platformId, since, idAtMoment(since, '0'));
    }),
  );
  const codes = new Set([...books.map(({ currency }) => currency), ...held.keys()]);
  return [...codes].sort().map((currency) => {
    const book = books.find((one) => one.currency === currency);
    const booked = BigInt(book?.booked ?? 0);
    const there = held.get(currency);
    const beyond = (there ?? 0n) - booked;
    return {
      ...{ currency, booked, held: there },
      beyondLow: beyond - BigInt(book?.more ?? 0),
      beyondHigh: beyond + BigInt(book?.less ?? 0),
    };
  });
}

/** Returns whether the provider's excess over the books is consistent with the known excess (none by default). */
export function agrees({ beyondLow, beyondHigh }: Beyond, known: Beyond | undefined): boolean {
  return beyondLow <= (known?.beyondHigh ?? 0n) && beyondHigh >= (known?.beyondLow ?? 0n);
}

function bookedWords({ currency: code, booked }: BothBalances, known: Beyond | undefined): string {
  const own = known ? `, and a known difference of ${formatForeign(known.beyondLow, code)}` : '';
  return `${formatForeign(booked, code)} in the books${own}`;
}
