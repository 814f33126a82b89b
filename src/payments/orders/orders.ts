import type { Logger } from 'pino';
import type { Environment, Prisma, RailOrderKind } from '../../database/generated/client/client.ts';
import type { Transaction } from '../../database/rows.ts';
import { type Queryable, statement } from '../../database/statement.ts';
import type { Rail, RailOrder } from '../../rails/rail.ts';
import type { Party } from '../parties.ts';

/** An order that is due, with everything that its outcome may need, read as it was leased. */
export interface DueOrder {
  readonly platformId: string;
  readonly id: string;
  readonly kind: RailOrderKind;
  readonly attempts: number;
  readonly ageMs: number;
  /** When its lease ends, as the database writes it: later each time that it is renewed. */
  leasedUntil: string;
  readonly scenario: Prisma.JsonValue;
  readonly environment: Environment;
  readonly transaction: Transaction;
  readonly source: Party | undefined;
  readonly destination: Party | undefined;
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
  readonly isReceiverActive: boolean;
  /** Its default UMA deposit account in the currency, or else its internal account of it. */
  readonly depositAccountId: string | undefined;
}

/** An INCOMING transaction on its way, where it goes, and how long its platform still has to decide on it. */
export interface Incoming {
  readonly transaction: Transaction;
  readonly destination: Party | undefined;
  readonly approvalLeftMs: number;
}

/**
 * How long an order stays with a process that says nothing more of it: then another takes it up. A process that lives renews
 * its leases, however long a rail takes to answer.
 */
const leaseMs = 2_000;
const renewMs = 600;

type Shared =
  | 'platformId'
  | 'id'
  | 'kind'
  | 'attempts'
  | 'ageMs'
  | 'leasedUntil'
  | 'scenario'
  | 'environment'
  | 'newId'
  | 'transaction';

/** A row of the function `lease_orders`: flat, and null where something is not there. */
interface LeasedRow extends Pick<DueOrder, Shared> {
  readonly source: Party | null;
  readonly destination: Party | null;
  readonly fundingAccountId: string | null;
  readonly platformFee: bigint | null;
  readonly platformAccountId: string | null;
  readonly canReturnFee: boolean | null;
  readonly senderInformation: Record<string, string> | null;
  readonly senderUmaAddress: string | null;
  readonly receiverPlatformId: string | null;
  readonly receiverCustomerId: string | null;
  readonly receiverIsActive: boolean | null;
  readonly depositAccountId: string | null;
  readonly incoming: Transaction | null;
  readonly incomingDestination: Party | null;
  readonly approvalLeftMs: number | null;
}

const leaseOrdersStatement = statement<LeasedRow>('lease_orders', 'select * from lease_orders($1::int, $2::bigint)', {
  transaction: 'Transaction',
  incoming: 'Transaction',
});

/** Takes up to `limit` orders that are due; nobody else takes them until their lease ends. */
export async function leaseOrders(on: Queryable, limit: number): Promise<DueOrder[]> {
  return (await leaseOrdersStatement(on, limit, leaseMs)).map(dueOrder);
}

const renewStatement = statement<{ platformId: string; id: string; leasedUntil: string }>(
  'renew_orders',
  `update rail_order o set due_at = clock_ms() + $4::bigint * interval '1 millisecond'
   from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as l(platform_id, id, leased_until)
   where o.platform_id = l.platform_id and o.id = l.id and o.due_at = l.leased_until
   returning o.platform_id, o.id, o.due_at::text as leased_until`,
);

/**
 * Renews the leases of orders that are worked on until `end`, which resolves when nothing is renewed any more. A lease that is
 * not as it was left is another's, or its order was woken: it is let go.
 */
export function keepLeases(on: Queryable, orders: readonly DueOrder[], log: Logger): { end(): Promise<void> } {
  let renewing: Promise<void> | undefined;
  const renew = async () => {
    const rows = await renewStatement(
      on,
      orders.map(({ platformId }) => platformId),
      orders.map(({ id }) => id),
      orders.map(({ leasedUntil }) => leasedUntil),
      leaseMs,
    );
    const renewed = new Map(rows.map((row) => [`${row.platformId} ${row.id}`, row.leasedUntil]));
    for (const order of orders) order.leasedUntil = renewed.get(`${order.platformId} ${order.id}`) ?? order.leasedUntil;
  };
  const timer = setInterval(() => {
    renewing ??= renew()
      .catch((error: unknown) => log.warn({ err: error }, 'leases of orders could not be renewed; trying again'))
      .finally(() => {
        renewing = undefined;
      });
  }, renewMs);
  return {
    async end() {
      clearInterval(timer);
      await renewing;
    },
  };
}

/** What a new order is to do, in the words of the rail. */
type RailRequest = Pick<RailOrder, 'step' | 'account' | 'umaAddress' | 'scenario'>;

/**
 * After how many milliseconds the rail is asked about a new order. At once where the far side is a UMA address: the workers
 * find out then whether its receiver is a customer here.
 */
export function firstAskMs(rail: Rail, railRequest: RailRequest): number {
  return railRequest.umaAddress === undefined ? wholeMs(rail.firstAskMs?.(railRequest) ?? 0) : 0;
}

/** A rail's own word for when to ask, whatever it is: an order without a time would never be asked about again. */
export function wholeMs(ms: number): number {
  return Number.isFinite(ms) ? Math.min(longestWaitMs, Math.max(0, Math.ceil(ms))) : 60_000;
}

/** The longest that an order waits unasked: a day. */
const longestWaitMs = 86_400_000;

/** Whether the order brings in, from an account outside, the money that its payment will send. */
export function isPull(order: DueOrder): boolean {
  return order.kind === 'COLLECTION' && order.transaction.type === 'OUTGOING';
}

function dueOrder(row: LeasedRow): DueOrder {
  const { platformAccountId, receiverPlatformId, receiverCustomerId } = row;
  return {
    ...row,
    source: row.source ?? undefined,
    destination: row.destination ?? undefined,
    fundingAccountId: row.fundingAccountId ?? undefined,
    platformFee: row.platformFee ?? 0n,
    platformAccount:
      platformAccountId === null ? undefined : { id: platformAccountId, canReturnFee: row.canReturnFee ?? false },
    sender: { information: row.senderInformation ?? {}, umaAddress: row.senderUmaAddress ?? undefined },
    receiver:
      receiverPlatformId === null || receiverCustomerId === null
        ? undefined
        : {
            platformId: receiverPlatformId,
            customerId: receiverCustomerId,
            isReceiverActive: row.receiverIsActive ?? false,
            depositAccountId: row.depositAccountId ?? undefined,
          },
    incoming: incomingOf(row),
  };
}

/** No platform has longer to decide (the setting PAYMENT_APPROVAL_MS): where more is left, the clock was set back since. */
const longestApprovalMs = 60_000;

function incomingOf(row: LeasedRow): Incoming | undefined {
  const { transaction, incoming } = row;
  const leftMs = row.approvalLeftMs ?? 0;
  const approvalLeftMs = leftMs > longestApprovalMs ? 0 : leftMs;
  if (incoming) return { transaction: incoming, destination: row.incomingDestination ?? undefined, approvalLeftMs };
  return transaction.type === 'INCOMING'
    ? { transaction, destination: row.destination ?? undefined, approvalLeftMs }
    : undefined;
}

/** Nothing is known yet of an order: it is asked about again after so long, or when it is woken before. */
export interface Postponement {
  readonly order: Pick<DueOrder, 'platformId' | 'id' | 'leasedUntil'>;
  readonly dueInMs: number;
}

const postponeStatement = statement<object>(
  'postpone_orders',
  `update rail_order o set due_at = clock_ms() + p.due_in_ms * interval '1 millisecond'
   from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::bigint[]) as p(platform_id, id, leased_until, due_in_ms)
   where o.platform_id = p.platform_id and o.id = p.id and o.due_at = p.leased_until`,
);

/**
 * Puts orders off, all in one statement. One that is not due when its lease says was woken while it was looked at and
 * stays due, or has its outcome.
 */
export async function postponeOrders(on: Queryable, postponements: readonly Postponement[]): Promise<void> {
  if (postponements.length === 0) return;
  await postponeStatement(
    on,
    postponements.map(({ order }) => order.platformId),
    postponements.map(({ order }) => order.id),
    postponements.map(({ order }) => order.leasedUntil),
    postponements.map(({ dueInMs }) => Math.ceil(dueInMs)),
  );
}

const nextDueStatement = statement<{ waitMs: number }>(
  'next_order_due',
  `select greatest(0, extract(epoch from due_at - clock_timestamp()) * 1000)::float8 as wait_ms
   from rail_order where due_at is not null order by due_at limit 1`,
);

/** How many milliseconds until an order is due; undefined when none waits. */
export async function nextOrderDue(on: Queryable): Promise<number | undefined> {
  const [row] = await nextDueStatement(on);
  return row?.waitMs;
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
