import { type Claim, firstCallStatement } from '../../core/idempotency.ts';
import { oncePer } from '../../core/once-per.ts';
import type { Database } from '../../infra/database/database.ts';
import { sqlState, waitedForRow } from '../../infra/database/faults.ts';
import { retryLostRaces } from '../../infra/database/retry.ts';
import { columnName, rowFromSnapshot, type SnapshotRows, trustedJson } from '../../infra/database/rows.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import { rolledBack, runCommitting } from '../../infra/database/transaction.ts';
import { beginStatement } from '../../infra/instruments/spans.ts';
import { divideIntoBatches } from './batches.ts';
import { CommitLanes, LockTimeout } from './commit-lanes.ts';
import type { Plan, PlanGroup, PlatformPlan, ResultType } from './plan.ts';

/** A plan's outcome. `replayed` means that it repeats the outcome of the first call with the idempotency key. */
export type Outcome =
  | { readonly kind: 'done'; readonly replayed: boolean; readonly row: SnapshotRows[ResultType] | undefined }
  | { readonly kind: 'refused'; readonly replayed: boolean; readonly refusal: PlanRefusal }
  | { readonly kind: 'mismatch' };

/** A policy limit, how much of it is used, and how much is left, as amounts (digit strings) or numbers of payments. */
export interface LimitState
  extends Readonly<Record<'currency' | 'amount' | 'usedAmount' | 'leftAmount' | 'renewsAt', string | null>>,
    Readonly<Record<'payments' | 'usedPayments' | 'leftPayments', number | null>> {
  readonly period: 'PAYMENT' | 'DAY' | 'MONTH' | 'LAST_24_HOURS' | 'LAST_30_DAYS';
}

/** The facts that the database reports with each refusal, in addition to a row's id. They were read under the lock. */
interface RefusalFacts
  extends Record<'QUOTE_NOT_FOUND' | 'TRANSACTION_NOT_FOUND' | 'LOOKUP_REQUEST_NOT_FOUND', object>,
    Record<'CUSTOMER_FROZEN' | 'CUSTOMER_DELETED' | 'ACCOUNT_EXISTS', object> {
  /** The approver is not independent of the payment's requester. */
  FORBIDDEN: object;
  QUOTE_EXPIRED: { readonly expiresAt: string };
  /** The version of the row that the plan changes is not the one that the caller expects. */
  OTHER_VERSION: { readonly type: ResultType; readonly version: number };
  /** `type` and `id` name a record. `type` is absent for an order to the rail, which no API exposes. */
  CONFLICT: {
    readonly type?: 'Quote' | 'Transaction' | 'ExternalAccount';
    readonly status: string;
    readonly dueAt?: string;
  };
  /** The customer holds `balances`, or has `payments` in flight. `transactions` lists the first of these payments. */
  CUSTOMER_IN_USE: {
    readonly balances: readonly { readonly account: string; readonly currency: string; readonly amount: string }[];
    readonly payments: number;
    readonly transactions: readonly string[];
  };
  USER_NOT_READY: { readonly kycStatus: string; readonly isDeleted: boolean };
  /** `customerId` is null if the account is the platform's own. */
  ACCOUNT_FROZEN: { readonly kind: 'INTERNAL' | 'EXTERNAL'; readonly customerId: string | null };
  INVALID_BANK_ACCOUNT: { readonly customerId: string | null; readonly status: string };
  /** The amounts are in the currency's smallest unit. */
  INSUFFICIENT_BALANCE: { readonly spendable: string; readonly needed: string; readonly currency: string };
  /** `limit` is set for the rule LIMIT (limit_state.sql), `freeAt` if the payment will be allowed later. */
  LIMIT_EXCEEDED: {
    readonly subjectType: 'Platform' | 'Customer' | 'ApiToken' | 'ClientToken';
    readonly subjectId: string;
    readonly rule: 'LIMIT' | 'CURRENCY' | 'KIND' | 'RECEIVER' | 'HOURS';
    readonly limit: LimitState | null;
    readonly freeAt: string | null;
  };
  /** `coming` is the total that payments in flight will credit. */
  AMOUNT_OUT_OF_RANGE: Readonly<Record<'limit' | 'balance' | 'coming' | 'currency', string>>;
}

/** A policy requires approval by a deadline. `reserves` tells whether the money is reserved until then. */
export interface ApprovalRequired {
  readonly code: 'APPROVAL_REQUIRED';
  readonly id?: undefined;
  readonly dueAt: string;
  readonly dueInMs: number;
  readonly reserves: boolean;
}

/** The database's refusal of a plan. */
export type PlanRefusal =
  | {
      [Code in keyof RefusalFacts]: { readonly code: Code; readonly id: string } & RefusalFacts[Code];
    }[keyof RefusalFacts]
  | ApprovalRequired
  /** `id` identifies the customer who has the address; null if that customer belongs to another platform. */
  | { readonly code: 'UMA_ADDRESS_EXISTS'; readonly id: string | null };

/** An outcome as stored. It has a result only if the plan names one. */
interface StoredOutcome {
  readonly refusal?: PlanRefusal | null;
  readonly result?: { readonly type: ResultType; readonly row: Record<string, unknown> } | null;
}

type Answer = { readonly outcome: 'mismatch' } | ({ readonly outcome: 'now' | 'first' } & StoredOutcome);

const commitText = 'select unnest(commit_batches($1::jsonb)) as answer';
const commitStatement = statement<{ answer: Answer }>('commit_batches', commitText);

const lanesOf = oncePer(
  (database: Database) =>
    new CommitLanes<Outcome>(database.pool, {
      together: (plans) => commitPlans(database, plans),
      alone: (one) => commitAlone(database, one),
    }),
);

/**
 * Commits a plan in one round trip and one durable transaction, which concurrent plans may share (commit-lanes.ts).
 * Each plan is carried out or refused on its own. A plan that loses a race with another is retried.
 * @throws LockTimeout when the plan's account stays locked for two seconds, or too many plans are ahead: nothing was
 *   changed
 * @throws OutcomeUnknown when the database did not answer; after any other error, nothing was changed
 * @throws SQLSTATE 55P03 when another call with its idempotency key is still running after two seconds (`waitedForKey`)
 */
export function commitPlan(database: Database, platformId: string, plan: Plan): Promise<Outcome> {
  return watched(lanesOf(database).add(platformId, plan));
}

/** Several requests may share a commit, so each records its own duration, including its wait for the others. */
function watched<T>(committing: Promise<T>): Promise<T> {
  const end = beginStatement('commit_batches', commitText);
  if (end) committing.then(() => end(undefined, 1), end);
  return committing;
}

async function commitPlans(database: Database, plans: readonly PlatformPlan[]): Promise<Outcome[]> {
  const outcomes = await runCommitting(database, prepareCommit(plans.map((plan) => [plan])));
  database.commits.emit('committed');
  return outcomes;
}

async function commitAlone(database: Database, plan: PlatformPlan): Promise<Outcome> {
  try {
    const [outcome] = await commitRetrying(database, [[plan]]);
    return requireOutcome(outcome);
  } catch (error) {
    if (sqlState(error) !== '55P03' || waitedForKey(error)) throw error;
    throw new LockTimeout(waitedForRow(error) ? 'account' : 'table', { cause: error });
  }
}

/** Returns whether the error's context shows that Postgres waited for another call with the same idempotency key. */
export function waitedForKey(error: unknown): boolean {
  return error instanceof Error && 'where' in error && /\block_claims\(/.test(String(error.where));
}

const countedStatement = statement<{ readonly subjectId: string; readonly limits: readonly LimitState[] }>(
  'counted_policies',
  `select p.subject_id, limits_of(p.platform_id, p.id) as limits from policy_use u
   join policy p on p.platform_id = u.platform_id and p.id = u.policy_id
   where u.platform_id = $1 and u.transaction_id = $2 order by p.id`,
);

/** Carries out a plan on its own, and rolls it back. Also returns the policies that would count its payment. */
export async function validatePlan(database: Database, platformId: string, plan: Plan) {
  const commit = prepareCommit([[{ platformId, plan }]]);
  return retryLostRaces(() =>
    rolledBack(database, async (client) => {
      const [outcome] = await commit(client);
      const policies = plan.spend ? await countedStatement(client, platformId, plan.spend.transactionId) : [];
      return { outcome: requireOutcome(outcome), policies };
    }),
  );
}

/** Commits a plan on one connection, alone or as part of a larger transaction, without retrying. */
export async function commitPlanOn(on: Queryable, platformId: string, plan: Plan): Promise<Outcome> {
  const [outcome] = await commitGroupsOn(on, [[{ platformId, plan }]]);
  return requireOutcome(outcome);
}

/** Commits groups in one statement, as if one after another. Each group is carried out or refused as a whole. */
export async function commitGroupsOn(on: Queryable, groups: readonly PlanGroup[]): Promise<Outcome[]> {
  return prepareCommit(groups)(on);
}

/** Serializes groups before anything is sent, and returns the function that sends them. */
function prepareCommit(groups: readonly PlanGroup[]): (on: Queryable) => Promise<Outcome[]> {
  const batches = divideIntoBatches(groups);
  const text = serialize(batches.map((batch) => batch.map((position) => groups[position] ?? [])));
  return async (on) => {
    const answers = await commitStatement(on, text);
    const outcomes: Outcome[] = [];
    for (const [at, position] of batches.flat().entries()) {
      const row = answers[at];
      if (row) outcomes[position] = toOutcome(row.answer);
    }
    return outcomes;
  };
}

function requireOutcome(outcome: Outcome | undefined): Outcome {
  if (!outcome) throw new Error('commit_batches returned no row');
  return outcome;
}

/** The result of a group of background plans: null if it was committed; otherwise the refusal or the error. */
type GroupResult = PlanRefusal | { readonly code: 'FAILED'; readonly error: unknown } | null;

/**
 * Commits groups of background plans, all in one durable transaction if possible, otherwise one by one. A group that
 * fails does not stop the others.
 */
export async function commitGroups(database: Database, groups: readonly PlanGroup[]): Promise<GroupResult[]> {
  if (groups.length === 0) return [];
  try {
    const outcomes = await watched(commitRetrying(database, groups));
    return outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.refusal : null));
  } catch (error) {
    if (groups.length === 1) return [{ code: 'FAILED', error }];
  }
  const results: GroupResult[] = [];
  for (const group of groups) results.push(...(await commitGroups(database, [group])));
  return results;
}

async function commitRetrying(database: Database, groups: readonly PlanGroup[]): Promise<Outcome[]> {
  const commit = prepareCommit(groups);
  const outcomes = await retryLostRaces(() => runCommitting(database, commit));
  database.commits.emit('committed');
  return outcomes;
}

/** Returns the outcome of the first call with this key; undefined if there was none. */
export async function firstOutcome(database: Database, platformId: string, claim: Claim): Promise<Outcome | undefined> {
  const [row] = await firstCallStatement(database.pool, platformId, claim.operation, claim.key, claim.hash);
  if (!row) return undefined;
  return toOutcome(row.same ? { ...trustedJson<StoredOutcome>(row), outcome: 'first' } : { outcome: 'mismatch' });
}

function toOutcome(answer: Answer): Outcome {
  if (answer.outcome === 'mismatch') return { kind: 'mismatch' };
  const replayed = answer.outcome === 'first';
  if (answer.refusal) return { kind: 'refused', replayed, refusal: answer.refusal };
  return {
    kind: 'done',
    replayed,
    row: answer.result ? rowFromSnapshot(answer.result.type, answer.result.row) : undefined,
  };
}

function serialize(batches: readonly (readonly PlanGroup[])[]): string {
  const plans = batches.map((groups) =>
    groups.map((group) => group.map(({ platformId, plan }) => ({ platform: platformId, plan: inColumns(plan) }))),
  );
  // Amounts become strings of digits, which Postgres reads as bigint.
  return JSON.stringify(plans, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}

/** Converts a plan's field names to the database's column names. JSON within a row keeps its field names. */
function inColumns(plan: object): object {
  return Object.fromEntries(
    Object.entries(plan).map(([field, value]) => {
      if (Array.isArray(value)) return [columnName(field), value.map(columns)];
      const holdsLists = field === 'insert' || field === 'otherwise';
      return [columnName(field), value && (holdsLists ? inColumns(value) : columns(value))];
    }),
  );
}

function columns(row: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([field, value]) => [columnName(field), field === 'set' ? columns(value) : value]),
  );
}
