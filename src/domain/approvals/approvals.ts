import { publicId, uuidOf } from '../../core/ids.ts';
import { type Expecting, pathsIn, Refusal } from '../../core/refusal.ts';
import type { Tenant } from '../../core/tenant.ts';
import { checkText, longest } from '../../core/texts.ts';
import type { Prisma } from '../../infra/database/generated/client/client.ts';
import { type Account, type Customer, type Transaction, trustedJson } from '../../infra/database/rows.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import type { RateLock } from '../../rails/rail-parts.ts';
import type { Caller } from '../access/caller.ts';
import { requirePermission } from '../access/operations.ts';
import { forCaller, visibleRow } from '../access/visible.ts';
import {
  type CommandResult,
  connectedRail,
  type Payments,
  type Runs,
  railOf,
  runCommand,
} from '../commands/command.ts';
import {
  checkInformation,
  clockFor,
  type Information,
  type InformationField,
  missingFields,
} from '../commands/information.ts';
import { debit, delivery, flowOf, lockOf, refund, refundOf, transfer } from '../commands/movements.ts';
import { toRailAccount } from '../commands/parties.ts';
import { mergePlans, type Plan, type TransactionMove } from '../ledger/plan.ts';
import { expectedMs, wakeOrders } from '../orders/orders.ts';
import { directArrival, receivedAmount, requestedFields } from './incoming.ts';

/** A decision on a payment that awaits approval. */
export type Decision =
  | { readonly kind: 'approve'; readonly receiverCustomerInfo?: readonly InformationField[] | null | undefined }
  | { readonly kind: 'reject'; readonly reason?: string | null | undefined }
  /** The platform's approval webhook failed. */
  | { readonly kind: 'webhook-error'; readonly explanation: string };

interface Named extends Expecting {
  readonly transactionId: string;
}

type DecisionInput<Kind extends 'approve' | 'reject'> = Named & Omit<Extract<Decision, { kind: Kind }>, 'kind'>;

const at = pathsIn<DecisionInput<'approve'> & DecisionInput<'reject'>>();

/**
 * Approves either a payment that a policy holds, as a second person (requires APPROVE), or an incoming payment, on
 * behalf of the receiving platform (requires TRANSACT). An incoming payment fails with MISSING_MANDATORY_PAYEE_DATA if
 * mandatory receiver information is neither given nor in the customer's record.
 * @throws Refusal TRANSACTION_NOT_FOUND, TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL, INVALID_INPUT,
 *   IDEMPOTENCY_MISMATCH, FORBIDDEN (also for the payment's requester), and the refusals of the command that requested
 *   a held payment
 */
export const approveTransaction = deciding((input: DecisionInput<'approve'>) => ({ ...input, kind: 'approve' }));

/**
 * Rejects a payment that awaits approval. The payment ends as REJECTED. If it is an incoming payment, so does the
 * sender's payment. Money that was already taken is refunded.
 * @throws Refusal as approveTransaction does
 */
export const rejectTransaction = deciding((input: DecisionInput<'reject'>) => ({ ...input, kind: 'reject' }));

function deciding<Input extends Named>(decisionOf: (input: Input) => Decision): Runs<Input, Transaction> {
  return (payments, caller, input, idempotencyKey) =>
    decide(payments, caller, input, decisionOf(input), idempotencyKey);
}

/**
 * Decides on an incoming payment on behalf of its platform, based on the approval webhook's response or on a scenario.
 * Does nothing if the payment is not awaiting this decision: for example, because it has been decided (perhaps by a
 * process that then died), its deadline has passed, or its scenario decides instead of the webhook.
 * @param transactionId the bare uuid
 * @throws Refusal TRANSACTION_NOT_FOUND, INVALID_INPUT (malformed receiver information)
 */
export async function decideUnlessDecided(
  payments: Payments,
  caller: Caller,
  transactionId: string,
  decision: Decision,
): Promise<void> {
  try {
    await decide(payments, caller, { transactionId: publicId('Transaction', transactionId) }, decision);
  } catch (error) {
    const isDecided = error instanceof Refusal && error.code === 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL';
    if (!isDecided) throw error;
  }
}

interface PendingApproval {
  transaction: Transaction;
  customer: Customer | null;
  source: Account | null;
  destination: Account | null;
  internalAccountId: string | null;
  scenario: unknown;
  orderId: string | null;
  rateLock: Prisma.JsonValue;
  /** The id for the receiving transaction, if the receiver's account is internal. */
  newId: string;
}

const pendingStatement = forCaller(
  statement<PendingApproval>(
    'pending_approval',
    `select to_jsonb(t) as transaction, to_jsonb(c) as customer, o.scenario, o.id as order_id, o.rate_lock, uuid_v7() as new_id,
     case when a.id is not null then account_snapshot(a) end as destination,
     case when s.id is not null then account_snapshot(s) end as source,
     (select i.id from account i where i.platform_id = t.platform_id and i.customer_id = t.customer_id and i.kind = 'INTERNAL'
        and i.currency = t.received_currency) as internal_account_id
   from transaction t
   left join customer c on c.platform_id = t.platform_id and c.id = t.customer_id
   left join public.account a on a.platform_id = t.platform_id and a.id = t.destination_account_id
   left join public.account s on s.platform_id = t.platform_id and s.id = t.source_account_id
   left join rail_order o on o.platform_id = t.platform_id and o.transaction_id = t.id
   where ${visibleRow('transaction', 't')} and t.id = $4`,
    { transaction: 'Transaction', customer: 'Customer', source: 'Account', destination: 'Account' },
  ),
);

async function decide(
  payments: Payments,
  caller: Caller,
  input: Named,
  decision: Decision,
  idempotencyKey?: string | null,
): Promise<CommandResult<Transaction>> {
  const result = await runCommand(payments, caller, {
    operation: decision.kind === 'approve' ? 'approveTransaction' : 'rejectTransaction',
    type: 'Transaction',
    ...{ input, idempotencyKey },
    plan: () => planDecision(payments, caller, uuidOf(input.transactionId, 'Transaction'), decision),
    path: at('transactionId'),
    conflict: { code: 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL', reason: 'the payment does not await a decision' },
  }).catch((error: unknown) => {
    // The payment's quote has ended, and the payment with it, since the plan was made.
    const hasEnded = error instanceof Refusal && error.code === 'QUOTE_EXPIRED';
    throw hasEnded ? notPending({ status: 'EXPIRED' }, 'the quote has expired') : error;
  });
  if (result.replayed) return result;
  const { database, log } = payments;
  const { platformId, id: transactionId } = result.row;
  const failure = 'could not wake the order of a payment that was approved or rejected; it continues at its deadline';
  // The decision stands even if waking the order fails.
  wakeOrders(database.pool, platformId, transactionId).then(
    () => database.commits.emit('committed'),
    (error: unknown) => log.warn({ err: error, transactionId }, failure),
  );
  return result;
}

/** Returns the decision, if any, that an incoming payment's scenario specifies in place of the platform's decision. */
export const simulatedDecision = (payments: Payments, tenant: Tenant, scenario: unknown) =>
  connectedRail(payments, tenant)?.simulation?.approval(scenario);

async function planDecision(payments: Payments, caller: Caller, id: string | undefined, asked: Decision) {
  const decision =
    asked.kind === 'reject' ? { ...asked, reason: checkText(asked.reason, at('reason'), longest.memo) } : asked;
  const facts = decision.kind === 'approve' ? decision.receiverCustomerInfo : undefined;
  const given = checkInformation(facts, at('receiverCustomerInfo'), await clockFor(payments.database.pool, facts));
  const [found] = id ? await pendingStatement(payments.database.pool, caller, id) : [];
  if (!found) throw new Refusal('TRANSACTION_NOT_FOUND', 'no such transaction', at('transactionId'));
  const { transaction } = found;
  if (transaction.sourceKind !== 'UMA_ADDRESS') return planRequest(payments, caller, found, decision);
  requirePermission(caller, 'TRANSACT');
  if (!transaction.approvalDueAt) {
    const awaitsRequest = transaction.status === 'CREATED';
    const why = awaitsRequest ? 'the sender has not sent the pay request yet' : 'this transaction needs no approval';
    throw notPending(transaction, why);
  }
  if (decision.kind === 'webhook-error' && simulatedDecision(payments, caller, found.scenario))
    throw notPending(transaction, 'the scenario decides');
  const move = moveOf(payments, caller, found, decision, given);
  const set = { ...move.set, decidedById: caller.tokenId };
  return {
    transactions: [{ id: transaction.id, from: ['PENDING'] as const, approval: 'before' as const, ...move, set }],
    result: transaction.id,
  };
}

const notPending = ({ status }: Pick<Transaction, 'status'>, why: string) =>
  new Refusal('TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL', why, { path: at('transactionId'), status });

/** Plans a second person's decision on a payment that a policy holds. */
async function planRequest(payments: Payments, caller: Caller, found: PendingApproval, decision: Decision) {
  requirePermission(caller, 'APPROVE');
  const { transaction, source, destination, orderId } = found;
  if (transaction.status !== 'CREATED') throw notPending(transaction, 'this transaction is not awaiting approval');
  const waiting = {
    ...found,
    sourceAccountId: source?.id ?? null,
    lock: lockOf(found.rateLock),
    isReserved: await isMoneyReserved(payments.database.pool, transaction),
  };
  const result = transaction.id;
  if (decision.kind !== 'approve') {
    const reason = decision.kind === 'reject' && decision.reason ? `rejected: ${decision.reason}` : 'rejected';
    return { ...planEnd(waiting, 'REJECTED', reason, caller.tokenId), result };
  }
  const paid = transaction.type === 'INCOMING' ? source : destination;
  const stays = transaction.quoteId === null && paid?.kind === 'INTERNAL';
  const umaAddress = transaction.destinationUmaAddress;
  const expectedInMs = orderId === null || stays ? undefined : settlesIn(payments, caller, found, paid, umaAddress);
  return { ...planApproval(caller, waiting, expectedInMs), result };
}

/** Returns how long the rail expects to take to settle an approved payment, in milliseconds. */
function settlesIn(
  payments: Payments,
  caller: Caller,
  { scenario }: PendingApproval,
  paid: Account | null | undefined,
  umaAddress: string | null,
): number {
  const account = paid ? toRailAccount(paid) : undefined;
  const request = { step: 'SETTLEMENT', account, umaAddress: umaAddress ?? undefined, scenario } as const;
  return expectedMs(railOf(payments, caller), request);
}

type DecisionMove = Omit<TransactionMove, 'id' | 'from' | 'approval'>;

/** Returns the status change that a decision causes. */
function moveOf(
  payments: Payments,
  caller: Caller,
  found: PendingApproval,
  decision: Decision,
  given: Information,
): DecisionMove {
  const { kind } = decision;
  if (kind === 'webhook-error')
    return { to: 'FAILED', reason: decision.explanation, set: { failureReason: 'PAYMENT_APPROVAL_WEBHOOK_ERROR' } };
  if (kind === 'reject')
    return { to: 'REJECTED', reason: `rejected by the platform${decision.reason ? `: ${decision.reason}` : ''}` };
  const { transaction, customer, destination: announced } = found;
  const requested = requestedFields(transaction);
  const known = { ...informationOf(customer), ...given };
  const missing = missingFields(requested, known);
  if (missing.length > 0) {
    const set = { failureReason: 'MISSING_MANDATORY_PAYEE_DATA' } as const;
    return { to: 'FAILED', reason: `approved without ${missing.join(', ')}`, set };
  }
  // If the external account can no longer be paid, the money stays in the customer's internal account.
  const fallbackId = announced?.kind === 'EXTERNAL' && announced.status !== 'ACTIVE' ? found.internalAccountId : null;
  const destination = fallbackId === null ? announced : undefined;
  return {
    to: 'PROCESSING',
    reason: fallbackId
      ? 'approved by the platform; the money goes to the internal account'
      : 'approved by the platform',
    set: {
      // Only the requested data is passed to the sending side.
      requestedInformation: requested.map(({ name, mandatory }) => ({ name, mandatory, value: known[name] })),
      ...(fallbackId !== null && { destinationAccountId: fallbackId }),
    },
    expectedInMs: settlesIn(payments, caller, found, destination, transaction.sourceUmaAddress),
  };
}

/** Returns the data in the customer's record, keyed by information field name. */
function informationOf(customer: Customer | null): Information {
  if (!customer) return {};
  const address = trustedJson<{ readonly country?: string } | null>(customer.address);
  return Object.fromEntries(
    Object.entries({
      FULL_NAME: customer.name,
      BIRTH_DATE: customer.birthDate?.toISOString().slice(0, 10),
      NATIONALITY: customer.nationality,
      TAX_ID: customer.taxId,
      REGISTRATION_NUMBER: customer.registrationNumber,
      COUNTRY_OF_RESIDENCE: address?.country,
    }).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}

// A policy can hold a payment until a second person approves it. Until then, it is CREATED (commands/command.ts).

/** A payment that awaits approval, with the data needed to end it. */
interface Waiting {
  readonly transaction: Transaction;
  /** The payment's order; null if a deposit will execute the quote. */
  readonly orderId: string | null;
  /** The internal account that pays for it. */
  readonly sourceAccountId: string | null;
  readonly lock: RateLock | undefined;
  readonly isReserved: boolean;
}

const reservedStatement = statement<object>(
  'reserved_money',
  'select from journal where platform_id = $1 and transaction_id = $2 limit 1',
);

/** Returns whether an unapproved payment's money is reserved. A reservation is the only journal that it can have. */
export async function isMoneyReserved(on: Queryable, { platformId, id }: Transaction): Promise<boolean> {
  return (await reservedStatement(on, platformId, id)).length > 0;
}

/**
 * Plans the start of an approved payment as its command would have planned it. All requirements are checked again. The
 * database refuses late approvals, and approvers who are not allowed to approve the payment (may_approve.sql).
 */
function planApproval(caller: Caller, found: PendingApproval & Waiting, expectedInMs: number | undefined): Plan {
  const { transaction, orderId, source, destination, isReserved } = found;
  const { id, platformId, quoteId, type } = transaction;
  const isBetween = quoteId === null && source?.kind === 'INTERNAL' && destination?.kind === 'INTERNAL';
  const accounts = [source, destination].filter((account) => account !== null);
  const kind = (of: Account['kind']) => accounts.filter((account) => account.kind === of).map((account) => account.id);
  const owners = new Set([transaction, ...accounts].map(({ customerId }) => customerId).filter((one) => one !== null));
  const approved: Plan = {
    requireActive: {
      // The platform's own account can receive money even from a customer who is not allowed to move money.
      customers: isBetween && destination.customerId === null ? [] : [...owners],
      accounts: kind('EXTERNAL'),
      unfrozen: kind('INTERNAL'),
    },
    ...(destination?.kind === 'INTERNAL' &&
      !isBetween && { capacity: [{ account: destination.id, amount: receivedAmount(transaction) }] }),
    transactions: [
      {
        ...{ id, from: ['CREATED'], approval: 'before', makers: caller.makers, reason: 'approved', expectedInMs },
        to: isBetween ? 'COMPLETED' : quoteId !== null && orderId !== null ? 'PROCESSING' : 'PENDING',
        set: { decidedById: caller.tokenId, approvalDueAt: null },
      },
    ],
    orders: orderId === null ? [] : [{ id: orderId, dueInMs: isBetween ? null : 0, begins: true }],
  };
  // There is nothing to debit: the money from a pull or a deposit has not arrived yet.
  if (type === 'INCOMING' || source?.kind !== 'INTERNAL') return approved;
  const flow = flowOf(transaction, source.id, found.lock);
  if (!isBetween) return isReserved ? approved : { ...approved, journals: [debit(flow)] };
  const left = isReserved ? delivery(flow) : transfer(source.id, flow.sendingCurrency, flow.sent, id);
  const arrival = { platformId, transaction, newId: found.newId, fundingAccountId: source.id };
  return mergePlans({ ...approved, journals: [left] }, directArrival(arrival, destination));
}

/** Plans the end of an unapproved payment. Reserved money is refunded, and the order never reaches the rail. */
export function planEnd(
  waiting: Waiting,
  to: 'REJECTED' | 'EXPIRED',
  reason: string,
  decidedById?: string | null,
): Plan {
  const { transaction, orderId, isReserved } = waiting;
  const { id, quoteId } = transaction;
  const quoteEnd = { from: ['PENDING', 'PROCESSING'], to: to === 'EXPIRED' ? 'EXPIRED' : 'FAILED', reason } as const;
  return {
    transactions: [
      {
        ...{ id, from: ['CREATED'], to, reason, ...(to === 'REJECTED' && { approval: 'before' }) },
        set: {
          ...(to === 'EXPIRED' && { failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' }),
          ...(decidedById && { decidedById }),
          ...(isReserved && refundOf(transaction)),
        },
      },
    ],
    quotes: quoteId === null ? [] : [{ id: quoteId, ...quoteEnd }],
    orders: orderId === null ? [] : [{ id: orderId, dueInMs: null }],
    journals: isReserved ? [refund(flowOf(transaction, waiting.sourceAccountId, waiting.lock))] : [],
  };
}
