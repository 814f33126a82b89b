import type { Environment, Prisma, RailOrderKind } from '../database/generated/client/client.ts';
import { type Account, rowFromSnapshot, type Transaction } from '../database/rows.ts';
import { type Queryable, statement } from '../database/statement.ts';

/** An order that is due, with everything that its outcome may need, read as it was leased. */
export interface DueOrder {
  readonly platformId: string;
  readonly id: string;
  readonly kind: RailOrderKind;
  readonly attempts: number;
  readonly ageMs: number;
  /** When its lease ends, as the database writes it. */
  readonly leasedUntil: string;
  readonly scenario: Prisma.JsonValue;
  readonly environment: Environment;
  readonly transaction: Transaction;
  readonly source: Account | undefined;
  readonly destination: Account | undefined;
  /** The internal account that an outgoing payment is paid from: the owner's of that currency where its source is outside. */
  readonly fundingAccountId: string | undefined;
  readonly platformFee: bigint;
  /** The platform's account for its part of the fees, and whether it could give that part back. */
  readonly platformAccount: { readonly id: string; readonly canReturnFee: boolean } | undefined;
  /** What the sender told of itself with the quote, and its UMA address. */
  readonly sender: { readonly information: Record<string, string>; readonly umaAddress: string | undefined };
  /** The customer of this installation whom an outgoing payment to a UMA address is for. */
  readonly receiver: Receiver | undefined;
  /** The receiving side here: of a payment to such a customer, once it is announced, or the transaction itself. */
  readonly incoming: Incoming | undefined;
  /** An id for the receiving transaction, or for the payout that follows a pull, should one be made. */
  readonly newId: string;
}

export interface Receiver {
  readonly platformId: string;
  readonly customerId: string;
  /** May it take money now. */
  readonly ready: boolean;
  /** Its default UMA deposit account in the currency, or else its internal account of it. */
  readonly depositAccountId: string | undefined;
}

/** An INCOMING transaction on its way, where it goes, and how long its platform still has to decide on it. */
export interface Incoming {
  readonly transaction: Transaction;
  readonly destination: Account | undefined;
  readonly approvalLeftMs: number;
}

/** How long a process may work on an order before another takes it up. */
const leaseMs = 30_000;

type Json = Record<string, unknown> | null;

interface LeasedRow {
  platform_id: string;
  id: string;
  kind: RailOrderKind;
  attempts: number;
  age_ms: number;
  leased_until: string;
  scenario: Prisma.JsonValue;
  environment: Environment;
  new_id: string;
  transaction: Record<string, unknown>;
  source: Json;
  destination: Json;
  funding_account_id: string | null;
  platform_fee: bigint | null;
  platform_account_id: string | null;
  can_return_fee: boolean | null;
  sender_information: Record<string, string> | null;
  sender_uma_address: string | null;
  receiver_platform_id: string | null;
  receiver_customer_id: string | null;
  receiver_ready: boolean | null;
  deposit_account_id: string | null;
  incoming: Json;
  incoming_destination: Json;
  approval_left_ms: number | null;
}

const leaseOrdersStatement = statement<LeasedRow>(
  'lease_orders',
  `with due as (
     select platform_id, id from rail_order where due_at <= clock_timestamp() order by due_at limit $1 for update skip locked
   ), leased as (
     update rail_order o set due_at = clock_ms() + $2 * interval '1 millisecond', attempts = o.attempts + 1
     from due where o.platform_id = due.platform_id and o.id = due.id
     returning o.*
   )
   select o.platform_id, o.id, o.kind, o.attempts, o.scenario, p.environment, uuid_v7() as new_id, o.due_at::text as leased_until,
     (extract(epoch from clock_timestamp() - o.created_at) * 1000)::float8 as age_ms,
     to_jsonb(t) as transaction, q.platform_fee, q.sender_information, c.uma_address as sender_uma_address,
     case when s.id is not null then account_snapshot(s) end as source,
     case when d.id is not null then account_snapshot(d) end as destination,
     coalesce(f.id, t.source_account_id) as funding_account_id,
     pa.id as platform_account_id, pa.posted - pa.held >= q.platform_fee as can_return_fee,
     r.platform_id as receiver_platform_id, r.id as receiver_customer_id,
     not r.is_deleted and r.kyc_status in ('APPROVED', 'MANUALLY_APPROVED') as receiver_ready,
     coalesce(rd.id, ri.id) as deposit_account_id,
     case when i.id is not null then to_jsonb(i) end as incoming,
     case when ia.id is not null then account_snapshot(ia) end as incoming_destination,
     (extract(epoch from coalesce(i.approval_due_at, t.approval_due_at) - clock_timestamp()) * 1000)::float8 as approval_left_ms
   from leased o
   join platform p on p.id = o.platform_id
   join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
   left join quote q on q.platform_id = t.platform_id and q.id = t.quote_id
   left join customer c on c.platform_id = t.platform_id and c.id = t.customer_id
   left join account s on s.platform_id = t.platform_id and s.id = t.source_account_id
   left join account d on d.platform_id = t.platform_id and d.id = t.destination_account_id
   left join account f on s.kind is distinct from 'INTERNAL' and f.platform_id = t.platform_id and f.kind = 'INTERNAL'
     and f.customer_id is not distinct from case when s.id is null then t.customer_id else s.customer_id end
     and f.currency = t.sent_currency
   left join account pa on pa.platform_id = t.platform_id and pa.kind = 'INTERNAL' and pa.customer_id is null
     and pa.currency = t.sent_currency and q.platform_fee > 0
   left join lookup l on l.platform_id = q.platform_id and l.id = q.lookup_id
   left join customer r on r.platform_id = l.receiver_platform_id and r.id = l.receiver_customer_id
   left join account rd on rd.platform_id = r.platform_id and rd.customer_id = r.id and rd.default_uma_deposit_account
     and rd.status = 'ACTIVE' and rd.currency = t.received_currency
   left join account ri on ri.platform_id = r.platform_id and ri.customer_id = r.id and ri.kind = 'INTERNAL'
     and ri.currency = t.received_currency
   left join arrival ar on ar.sender_platform_id = t.platform_id and ar.sender_transaction_id = t.id
   left join transaction i on i.platform_id = ar.platform_id and i.id = ar.transaction_id
   left join account ia on ia.platform_id = i.platform_id and ia.id = i.destination_account_id
   order by o.id`,
);

/** Takes up to `limit` orders that are due; nobody else takes them until their lease ends. */
export async function leaseOrders(on: Queryable, limit: number): Promise<DueOrder[]> {
  return (await leaseOrdersStatement(on, limit, leaseMs)).map(dueOrder);
}

/** Whether the order brings in, from an account outside, the money that its payment will send. */
export function isPull(order: DueOrder): boolean {
  return order.kind === 'COLLECTION' && order.transaction.type === 'OUTGOING';
}

function dueOrder(row: LeasedRow): DueOrder {
  const transaction = rowFromSnapshot('Transaction', row.transaction);
  return {
    platformId: row.platform_id,
    id: row.id,
    kind: row.kind,
    attempts: row.attempts,
    ageMs: row.age_ms,
    leasedUntil: row.leased_until,
    scenario: row.scenario,
    environment: row.environment,
    newId: row.new_id,
    transaction,
    source: accountOf(row.source),
    destination: accountOf(row.destination),
    fundingAccountId: row.funding_account_id ?? undefined,
    platformFee: row.platform_fee ?? 0n,
    platformAccount:
      row.platform_account_id === null
        ? undefined
        : { id: row.platform_account_id, canReturnFee: row.can_return_fee ?? false },
    sender: { information: row.sender_information ?? {}, umaAddress: row.sender_uma_address ?? undefined },
    receiver:
      row.receiver_platform_id === null || row.receiver_customer_id === null
        ? undefined
        : {
            platformId: row.receiver_platform_id,
            customerId: row.receiver_customer_id,
            ready: row.receiver_ready ?? false,
            depositAccountId: row.deposit_account_id ?? undefined,
          },
    incoming: incomingOf(row, transaction),
  };
}

function incomingOf(row: LeasedRow, transaction: Transaction): Incoming | undefined {
  const approvalLeftMs = row.approval_left_ms ?? 0;
  if (row.incoming) {
    return {
      transaction: rowFromSnapshot('Transaction', row.incoming),
      destination: accountOf(row.incoming_destination),
      approvalLeftMs,
    };
  }
  return transaction.type === 'INCOMING'
    ? { transaction, destination: accountOf(row.destination), approvalLeftMs }
    : undefined;
}

function accountOf(snapshot: Json): Account | undefined {
  return snapshot ? rowFromSnapshot('Account', snapshot) : undefined;
}

/** No row when none waits: `greatest` passes over null, and would make it due at once, again and again. */
const nextDueStatement = statement<{ wait_ms: number }>(
  'next_order_due',
  `select greatest(0, extract(epoch from min(due_at) - clock_timestamp()) * 1000)::float8 as wait_ms
   from rail_order where due_at is not null having min(due_at) is not null`,
);

/** How many milliseconds until an order is due; undefined when none waits. */
export async function nextOrderDue(on: Queryable): Promise<number | undefined> {
  const [row] = await nextDueStatement(on);
  return row?.wait_ms;
}

const wakeStatement = statement<object>(
  'wake_orders',
  `update rail_order o set due_at = clock_ms()
   where o.due_at is not null and ((o.platform_id = $1 and o.transaction_id = $2) or (o.platform_id, o.transaction_id) in (
     select a.sender_platform_id, a.sender_transaction_id from arrival a where a.platform_id = $1 and a.transaction_id = $2))`,
);

/**
 * Lets the order that waits for a decision on this incoming transaction be looked at now. Without it, it is looked at
 * when the time for the decision is over.
 */
export async function wakeOrders(on: Queryable, platformId: string, transactionId: string): Promise<void> {
  await wakeStatement(on, platformId, transactionId);
}
