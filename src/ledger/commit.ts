import type { Claim } from '../core/idempotency.ts';
import type { Database } from '../database/database.ts';
import { sqlState } from '../database/faults.ts';
import { retryLostRaces } from '../database/retry.ts';
import { columnName, rowFromSnapshot, type SnapshotRows } from '../database/rows.ts';
import { type Queryable, statement } from '../database/statement.ts';
import { runCommitting } from '../database/transaction.ts';
import { inBatches } from './batches.ts';
import { CommitLanes, LockTimeout } from './commit-lanes.ts';
import type { Alternative, Plan, PlanGroup, PlatformPlan, ResultType } from './plan.ts';

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
  'commit_batches',
  'select unnest(commit_batches($1::jsonb)) as answer',
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
  const outcomes = await runCommitting(database.pool, commitOf(plans.map((plan) => [plan])));
  database.commits.emit('committed');
  return outcomes;
}

async function commitAlone(database: Database, { platformId, plan }: PlatformPlan): Promise<Outcome> {
  try {
    const commit = commitOf([[{ platformId, plan }]]);
    const [outcome] = await retryLostRaces(() => runCommitting(database.pool, commit));
    database.commits.emit('committed');
    return answered(outcome);
  } catch (error) {
    if (sqlState(error) !== '55P03' || !waitedInside(error)) throw error;
    throw new LockTimeout('its account is held up', { cause: error });
  }
}

/**
 * Whether Postgres waited for a row that the plan needs, and not for its idempotency key: which function it was in is in the
 * context of its error.
 */
function waitedInside(error: unknown): boolean {
  const where = error instanceof Error && 'where' in error ? String(error.where) : '';
  return /\b(lock_plans|apply_plans)\(/.test(where) && !/\block_claims\(/.test(where);
}

/** The same on one connection, alone or as part of a larger transaction, without a second try. */
export async function commitPlanOn(on: Queryable, platformId: string, plan: Plan): Promise<Outcome> {
  const [outcome] = await commitGroupsOn(on, [[{ platformId, plan }]]);
  return answered(outcome);
}

/**
 * Commits groups on one connection, in one statement: each is done or refused as a whole, as if they came one after another.
 * @returns what came of each
 */
export async function commitGroupsOn(on: Queryable, groups: readonly PlanGroup[]): Promise<Outcome[]> {
  return commitOf(groups)(on);
}

/**
 * Writes groups down for the database, and answers what sends them: so that what cannot be written fails before.
 * @throws Error when the alternative of a plan changes what its plan does not name
 */
function commitOf(groups: readonly PlanGroup[]): (on: Queryable) => Promise<Outcome[]> {
  const batches = inBatches(groups);
  const text = written(batches.map((batch) => batch.map((position) => groups[position] ?? [])));
  return async (on) => {
    const answers = await commitStatement(on, text);
    const outcomes: Outcome[] = [];
    for (const [at, position] of batches.flat().entries()) {
      const row = answers[at];
      if (row) outcomes[position] = present(row.answer);
    }
    return outcomes;
  };
}

function answered(outcome: Outcome | undefined): Outcome {
  if (!outcome) throw new Error('commit_batches answered nothing');
  return outcome;
}

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
  const commit = commitOf(groups);
  const outcomes = await retryLostRaces(() => runCommitting(database.pool, commit));
  database.commits.emit('committed');
  return outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.refusal : null));
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

/** Batches of groups of plans as they are written for the database. */
function written(batches: readonly (readonly PlanGroup[])[]): string {
  const plans = batches.map((groups) =>
    groups.map((group) => group.map(({ platformId, plan }) => ({ platform: platformId, plan: inColumns(plan) }))),
  );
  // Amounts are digits in strings: Postgres reads them as bigint.
  return JSON.stringify(plans, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}

/** A plan in the words of the database's functions: what its lists hold is named like columns. */
function inColumns({ claim, requireActive, result, insert, otherwise, ...lists }: Plan & Alternative): object {
  return {
    ...(claim && { claim }),
    ...(requireActive && { require_active: requireActive }),
    ...(result && { result }),
    ...(insert && { insert: listsInColumns(insert) }),
    ...listsInColumns(lists),
    ...(otherwise && { otherwise: inColumns(otherwise) }),
  };
}

function listsInColumns(lists: Readonly<Record<string, readonly object[] | undefined>>): object {
  return Object.fromEntries(Object.entries(lists).map(([name, items]) => [name, items?.map(columns)]));
}

function columns(row: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([field, value]) => [columnName(field), field === 'set' ? columns(value) : value]),
  );
}
