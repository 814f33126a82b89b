import type { Logger } from 'pino';
import { comparableAmount, currencyOf, type GivenAmount } from '../../core/currencies.ts';
import type { Cursors } from '../../core/cursors.ts';
import {
  type Claim,
  claimOf,
  firstCallRuns,
  isIdempotencyKey,
  keyedOperation,
  keyMismatch,
} from '../../core/idempotency.ts';
import { accountPublicId, publicId } from '../../core/ids.ts';
import { databaseBusy, type Expecting, Refusal, type RefusalCode } from '../../core/refusal.ts';
import type { Tenant } from '../../core/tenant.ts';
import type { Database } from '../../infra/database/database.ts';
import { sqlState } from '../../infra/database/faults.ts';
import type { AccountKind, Environment } from '../../infra/database/generated/client/client.ts';
import type { Account, SnapshotRows } from '../../infra/database/rows.ts';
import { statement } from '../../infra/database/statement.ts';
import { noteMade } from '../../infra/instruments/request-facts.ts';
import type { Rail } from '../../rails/rail.ts';
import type { Simulation } from '../../rails/rail-parts.ts';
import type { Caller } from '../access/caller.ts';
import { authorize, type Operation } from '../access/operations.ts';
import { countCommand, type StoredResult } from '../access/run-idempotent.ts';
import { maySeePolicyOf } from '../access/visible.ts';
import {
  type ApprovalRequired,
  commitPlan,
  firstOutcome,
  type LimitState,
  type Outcome,
  type PlanRefusal,
  validatePlan,
  waitedForKey,
} from '../ledger/commit.ts';
import { LockTimeout } from '../ledger/commit-lanes.ts';
import type { Plan, ResultType } from '../ledger/plan.ts';
import { reservation } from './movements.ts';
import { planRefusal, type RefusalOptions } from './plan-refusals.ts';

export interface Payments {
  readonly database: Database;
  readonly rails: { readonly [E in Environment]?: Rail };
  readonly quoteSeconds: number;
  /** How long a platform has to approve or reject an incoming payment, in milliseconds. */
  readonly approvalMs: number;
  readonly cursors: Cursors;
  readonly log: Logger;
  /** Set for a dry run: the command runs, is rolled back, and reports what it would have created. */
  readonly validateOnly?: ((validated: Validated) => void) | undefined;
}

/** What a rolled-back command would have done. */
export interface Validated {
  readonly row: SnapshotRows[ResultType];
  /** The limits that would count the payment, as they would be after it. Includes only those the caller may see. */
  readonly limits: readonly LimitState[];
  readonly approvalDueAt: Date | null;
}

/** Returns the rail for a tenant's environment, or undefined if no rail is connected. */
export function connectedRail({ rails }: Pick<Payments, 'rails'>, tenant: Tenant): Rail | undefined {
  const rail = rails[tenant.environment];
  return rail?.forPlatform?.(tenant.platformId) ?? rail;
}

const abilities = {
  rate: 'does not convert currencies',
  payOut: 'does not pay out',
  collect: 'does not collect money',
  giveBack: 'does not return money',
  lookUp: 'does not look up receivers',
  paymentInstructions: 'does not accept deposits',
  movements: 'does not list movements',
} as const satisfies { readonly [Part in keyof Rail]?: string };

export type RailWith<Ability extends keyof typeof abilities> = Rail & Required<Pick<Rail, Ability>>;

/** @throws Refusal SERVICE_UNAVAILABLE if no rail is connected, or the rail lacks one of the needed abilities */
export function railOf<Ability extends keyof typeof abilities>(
  payments: Payments,
  tenant: Tenant,
  ...needed: readonly Ability[]
): RailWith<Ability> {
  const rail = connectedRail(payments, tenant);
  if (!rail) throw new Refusal('SERVICE_UNAVAILABLE', `no rail is connected for ${tenant.environment} platforms`);
  const missing = needed.find((ability) => rail[ability] === undefined);
  if (missing) {
    throw new Refusal('SERVICE_UNAVAILABLE', `the rail of ${tenant.environment} platforms ${abilities[missing]}`);
  }
  // Ensured by the check above.
  return rail as RailWith<Ability>;
}

/** @throws Refusal FORBIDDEN if the tenant's rail has no simulation */
export function simulationOf(payments: Payments, tenant: Tenant): Simulation {
  const simulation = connectedRail(payments, tenant)?.simulation;
  if (!simulation) throw new Refusal('FORBIDDEN', 'this is possible only for sandbox platforms');
  return simulation;
}

/** The row as the command left it. `replayed` means that an earlier call with the same key did the work. */
export interface CommandResult<Row> {
  readonly row: Row;
  readonly replayed: boolean;
}

/** `result` is the uuid of the row to return. */
export type CommandPlan = Omit<Plan, 'claim' | 'result'> & { readonly result: string };

export interface Command<Type extends ResultType> extends RefusalOptions {
  readonly operation: Operation;
  readonly type: Type;
  /** The input without the key, identical in repeated requests. `expectedVersion` refers to the result's row. */
  readonly input: object;
  readonly idempotencyKey: string | null | undefined;
  /** The input field for the amount, and the amount's currency, which is needed to compare decimals with integers. */
  readonly amount?: { readonly field: string; readonly currency: () => Promise<string | undefined> };
  readonly nullClears?: true;
  /** @throws Refusal if the command cannot be carried out */
  readonly plan: () => Promise<CommandPlan>;
  /** Set if `plan` only reads the database. It may then run again on a replay, so the key is not looked up first. */
  readonly readsOnly?: true;
}

export type Runs<Input, Row> = (
  payments: Payments,
  caller: Caller,
  input: Input,
  idempotencyKey?: string | null,
) => Promise<CommandResult<Row>>;

/** Creates a command from its declaration, which may depend on the input. */
export function command<Input extends object, Type extends ResultType>(
  declare: (...call: Parameters<Runs<Input, unknown>>) => Omit<Command<Type>, 'input' | 'idempotencyKey'>,
): Runs<Input, SnapshotRows[Type]> {
  return (payments, caller, input, idempotencyKey) => {
    const declared = declare(payments, caller, input, idempotencyKey);
    return runCommand(payments, caller, { ...declared, input, idempotencyKey });
  };
}

/**
 * Runs a command once per idempotency key. A repeated request returns the original result. A dry run is rolled back and
 * leaves the key unused.
 * @throws Refusal FORBIDDEN (the caller may not run it), IDEMPOTENCY_MISMATCH, CONFLICT (the object has a different
 *   version than expected, or the first call with the key is still running), SERVICE_UNAVAILABLE (a lock was not
 *   granted in time), and the command's own refusals
 */
export async function runCommand<Type extends ResultType>(
  payments: Payments,
  caller: Caller,
  command: Command<Type>,
): Promise<CommandResult<SnapshotRows[Type]>> {
  const running = run(payments, caller, command);
  if (payments.validateOnly) return running;
  const result = await countCommand(command.operation, running);
  noteMade(idOf(command.type, result.row));
  return result;
}

async function run<Type extends ResultType>(payments: Payments, caller: Caller, command: Command<Type>) {
  authorize(caller, command.operation);
  const { database, validateOnly } = payments;
  const claim = await claimFor(caller, command);
  const readFirst = async () => claim && (await firstOutcome(database, caller.platformId, claim));
  const first = command.readsOnly && !validateOnly ? undefined : await readFirst();
  if (first) return toResult(first, command, caller);

  const planned = await command.plan().catch(async (error: unknown) => {
    // A repeated request returns the original result, regardless of what has changed since.
    const earlier = command.readsOnly && (await readFirst());
    if (earlier) return earlier;
    throw error;
  });
  if ('kind' in planned) return toResult(planned, command, caller);
  const plan = withRow(command, planned);
  if (validateOnly) return validate(database, caller, command, plan, validateOnly);
  const commit = async (one: Plan) => ({ outcome: await commitPlan(database, caller.platformId, one) });
  try {
    const { outcome } = await orWaiting({ ...plan, claim }, commit);
    return toResult(outcome, command, caller);
  } catch (error) {
    if (error instanceof LockTimeout) throw new Refusal('SERVICE_UNAVAILABLE', waits[error.for], { retryAfter: 1 });
    if (sqlState(error) !== '55P03' || !waitedForKey(error)) throw error;
    throw firstCallRuns();
  }
}

async function validate<Type extends ResultType>(
  database: Database,
  caller: Caller,
  command: Command<Type>,
  plan: Plan,
  done: (validated: Validated) => void,
) {
  let approvalDueAt: Date | null = null;
  const { outcome, policies } = await orWaiting(plan, async (one, dueAt) => {
    approvalDueAt = dueAt;
    return validatePlan(database, caller.platformId, one);
  });
  const made = toResult(outcome, command, caller);
  const seen = policies.filter(({ subjectId }) => maySeePolicyOf(caller, subjectId));
  done({ row: made.row, limits: seen.flatMap(({ limits }) => limits), approvalDueAt });
  return made;
}

function withRow({ type, input }: Pick<Command<ResultType>, 'type' | 'input'>, { result: id, ...plan }: CommandPlan) {
  const { expectedVersion: version } = input as Expecting;
  const result = { type, id };
  return { ...plan, result, ...(version != null && { expected: { ...result, version } }) };
}

/** Carries out a plan or, if a policy requires approval, its variant that awaits approval. */
async function orWaiting<Done extends { readonly outcome: Outcome }>(
  plan: Plan,
  carryOut: (plan: Plan, dueAt: Date | null) => Promise<Done>,
): Promise<Done> {
  const done = await carryOut(plan, null);
  const refusal = done.outcome.kind === 'refused' ? done.outcome.refusal : undefined;
  if (refusal?.code !== 'APPROVAL_REQUIRED') return done;
  return carryOut(waitingPlan(plan, refusal), new Date(refusal.dueAt));
}

/** Creates the claim. Decimal amounts are converted to integers, so that both forms of an amount compare as equal. */
async function claimFor(caller: Caller, command: Command<ResultType>): Promise<Claim | undefined> {
  const { input, amount, idempotencyKey } = command;
  const given = amount && (input as Readonly<Record<string, GivenAmount | null | undefined>>)[amount.field];
  if (!idempotencyKey || !amount || typeof given !== 'object' || given === null) return claimOf(caller, command);
  // If the account does not exist, the command is refused later, when it is planned.
  const currency = await amount.currency().catch((error: unknown) => {
    if (error instanceof Refusal) return undefined;
    throw error;
  });
  const comparable = comparableAmount(given, currencyOf(currency ?? ''));
  return claimOf(caller, { ...command, input: { ...input, [amount.field]: comparable } });
}

const waits: Readonly<Record<LockTimeout['for'], string>> = {
  account: 'too many concurrent payments on the same account; try again',
  table: databaseBusy,
  turn: 'too many concurrent payments; try again',
};

function idOf(type: ResultType, row: SnapshotRows[ResultType]): string {
  return type === 'Account' ? accountPublicId((row as Account).kind, row.id) : publicId(type, row.id);
}

function toResult<Type extends ResultType>(outcome: Outcome, command: Command<Type>, caller: Caller) {
  switch (outcome.kind) {
    case 'mismatch':
      throw keyMismatch();
    case 'refused':
      throw planRefusal(outcome.refusal, command, caller, outcome.replayed);
    case 'done':
      if (!outcome.row) throw new Error(`${command.operation} has no result`);
      // The row has the command's type.
      return { row: outcome.row as SnapshotRows[Type], replayed: outcome.replayed };
  }
}

/**
 * Converts a payment's plan into one that awaits approval: the payment is CREATED, and its money is taken from the
 * account only if a policy reserves it. Its order is due at the deadline, and is not sent to the rail before the
 * approval. A transfer to an internal account normally has no order, but here it gets one as a timer. A quote that a
 * deposit will execute needs no timer, because the quote itself expires.
 */
function waitingPlan(plan: Plan, { dueAt, dueInMs, reserves }: ApprovalRequired): Plan {
  const { insert = {}, spend, quotes, journals = [] } = plan;
  if (!spend) throw new Error('only a payment can wait for an approval');
  const { transactionId: id } = spend;
  const reason = 'awaits approval';
  const approvalDueAt = new Date(dueAt);
  const waits = { status: 'CREATED', statusReason: reason, approvalDueAt, expectedSettlementAt: null } as const;
  const [row, arrival] = insert.transaction ?? [];
  const awaitsDeposit = insert.quote !== undefined && quotes === undefined;
  const [
    order = arrival && { platformId: arrival.platformId, id: arrival.id, transactionId: id, kind: 'PAYOUT' as const },
  ] = insert.rail_order ?? [];
  const set = plan.transactions?.find((move) => move.id === id)?.set;
  return {
    ...plan,
    spend: { ...spend, waits: true },
    insert: {
      ...(insert.quote && { quote: insert.quote }),
      ...(row && { transaction: [{ ...row, ...waits }] }),
      ...(order && !awaitsDeposit && { rail_order: [{ ...order, dueInMs }] }),
    },
    transactions: row
      ? []
      : [{ id, from: ['PENDING'], to: 'CREATED', reason, approvalInMs: dueInMs, ...(set && { set }) }],
    journals: reserves ? journals.filter(({ transactionId }) => transactionId === id).map(reservation) : [],
  };
}

/** The outcome of the first call with an idempotency key. It tells a client whether the call took effect. */
export interface Receipt {
  readonly operation: Operation;
  readonly idempotencyKey: string;
  readonly outcome: 'NONE' | 'SUCCEEDED' | 'REFUSED';
  readonly createdAt: Date | null;
  readonly code: RefusalCode | null;
  /** Null if the stored result has no id. */
  readonly result: { readonly type: ResultType | NonNullable<StoredResult['type']>; readonly row: ResultRow } | null;
}

interface ResultRow {
  readonly id: string;
  readonly kind?: AccountKind;
}

const receiptStatement = statement<{
  createdAt: Date;
  refusal: { code: Exclude<PlanRefusal['code'], 'APPROVAL_REQUIRED'> } | null;
  result: { type?: NonNullable<Receipt['result']>['type']; row?: ResultRow } | null;
}>(
  'receipt',
  'select created_at, refusal, result from idempotency_record where platform_id = $1 and operation = $2 and key = $3',
);

/** Reads the receipt for an idempotency key. The receipt's outcome is NONE until the first call has finished. */
export async function readReceipt(
  { database }: Payments,
  caller: Caller,
  operation: Operation,
  idempotencyKey: string,
): Promise<Receipt> {
  // Malformed keys are never stored, and Postgres would reject some of them as parameters.
  const [row] = isIdempotencyKey(idempotencyKey)
    ? await receiptStatement(database.pool, caller.platformId, keyedOperation(caller, operation), idempotencyKey)
    : [];
  if (!row) return { operation, idempotencyKey, outcome: 'NONE', createdAt: null, code: null, result: null };
  return {
    operation,
    idempotencyKey,
    outcome: row.refusal ? 'REFUSED' : 'SUCCEEDED',
    createdAt: row.createdAt,
    code: row.refusal && presentedCode(operation, row.refusal.code),
    result: row.result?.type && row.result.row ? { type: row.result.type, row: row.result.row } : null,
  };
}

function presentedCode(operation: Operation, code: Exclude<PlanRefusal['code'], 'APPROVAL_REQUIRED'>): RefusalCode {
  if (code === 'ACCOUNT_EXISTS' || code === 'OTHER_VERSION') return 'CONFLICT';
  const decides = operation === 'approveTransaction' || operation === 'rejectTransaction';
  return decides && code === 'CONFLICT' ? 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL' : code;
}
