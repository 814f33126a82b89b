import type { Logger } from 'pino';
import { FaultStates } from '../../core/fault-states.ts';
import { outsideWait } from '../../core/outside-wait.ts';
import { invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import type { Tenant } from '../../core/tenant.ts';
import { readableText } from '../../core/texts.ts';
import type { FailureReason, Prisma, RailOrderKind } from '../../infra/database/generated/client/client.ts';
import { type Lease, type LeasedTable, postponing, untilNext } from '../../infra/database/leases.ts';
import type { Transaction } from '../../infra/database/rows.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import { msLeft } from '../../infra/instruments/request-facts.ts';
import { singleFlight } from '../../infra/instruments/single-flight.ts';
import { within } from '../../infra/instruments/within.ts';
import type { Rail, RailOrder, RailOutcome, RailRequest } from '../../rails/rail.ts';
import type { RailStep, RateLock, Scenario } from '../../rails/rail-parts.ts';
import { connectedRail, type Payments, railOf, simulationOf } from '../commands/command.ts';
import { lockOf } from '../commands/movements.ts';
import { type Party, toRailAccount } from '../commands/parties.ts';

/** A flat row, as returned by the function `lease_rail_orders`. */
interface LeasedRow extends Lease {
  readonly id: string;
  readonly kind: RailOrderKind;
  readonly attempts: number;
  readonly ageMs: number;
  readonly scenario: Prisma.JsonValue;
  readonly transaction: Transaction;
  readonly source: Party | null;
  readonly destination: Party | null;
  /** The internal account that pays an outgoing payment. If the source is external, this is its owner's account. */
  readonly fundingAccountId: string | null;
  readonly platformFee: bigint | null;
  /** The platform's account for its share of the fees. `canReturnFee`: whether it holds enough to return that share. */
  readonly platformAccountId: string | null;
  readonly canReturnFee: boolean | null;
  /** The information about the sender that was given with the quote, and the sender's UMA address. */
  readonly senderInformation: Record<string, string> | null;
  readonly senderUmaAddress: string | null;
  /** The customer of this installation who receives an outgoing payment to a UMA address. */
  readonly receiverPlatformId: string | null;
  readonly receiverCustomerId: string | null;
  readonly receiverIsActive: boolean | null;
  /** The receiver's default UMA deposit account in the currency, or otherwise the internal account in that currency. */
  readonly depositAccountId: string | null;
  readonly incoming: Transaction | null;
  readonly incomingDestination: Party | null;
  /** An id for the receiving transaction, if one is created. */
  readonly newId: string;
  /** The time left to approve the payment, in milliseconds; null if no approval is pending. */
  readonly approvalLeftMs: number | null;
  readonly approvalDeferred: boolean;
  readonly rateLock: Prisma.JsonValue;
}

/** A due order with all the data that handling its outcome may require, as read with the lease. */
export interface DueOrder extends Omit<LeasedRow, 'incoming'> {
  readonly lock: RateLock | undefined;
  /** The INCOMING transaction: the order's own, or that of a receiver in this service, once it is announced. */
  readonly incoming: Incoming | undefined;
}

/** An INCOMING transaction in flight, with its destination and the time left until its platform's deadline (ms). */
export interface Incoming {
  readonly transaction: Transaction;
  readonly destination: Party | null;
  readonly approvalLeftMs: number;
}

/** The length of a lease, in milliseconds. If it is not renewed in time, another process takes the order. */
const leaseMs = 2_000;
const renewMs = 600;

const orders: LeasedTable = { table: 'rail_order', rows: 'orders', key: ['id', 'uuid'] };

/** The query reads about twenty rows per order, so it is in a database function, where it is planned only once. */
const leaseOrdersStatement = statement<LeasedRow>(
  'lease_orders',
  'select * from lease_rail_orders($1::int, $2::bigint)',
  { transaction: 'Transaction', incoming: 'Transaction' },
);

/** Leases up to `limit` due orders. No other process takes them until the lease ends. */
export async function leaseOrders(on: Queryable, limit: number): Promise<DueOrder[]> {
  const rows = await leaseOrdersStatement(on, limit, leaseMs);
  return rows.map((row) => ({ ...row, lock: lockOf(row.rateLock), incoming: incomingOf(row) }));
}

/** Ends the leases of orders that have no outcome yet, unless they were made due or concluded in the meantime. */
export const postponeOrders = postponing(orders);

/**
 * Renews the leases of orders until `end` is called. `end` resolves after the last renewal. A lease that has changed is
 * not renewed, because it belongs to another process or its order was made due.
 */
export function renewLeases(on: Queryable, orders: readonly DueOrder[], log: Logger): { end(): Promise<void> } {
  let renewing: Promise<void> | undefined;
  const renewAll = async () => {
    const longer = orders.map((lease) => ({ lease, dueInMs: leaseMs }));
    const ends = await postponeOrders(on, longer);
    for (const [at, order] of orders.entries()) order.leasedUntil = ends[at] ?? order.leasedUntil;
  };
  const renew = singleFlight(() => FaultStates.of(log).watch('leases of orders', renewAll()));
  const timer = setInterval(() => {
    renewing = renew();
  }, renewMs);
  return {
    async end() {
      clearInterval(timer);
      await renewing;
    },
  };
}

/** Returns the delay in milliseconds before an order is first sent to its rail: zero while its receiver is unknown. */
export function firstAskMs(rail: Rail, railRequest: RailRequest): number {
  return railRequest.umaAddress === undefined ? wholeMs(rail.firstAskMs?.(railRequest) ?? 0) : 0;
}

/** Returns how long the rail expects an order to take, in milliseconds. */
export function expectedMs(rail: Rail, railRequest: RailRequest): number {
  return rail.expectedMs?.(railRequest) ?? 0;
}

/** Returns a rail's delay in whole milliseconds: at most a day, or a minute if it is not a finite number. */
export function wholeMs(ms: number): number {
  return Number.isFinite(ms) ? Math.min(86_400_000, Math.max(0, Math.ceil(ms))) : 60_000;
}

/** Returns whether the order pulls the money for its payment from an external account. */
export function isPull(order: Pick<DueOrder, 'kind' | 'transaction'>): boolean {
  return order.kind === 'COLLECTION' && order.transaction.type === 'OUTGOING';
}

/** The longest time for a decision, in milliseconds. If more time seems to be left, the clock was set back. */
const maxApprovalMs = 60_000;

function incomingOf(row: LeasedRow): Incoming | undefined {
  const { transaction, incoming, destination } = row;
  const leftMs = row.approvalLeftMs ?? 0;
  const approvalLeftMs = leftMs > maxApprovalMs ? 0 : leftMs;
  if (incoming) return { transaction: incoming, destination: row.incomingDestination, approvalLeftMs };
  return transaction.type === 'INCOMING' ? { transaction, destination, approvalLeftMs } : undefined;
}

export const nextOrderDue = untilNext(orders);

/** Makes an order due now, instead of at the deadline, if it is waiting for a decision on a platform's transaction. */
export const wakeOrders = statement<object>('wake_orders', 'select wake_orders($1, $2)');

const lockOrderStatement = statement<object>(
  'lock_order',
  'select from rail_order where platform_id = $1 and id = $2 and due_at > clock_timestamp() for update',
);

/** Runs after the locking statement, so that it sees the changes committed while that statement waited. */
const wakeOrderStatement = statement<object>(
  'wake_order',
  `update rail_order o set due_at = clock_ms() from transaction t
   where o.platform_id = $1 and o.id = $2 and o.due_at > clock_timestamp()
     and t.platform_id = o.platform_id and t.id = o.transaction_id and ($3 or t.status <> 'COMPLETED')`,
);

/**
 * Makes an order due now if it is waiting for its rail. An order that has its outcome, or is unknown, stays unchanged.
 * A settled order has only one query left, so it is woken only if its money may have come back (`alsoSettled`). A query
 * that came too early would miss money that is returned later.
 * @param on a transaction
 */
export async function wakeOrder(
  on: Queryable,
  { platformId, orderId, alsoSettled }: { platformId: string; orderId: string; alsoSettled: boolean },
): Promise<void> {
  const locked = await lockOrderStatement(on, platformId, orderId);
  if (locked.length > 0) await wakeOrderStatement(on, platformId, orderId, alsoSettled);
}

/** Records a platform's deferral of its decision on a transaction, which is rejected if no decision follows in time. */
export const deferApproval = statement<object>(
  'defer_approval',
  `update rail_order set approval_deferred = true
   where due_at is not null
     and exists (select from transaction t where t.platform_id = $1 and t.id = $2 and t.approval_due_at > clock_timestamp())
     and (platform_id, id) in (
     select o.platform_id, o.id from rail_order o where o.platform_id = $1 and o.transaction_id = $2
     union all
     select o.platform_id, o.id from arrival a
     join rail_order o on o.platform_id = a.sender_platform_id and o.transaction_id = a.sender_transaction_id
     where a.platform_id = $1 and a.transaction_id = $2)`,
);

/**
 * The time limit for a rail's answer, in milliseconds. It prevents one unresponsive rail from blocking all other work.
 * Leases of account checks last longer and leases of orders are renewed, so no other process takes the work before its
 * result is written.
 */
const answerMs = 10_000;
/** The time that a request reserves for its commit after the rail's answer, in milliseconds. */
const afterMs = 1_000;

/**
 * Waits for a rail's answer without holding the request's slot. A late answer is ignored. Characters that Postgres
 * cannot store are replaced by U+FFFD, because some strings come from third parties, such as the payer.
 * @throws Error when the answer does not arrive in time
 */
export async function railAnswer<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const given = await outsideWait(within(msLeft(answerMs, afterMs), answer, 'the rail did not answer'));
  // The copy has the same type: only characters within strings are replaced.
  return storable(given) as Answer;
}

/**
 * Waits for a rail's answer that a request needs before anything is written.
 * @throws Refusal SERVICE_UNAVAILABLE if the rail throws or does not answer in time
 */
export async function neededOf<Answer>({ log }: { readonly log: Logger }, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await railAnswer(answer);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    log.error({ err: error }, 'a request failed because its call to the rail failed');
    throw new Refusal('SERVICE_UNAVAILABLE', 'the rail does not respond; try again', { retryAfter: 1 });
  }
}

/** Returns a copy of plain data whose strings can be stored and read back. */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return readableText(value);
  if (Array.isArray(value)) return value.map(storable);
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, storable(one)])) : value;
}

/** Converts an order to the form that rails use. `settled`: whether the rail has answered `settled` before. */
export function railRequest(order: DueOrder, settled: boolean): RailOrder {
  const { id, kind, transaction, lock, ageMs, attempts, scenario } = order;
  const { sentAmount, sentCurrency, receivedAmount, receivedCurrency } = transaction;
  const isPayout = kind === 'PAYOUT';
  // For a payment to a UMA address, `incoming.destination` is the receiver's deposit account.
  const account = (!isPayout && order.source) || order.incoming?.destination || order.destination;
  const address = isPayout ? transaction.destinationUmaAddress : transaction.sourceUmaAddress;
  // If the rate was locked for an external receiver, the money goes there, even if a customer here has taken the
  // address since.
  const staysHere = order.receiverCustomerId !== null && !lock;
  // A pull is for the sent amount. All other orders are for the received amount.
  const isSent = isPull(order) && sentAmount !== null && sentCurrency !== null;
  return {
    ...{ id, kind, lock, settled, ageMs, scenario },
    step: transaction.status === 'CREATED' ? 'PAY_REQUEST' : isPull(order) ? 'PULL' : 'SETTLEMENT',
    ...(isSent
      ? { amount: sentAmount, currency: sentCurrency }
      : { amount: receivedAmount ?? 0n, currency: receivedCurrency }),
    account: account ? toRailAccount(account) : undefined,
    umaAddress: (staysHere ? null : address) ?? undefined,
    attempts: attempts - 1,
  };
}

/**
 * Asks an order's rail to perform the order.
 * @param settled whether the rail has answered `settled` before
 * @throws any error that the rail throws
 */
export async function performOrder(payments: Payments, order: DueOrder, settled: boolean): Promise<RailOutcome> {
  const request = railRequest(order, settled);
  if (order.kind === 'PAYOUT') return railOf(payments, order, 'payOut').payOut(request);
  return railOf(payments, order, 'collect').collect(request);
}

/** Looks up an order, or sends it again if the rail has no lookup. Returns undefined if the rail has no such order. */
export async function findOrder(payments: Payments, order: DueOrder): Promise<RailOutcome | undefined> {
  const find = connectedRail(payments, order)?.findOrder;
  return find ? find(railRequest(order, false)) : performOrder(payments, order, false);
}

/** A scenario as passed on by an API, where null means omitted. */
export type GivenScenario = { readonly [K in keyof Scenario]?: Scenario[K] | null };

const at = pathsIn<{ readonly sandboxScenario: Scenario }>();

/** What happens to a payment before its settlement. */
interface Course {
  /** Whether a deposit funds it. */
  readonly deposit?: boolean;
  /** Whether a platform approves or rejects it. */
  readonly approval?: boolean;
  readonly step?: RailStep;
}

/** The possible failure reasons for a payment funded by a deposit. */
const depositFailures: readonly FailureReason[] = ['QUOTE_EXPIRED', 'QUOTE_EXECUTION_FAILED'];

/**
 * Validates a caller's scenario, and returns it as it is to be stored with the order; null if there is none.
 * @throws Refusal FORBIDDEN (the tenant's rail has no simulation), INVALID_INPUT with the path of the field
 */
export function checkScenario(
  payments: Payments,
  tenant: Tenant,
  scenario: GivenScenario | null | undefined,
  { deposit, approval, step }: Course = {},
): Scenario | null {
  if (scenario === null || scenario === undefined) return null;
  const simulation = simulationOf(payments, tenant);
  // Without its null members, a given scenario is a Scenario.
  const requested = Object.fromEntries(Object.entries(scenario).filter(([, value]) => value != null)) as Scenario;
  const fault = simulation.scenarioFault(requested);
  const unfit = (field: keyof Scenario, message: string) => invalid(message, at('sandboxScenario', field));
  if (fault) throw unfit(fault.field, fault.reason);
  if (requested.deposit !== undefined && !deposit)
    throw unfit('deposit', 'this payment has no deposit: use `deposit` only for real-time funded quotes');
  if (requested.approval !== undefined && !approval) {
    const message = 'this payment needs no approval: use `approval` only for incoming payments from UMA addresses';
    throw unfit('approval', message);
  }
  if (deposit && requested.failureReason && !depositFailures.includes(requested.failureReason))
    throw unfit('failureReason', `a payment funded by a deposit can only fail with ${depositFailures.join(' or ')}`);
  checkStep(requested, step);
  return requested;
}

/** Refuses a scenario for a step that the payment does not have before its settlement. @throws Refusal INVALID_INPUT */
export function checkStep(scenario: Scenario | null, step?: RailStep): void {
  if (!scenario?.step || scenario.step === 'SETTLEMENT' || scenario.step === step) return;
  throw invalid(`this payment has no step ${scenario.step}`, at('sandboxScenario', 'step'));
}
