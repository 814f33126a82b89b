import type { Claim } from '../core/idempotency.ts';
import type { Database } from '../database/database.ts';
import { sqlState } from '../database/faults.ts';
import { retryLostRaces } from '../database/retry.ts';
import { columnName, rowFromSnapshot, type SnapshotRows } from '../database/rows.ts';
import { type Queryable, statement } from '../database/statement.ts';
import { committing } from '../database/transaction.ts';
import { CommitLanes, HeldUp } from './commit-lanes.ts';
import type { Plan, PlatformPlan, ResultType } from './plan.ts';

/** What came of a plan. `replayed`: not now, but when its idempotency key was first used. */
export type Outcome =
  | { readonly kind: 'done'; readonly replayed: boolean; readonly row: SnapshotRows[ResultType] | undefined }
  | { readonly kind: 'refused'; readonly replayed: boolean; readonly refusal: PlanRefusal }
  | { readonly kind: 'mismatch' };

/** Why the database refused a plan, with the facts it saw under the lock. */
export type PlanRefusal =
  | { readonly code: 'QUOTE_NOT_FOUND' | 'TRANSACTION_NOT_FOUND'; readonly id: string }
  | { readonly code: 'QUOTE_EXPIRED'; readonly id: string; readonly expiresAt: string }
  | { readonly code: 'CONFLICT'; readonly id: string; readonly status: string }
  | { readonly code: 'UMA_ADDRESS_EXISTS' }
  | { readonly code: 'CUSTOMER_DELETED'; readonly id: string }
  | { readonly code: 'ACCOUNT_EXISTS'; readonly id: string }
  | { readonly code: 'USER_NOT_READY'; readonly id: string; readonly kycStatus: string; readonly isDeleted: boolean }
  | { readonly code: 'INVALID_BANK_ACCOUNT'; readonly id: string; readonly status: string }
  | { readonly code: 'INSUFFICIENT_BALANCE'; readonly id: string; readonly spendable: string; readonly needed: string }
  /** The account's balance would pass its bound; `coming` counts what is on its way, too. */
  | {
      readonly code: 'AMOUNT_OUT_OF_RANGE';
      readonly id: string;
      readonly limit: string;
      readonly balance: string;
      readonly coming: string;
    };

/** A plan that names no result is answered without one. */
interface StoredOutcome {
  readonly refusal?: PlanRefusal | null;
  readonly result?: { readonly type: ResultType; readonly row: Record<string, unknown> } | null;
}

type Answer = { readonly outcome: 'mismatch' } | ({ readonly outcome: 'now' | 'first' } & StoredOutcome);

const commitStatement = statement<{ answer: Answer }>(
  'commit_groups',
  'select unnest(commit_groups($1::jsonb)) as answer',
);

const firstOutcomeStatement = statement<StoredOutcome & { same: boolean }>(
  'first_outcome',
  `select request_hash = decode($4, 'hex') as same, refusal, result
   from idempotency_record where platform_id = $1 and operation = $2 and key = $3`,
);

const lanes = new WeakMap<Database, CommitLanes<Outcome>>();

/**
 * Carries out a plan in one round trip and one durable transaction, which plans that come at the same time may share
 * (commit-lanes.ts): each is done or refused on its own. A plan that loses a race with another is tried again.
 * @throws HeldUp when its account is not to be had within two seconds, or when too many wait before it: nothing happened
 * @throws OutcomeUnknown when the database did not say what came of it; after any other error nothing happened
 * @throws SQLSTATE 55P03 when another call with its idempotency key is still under way after two seconds
 */
export function commitPlan(database: Database, platformId: string, plan: Plan): Promise<Outcome> {
  let ofDatabase = lanes.get(database);
  if (!ofDatabase) {
    ofDatabase = new CommitLanes(database.pool, {
      together: (plans) => commitPlans(database, plans),
      alone: (one) => commitAlone(database, one),
    });
    lanes.set(database, ofDatabase);
  }
  return ofDatabase.add(platformId, plan);
}

async function commitPlans(database: Database, plans: readonly PlatformPlan[]): Promise<Outcome[]> {
  const groups = plans.map((plan) => [plan]);
  const answers = await committing(database.pool, (client) => answersTo(client, groups));
  database.commits.emit('committed');
  return answers.map(present);
}

async function commitAlone(database: Database, { platformId, plan }: PlatformPlan): Promise<Outcome> {
  try {
    const outcome = await retryLostRaces(() =>
      committing(database.pool, (client) => commitPlanOn(client, platformId, plan)),
    );
    database.commits.emit('committed');
    return outcome;
  } catch (error) {
    if (sqlState(error) !== '55P03' || !waitedInside(error)) throw error;
    throw new HeldUp('its account is held up', { cause: error });
  }
}

/**
 * Whether Postgres waited for a lock within the plan, and not for its idempotency key: which function it was in is in the
 * context of its error.
 */
function waitedInside(error: unknown): boolean {
  const where = error instanceof Error && 'where' in error ? String(error.where) : '';
  return /\b(check_plan|apply_plans)\(/.test(where);
}

/** The same on one connection, alone or as part of a larger transaction, without a second try. */
export async function commitPlanOn(on: Queryable, platformId: string, plan: Plan): Promise<Outcome> {
  const [answer] = await answersTo(on, [[{ platformId, plan }]]);
  if (!answer) throw new Error('commit_groups answered nothing');
  return present(answer);
}

/** Plans of one or several platforms that happen together or not at all. */
export type PlanGroup = readonly PlatformPlan[];

/**
 * Carries out groups of plans of background work, all in one durable transaction where that is possible. Each group is
 * done or refused as a whole, on its own. One that cannot be carried out at all is told to `onError` with its position;
 * it holds up none of the others, which are then committed one by one.
 * @returns for each group, why the database refused it, or null; undefined for one that failed
 */
export async function commitGroups(
  database: Database,
  groups: readonly PlanGroup[],
  onError: (error: unknown, position: number) => void,
): Promise<(PlanRefusal | null | undefined)[]> {
  try {
    return await commitTogether(database, groups);
  } catch (error) {
    if (groups.length === 1) {
      onError(error, 0);
      return [undefined];
    }
  }
  const refusals: (PlanRefusal | null | undefined)[] = [];
  for (const [position, group] of groups.entries()) {
    refusals.push(...(await commitGroups(database, [group], (error) => onError(error, position))));
  }
  return refusals;
}

async function commitTogether(database: Database, groups: readonly PlanGroup[]): Promise<(PlanRefusal | null)[]> {
  if (groups.length === 0) return [];
  // One order of platforms for all groups, since each plan locks what it changes.
  const ordered = groups.map((group) => [...group].sort((a, b) => (a.platformId < b.platformId ? -1 : 1)));
  const answers = await retryLostRaces(() => committing(database.pool, (client) => answersTo(client, ordered)));
  database.commits.emit('committed');
  return answers.map((answer) => ('refusal' in answer ? (answer.refusal ?? null) : null));
}

/** Hands groups to the database, and answers what it says of each. */
async function answersTo(on: Queryable, groups: readonly PlanGroup[]): Promise<Answer[]> {
  return (await commitStatement(on, listOf(groups))).map(({ answer }) => answer);
}

/**
 * What came of the first call with this key, or undefined when there was none. Asked before a command does any other
 * work, so that a repeat is answered as the first was, whatever has changed since.
 */
export async function firstOutcome(database: Database, platformId: string, claim: Claim): Promise<Outcome | undefined> {
  const [row] = await firstOutcomeStatement(database.pool, platformId, claim.operation, claim.key, claim.hash);
  if (!row) return undefined;
  return present(row.same ? { ...row, outcome: 'first' } : { outcome: 'mismatch' });
}

function present(answer: Answer): Outcome {
  if (answer.outcome === 'mismatch') return { kind: 'mismatch' };
  const replayed = answer.outcome === 'first';
  if (answer.refusal) return { kind: 'refused', replayed, refusal: answer.refusal };
  return {
    kind: 'done',
    replayed,
    row: answer.result ? rowFromSnapshot(answer.result.type, answer.result.row) : undefined,
  };
}

/** Groups of plans as they are written for the database. */
function listOf(groups: readonly PlanGroup[]): string {
  const written = groups.map((group) =>
    group.map(({ platformId, plan }) => `{"platform":"${platformId}","plan":${serialize(plan)}}`),
  );
  return `[${written.map((group) => `[${group.join(',')}]`).join(',')}]`;
}

/** The plan as JSON: rows under their column names, amounts as digits in strings (Postgres reads them as bigint). */
function serialize(plan: Plan): string {
  return JSON.stringify(inColumns(plan), (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
}

function inColumns(plan: Plan): object {
  const { insert, transactions, customers, accounts, otherwise, ...rest } = plan;
  return {
    ...rest,
    ...(insert && {
      insert: Object.fromEntries(Object.entries(insert).map(([table, rows]) => [table, rows.map(columns)])),
    }),
    ...(transactions && { transactions: transactions.map((move) => ({ ...move, set: columns(move.set ?? {}) })) }),
    ...(accounts && { accounts: accounts.map((move) => ({ ...move, set: columns(move.set ?? {}) })) }),
    ...(customers && { customers: customers.map((change) => ({ ...change, set: columns(change.set) })) }),
    ...(otherwise && { otherwise: inColumns(otherwise) }),
  };
}

function columns(row: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([field, value]) => [columnName(field), value]));
}
