import type { Database } from '../database/database.ts';
import { retryLostRaces } from '../database/retry.ts';
import { columnName, rowFromSnapshot, type SnapshotRows } from '../database/rows.ts';
import { statement } from '../database/statement.ts';
import type { Claim, Plan, ResultType } from './plan.ts';

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
  | { readonly code: 'INSUFFICIENT_BALANCE'; readonly id: string; readonly spendable: string; readonly needed: string };

interface StoredOutcome {
  readonly refusal: PlanRefusal | null;
  readonly result: { readonly type: ResultType; readonly row: Record<string, unknown> } | null;
}

type Answer = { readonly outcome: 'mismatch' } | ({ readonly outcome: 'now' | 'first' } & StoredOutcome);

const commitPlanStatement = statement<{ answer: Answer }>(
  'commit_plan',
  'select commit_plan($1::uuid, $2::jsonb) as answer',
);

const commitPlansStatement = statement<{ answer: Answer }>(
  'commit_plans',
  `select commit_plan(p.platform, p.plan) as answer
   from unnest($1::uuid[], $2::jsonb[]) with ordinality as p(platform, plan, position) order by p.position`,
);

const firstOutcomeStatement = statement<StoredOutcome & { same: boolean }>(
  'first_outcome',
  `select request_hash = decode($4, 'hex') as same, refusal, result
   from idempotency_record where platform_id = $1 and operation = $2 and key = $3`,
);

/**
 * Carries out a plan in one round trip and one durable transaction. A plan that loses a race with another is tried
 * again; a lock that does not come within two seconds throws SQLSTATE 55P03, and nothing happened.
 */
export async function commitPlan(database: Database, platformId: string, plan: Plan): Promise<Outcome> {
  const body = serialize(plan);
  const [row] = await retryLostRaces(() => commitPlanStatement(database.pool, platformId, body));
  database.commits.emit('committed');
  if (!row) throw new Error('commit_plan answered nothing');
  return outcome(row.answer);
}

/**
 * Carries out several plans of background work in one durable transaction. Each is refused or done on its own; an
 * error fails all of them.
 */
export async function commitPlans(
  database: Database,
  plans: readonly { readonly platformId: string; readonly plan: Plan }[],
): Promise<Outcome[]> {
  if (plans.length === 0) return [];
  const rows = await retryLostRaces(() =>
    commitPlansStatement(
      database.pool,
      plans.map((item) => item.platformId),
      plans.map((item) => serialize(item.plan)),
    ),
  );
  database.commits.emit('committed');
  return rows.map((row) => outcome(row.answer));
}

/**
 * What came of the first call with this key, or undefined when there was none. Asked before a command does any other
 * work, so that a repeat is answered as the first was, whatever has changed since.
 */
export async function firstOutcome(database: Database, platformId: string, claim: Claim): Promise<Outcome | undefined> {
  const [row] = await firstOutcomeStatement(database.pool, platformId, claim.operation, claim.key, claim.hash);
  if (!row) return undefined;
  return outcome(row.same ? { ...row, outcome: 'first' } : { outcome: 'mismatch' });
}

function outcome(answer: Answer): Outcome {
  if (answer.outcome === 'mismatch') return { kind: 'mismatch' };
  const replayed = answer.outcome === 'first';
  if (answer.refusal) return { kind: 'refused', replayed, refusal: answer.refusal };
  return {
    kind: 'done',
    replayed,
    row: answer.result ? rowFromSnapshot(answer.result.type, answer.result.row) : undefined,
  };
}

/** The plan as JSON: rows under their column names, amounts as digits in strings (Postgres reads them as bigint). */
function serialize(plan: Plan): string {
  const { insert, transactions, customers, ...rest } = plan;
  return JSON.stringify(
    {
      ...rest,
      ...(insert && {
        insert: Object.fromEntries(Object.entries(insert).map(([table, rows]) => [table, rows.map(columns)])),
      }),
      ...(transactions && { transactions: transactions.map((move) => ({ ...move, set: columns(move.set ?? {}) })) }),
      ...(customers && { customers: customers.map((change) => ({ ...change, set: columns(change.set) })) }),
    },
    (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
  );
}

function columns(row: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([field, value]) => [columnName(field), value]));
}
