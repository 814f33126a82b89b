import { formatForeign } from '../../core/currencies.ts';
import { firstIdAt } from '../../core/ids.ts';
import type { Tenant } from '../../core/tenant.ts';
import { withConnection } from '../../infra/database/advisory-lock.ts';
import { connectionConfig } from '../../infra/database/database.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import { readClock, transactionOn } from '../../infra/database/transaction.ts';
import { connectedRail, type Payments } from '../commands/command.ts';
import { railAnswer } from '../orders/orders.ts';

// Compares the amount that a platform's provider should hold according to the books with the provider's balance.
// According to the books, this amount is all external money that came in, minus all money that went out. Payments in
// flight may be counted on one side only, so the difference is a range.

/** The two sides of a balance, in smallest units. */
export interface BothBalances extends Beyond {
  readonly currency: string;
  readonly booked: bigint;
  /** The amount that the provider holds; undefined if it reports no account in this currency. */
  readonly held: bigint | undefined;
}

/** The minimum and maximum amounts that the provider holds beyond the books. */
export interface Beyond {
  readonly beyondLow: bigint;
  readonly beyondHigh: bigint;
}

/**
 * `booked`: the amount that came from OUTSIDE minus the amount that went there. `less` and `more`: how much less or
 * more the provider may hold, because of payments that may have ended on one side only: payments in flight, and
 * payments that ended after the provider was queried. The provider also holds the deposits that are not credited yet.
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

/** Reads both sides of a platform's balances, as of now; undefined if the rail reports no balances. */
export async function readBalances(payments: Payments, tenant: Tenant): Promise<BothBalances[] | undefined> {
  const rail = connectedRail(payments, tenant);
  if (!rail?.balances) return undefined;
  const { now } = await readClock(payments.database.pool);
  const held = await railAnswer(rail.balances());
  const since = new Date(now.getTime() - commitMs);
  const books = await onOwnConnection(payments, (client) =>
    bookedStatement(client, tenant.platformId, since, firstIdAt(since)),
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

/** Runs a statement that reads all legs of a platform, and may therefore exceed the usual statement timeout. */
async function onOwnConnection<T>({ database }: Payments, work: (client: Queryable) => Promise<T>): Promise<T> {
  const config = connectionConfig({ url: database.url, role: 'gateway_work', use: 'reconciliation' });
  return withConnection(config, (client) =>
    transactionOn(client, async () => {
      await client.query('set local statement_timeout = 0');
      return work(client);
    }),
  );
}

/** Returns whether the provider's amount beyond the books agrees with the operator's own money on record, if any. */
export function agrees({ beyondLow, beyondHigh }: Beyond, known: Beyond | undefined): boolean {
  return beyondLow <= (known?.beyondHigh ?? 0n) && beyondHigh >= (known?.beyondLow ?? 0n);
}

export function bookedWords({ currency: code, booked }: BothBalances, known: Beyond | undefined): string {
  const own = known ? `, and ${formatForeign(known.beyondLow, code)} known beyond them` : '';
  return `${formatForeign(booked, code)} in the books${own}`;
}
